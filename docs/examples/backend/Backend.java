import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;

/** A backend for Herald: java -cp … Backend.java PORT. It takes both kinds of body, and prints what it would send. */
public class Backend {
    private static final ObjectMapper json = new ObjectMapper();
    private static final byte[] credentials = ("Basic " + Base64.getEncoder().encodeToString(
        System.getenv().getOrDefault("CREDENTIALS", "herald:secret").getBytes(StandardCharsets.UTF_8))).getBytes();
    /** Idempotency keys; keep yours for a week, where all of your processes see them. */
    private static final Set<String> sent = new HashSet<>();

    public static void main(String[] arguments) throws IOException {
        // In seconds, longer than Herald's: a connection closed in between loses a call.
        System.setProperty("sun.net.httpserver.idleInterval", "240");
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
        server.createContext("/", Backend::handle);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private static void handle(HttpExchange call) throws IOException {
        byte[] body = call.getRequestBody().readAllBytes();
        String authorization = call.getRequestHeaders().getFirst("Authorization");
        if (authorization == null || !MessageDigest.isEqual(authorization.getBytes(), credentials)) {
            answer(call, 401, "");
            return;
        }
        Map<String, String> query = query(call.getRequestURI().getRawQuery());
        String user = query.get("to_tag");
        String service = query.getOrDefault("pns", "");
        boolean isNotification = call.getRequestMethod().equals("POST")
            && call.getRequestURI().getPath().equals("/api/notifications") && user != null;
        if (!isNotification || !Set.of("apns", "gcm", "wns").contains(service)) {
            answer(call, 400, "no notification, or an unknown push service");
            return;
        }
        ObjectNode found;
        try {
            found = notification(body);
        } catch (JsonProcessingException | IllegalArgumentException error) {
            answer(call, 400, error.getMessage());
            return;
        }
        String key = call.getRequestHeaders().getFirst("Idempotency-Key");
        synchronized (sent) {
            if (!sent.contains(key)) {
                // Send it to the devices of the user here. If that fails, answer 503 and do not remember the key.
                System.out.println(found.put("user", user).put("pns", service));
                sent.add(key);
            }
        }
        answer(call, 200, "");
    }

    /** The notification in a body: a JSON string, or an object with more. */
    private static ObjectNode notification(byte[] body) throws IOException {
        JsonNode value = json.readTree(body);
        if (value.isTextual()) {
            return json.createObjectNode().put("message", value.asText());
        }
        if (!(value instanceof ObjectNode found) || !found.path("message").isTextual()) {
            throw new IllegalArgumentException("the body is neither a string nor an object with a message");
        }
        return found; // title, link, image, data, badge, sound, category: those that the event has
    }

    private static Map<String, String> query(String text) {
        Map<String, String> found = new HashMap<>();
        for (String part : text == null ? new String[0] : text.split("&")) {
            String[] pair = part.split("=", 2);
            found.put(pair[0], pair.length < 2 ? "" : URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
        }
        return found;
    }

    private static void answer(HttpExchange call, int status, String detail) throws IOException {
        byte[] body = detail.isEmpty() ? new byte[0] : json.writeValueAsBytes(Map.of("detail", detail));
        call.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        call.getResponseBody().write(body);
        call.close();
    }
}
