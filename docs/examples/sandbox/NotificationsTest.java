import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

/**
 * A service's own test against Herald, in JUnit 5.
 *
 * <p>Kafka's Java client cannot talk to the embedded broker. KAFKA_HOME names the folder of a Kafka, which the sandbox
 * starts for the test; where the test's framework starts one, such as Testcontainers, give its address with --brokers.
 * HERALD names the program, if it is not on PATH.
 */
class NotificationsTest {
    /** Herald with a backend, as long as it is open. */
    static final class Sandbox implements AutoCloseable {
        private final Process process;
        private final String addresses;
        private final HttpClient client = HttpClient.newHttpClient();

        Sandbox() throws Exception {
            String herald = System.getenv().getOrDefault("HERALD", "herald");
            process = new ProcessBuilder(
                    herald, "sandbox", "-o", "json", "--retry-delays", "100ms,200ms")
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            addresses = process.inputReader().readLine();
        }

        String address(String name) {
            return first("\"" + name + "\":\"([^\"]*)\"");
        }

        String requestTopic() {
            return first("\"requests\":\\[\"([^\"]*)\"");
        }

        private String first(String pattern) {
            Matcher matcher = Pattern.compile(pattern).matcher(addresses);
            if (!matcher.find()) throw new IllegalStateException(addresses);
            return matcher.group(1);
        }

        String ask(String method, String path, String body) throws Exception {
            // The backend's password of every user is the user's name.
            HttpRequest request = HttpRequest.newBuilder(URI.create(address("backendURL") + path))
                    .header("Authorization", "Basic dGVzdDp0ZXN0")
                    .method(method, HttpRequest.BodyPublishers.ofString(body)).build();
            return client.send(request, BodyHandlers.ofString()).body();
        }

        List<String> waitForCalls(int count) throws Exception {
            long end = System.nanoTime() + 60_000_000_000L;
            while (true) {
                List<String> calls = ask("GET", "/sandbox/calls", "").lines().toList();
                if (calls.size() >= count) return calls;
                if (System.nanoTime() > end) throw new AssertionError(calls.size() + " calls, not " + count);
                Thread.sleep(50);
            }
        }

        @Override
        public void close() throws IOException {
            // It ends when its standard input does: also when this process is killed.
            process.getOutputStream().close();
            process.onExit().join();
        }
    }

    @Test
    void aShippedOrderIsToldAlsoWhenTheBackendFailsOnce() throws Exception {
        try (Sandbox herald = new Sandbox()) {
            herald.ask("PUT", "/sandbox/misbehaviour", "[{\"user\":\"ann\",\"status\":503,\"calls\":1}]");
            // In place of this: what your service does when an order is shipped.
            Map<String, Object> settings = Map.of("bootstrap.servers", herald.address("bootstrapServers"));
            try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
                String event = "{\"id\":\"order-17\",\"user\":\"ann\",\"pns\":[\"apns\"],\"message\":\"Your parcel is here\"}";
                producer.send(new ProducerRecord<>(herald.requestTopic(), "ann", event)).get();
            }
            List<String> calls = herald.waitForCalls(2);
            List<String> statuses = calls.stream()
                    .map(call -> call.replaceAll(".*\"status\":(\\d+).*", "$1")).toList();
            assertEquals(List.of("503", "200"), statuses);
            assertTrue(calls.get(1).contains("\"message\":\"Your parcel is here\""));
            // The key is the user, and lies where Herald looks for the user's events in their order.
            assertTrue(calls.get(1).contains("\"recordKey\":\"ann\""));
            assertFalse(calls.get(1).contains("\"fault\""), calls.get(1));
        }
    }
}
