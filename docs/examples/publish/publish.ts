// Publishes one event and waits for its results: node publish.ts BOOTSTRAP_SERVERS USER MESSAGE
// All types are inferred, so that every Node runs it as it is, by the name publish.mjs; since 22.18 as publish.ts, too.
import { randomUUID } from "node:crypto";
import { Kafka, Partitioners, logLevel } from "kafkajs";

const [servers, user, message] = process.argv.slice(2);
const requests = process.env.REQUESTS_TOPIC ?? "notifications";
const results = process.env.RESULTS_TOPIC ?? "notifications.results";

const kafka = new Kafka({ brokers: servers.split(","), logLevel: logLevel.ERROR });
const admin = kafka.admin();
// Its own group: two processes of one group would share the results between them.
const groupId = `publish-example-${randomUUID()}`;
// Reads what is committed unless told otherwise.
const consumer = kafka.consumer({ groupId });
// Partitions keys as Java's clients do. Idempotent producers wait for all copies.
const producer = kafka.producer({ idempotent: true, createPartitioner: Partitioners.DefaultPartitioner });
await Promise.all([admin.connect(), consumer.connect(), producer.connect()]);

// Where the results end now: what is published from here on can only end behind that.
const ends = await admin.fetchTopicOffsets(results);

const event = {
    id: randomUUID(), // yours, and the same one when you publish the same thing again
    user,
    message,
    title: "Your parcel",
    link: "https://shop.example/orders/17", // where a tap leads
    image: "https://cdn.example/parcel.png",
    pns: ["apns", "fcm"],
    source: "publish.ts",
};
const missing = new Set(event.pns);
let delivered = true;
const outcome = new Promise((resolve) => {
    setTimeout(resolve, 60_000);
    consumer.on(consumer.events.CRASH, resolve);
    consumer.subscribe({ topic: results }).then(() => consumer.run({
        autoCommit: false,
        eachMessage: async (record) => {
            const result = JSON.parse(String(record.message.value));
            if (result.id !== event.id) return; // somebody else's
            console.log(JSON.stringify(result));
            // A result without "pns" is one for the whole event, which broke a rule.
            // "requestedPns" has your own names when "pns" is another one: workers call fcm gcm.
            for (const name of result.requestedPns ?? (result.pns ? [result.pns] : event.pns)) missing.delete(name);
            delivered = delivered && result.outcome === "delivered";
            if (missing.size === 0) resolve(undefined);
        },
    })).then(() => {
        for (const { partition, high } of ends) consumer.seek({ topic: results, partition, offset: high });
        return producer.send({ topic: requests, acks: -1, messages: [{ key: user, value: JSON.stringify(event) }] });
    }).catch((error) => {
        console.error(error);
        resolve(undefined);
    });
});
await outcome;
await Promise.all([consumer.disconnect(), producer.disconnect()]);
await admin.deleteGroups([groupId]);
await admin.disconnect();
process.exit(delivered && missing.size === 0 ? 0 : 1);
