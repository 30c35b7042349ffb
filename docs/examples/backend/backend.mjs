// A backend for Herald: node backend.mjs PORT. It takes both kinds of body, and prints what it would send.
import { timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const credentials = "Basic " + Buffer.from(process.env.CREDENTIALS ?? "herald:secret").toString("base64");
const sent = new Set(); // idempotency keys; keep yours for a week, where all of your processes see them

function isOurs(authorization = "") {
    const [given, ours] = [authorization, credentials].map((text) => Buffer.from(text));
    return given.length === ours.length && timingSafeEqual(given, ours);
}

/** The notification in a body: a JSON string, or an object with more. */
function notification(body) {
    const value = JSON.parse(body);
    const found = typeof value === "string" ? { message: value } : value;
    if (typeof found?.message !== "string") {
        throw new Error("the body is neither a string nor an object with a message");
    }
    return found; // title, link, image, data, badge, sound, category: those that the event has
}

const server = createServer(async (request, response) => {
    const answer = (status, detail) => {
        response.writeHead(status);
        response.end(detail && JSON.stringify({ detail }));
    };
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (!isOurs(request.headers.authorization)) return answer(401);
    const { pathname, searchParams: query } = new URL(request.url, "http://backend");
    const [user, pns] = [query.get("to_tag"), query.get("pns")];
    const isNotification = request.method === "POST" && pathname === "/api/notifications" && user;
    if (!isNotification || !["apns", "gcm", "wns"].includes(pns)) {
        return answer(400, "no notification, or an unknown push service");
    }
    let found;
    try {
        found = notification(Buffer.concat(chunks).toString());
    } catch (error) {
        return answer(400, error.message);
    }
    const key = request.headers["idempotency-key"];
    if (!sent.has(key)) {
        // Send it to the devices of the user here. If that fails, answer 503 and do not remember the key.
        console.log(JSON.stringify({ user, pns, ...found }));
        sent.add(key);
    }
    answer(200);
});
server.keepAliveTimeout = 240_000; // longer than Herald's: a connection closed in between loses a call
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
