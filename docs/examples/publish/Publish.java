import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Publishes one event and waits for its results: java -cp … Publish.java BOOTSTRAP_SERVERS USER MESSAGE */
public class Publish {
    public static void main(String[] arguments) throws Exception {
        String servers = arguments[0];
        String user = arguments[1];
        String requests = System.getenv().getOrDefault("REQUESTS_TOPIC", "notifications");
        String results = System.getenv().getOrDefault("RESULTS_TOPIC", "notifications.results");
        ObjectMapper json = new ObjectMapper();

        Map<String, Object> reading = Map.of(
            "bootstrap.servers", servers, "isolation.level", "read_committed", "enable.auto.commit", false);
        // Keys are partitioned by murmur2 and producers are idempotent without saying so.
        Map<String, Object> writing = Map.of("bootstrap.servers", servers, "acks", "all", "enable.idempotence", true);
        try (var consumer = new KafkaConsumer<>(reading, new StringDeserializer(), new StringDeserializer());
             var producer = new KafkaProducer<>(writing, new StringSerializer(), new StringSerializer())) {
            // Where the results end now: what is published from here on can only end behind that.
            List<TopicPartition> partitions = consumer.partitionsFor(results).stream()
                .map(partition -> new TopicPartition(results, partition.partition())).toList();
            consumer.assign(partitions);
            consumer.endOffsets(partitions).forEach(consumer::seek);

            // Yours, and the same one when you publish the same thing again.
            String id = UUID.randomUUID().toString();
            List<String> services = List.of("apns", "fcm");
            String event = json.writeValueAsString(Map.of(
                "id", id, "user", user, "message", arguments[2], "title", "Your parcel",
                "link", "https://shop.example/orders/17", // where a tap leads
                "image", "https://cdn.example/parcel.png", "pns", services, "source", "Publish.java"));
            producer.send(new ProducerRecord<>(requests, user, event)).get();

            Set<String> missing = new HashSet<>(services);
            boolean delivered = true;
            Instant deadline = Instant.now().plusSeconds(60);
            while (!missing.isEmpty() && Instant.now().isBefore(deadline)) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    JsonNode result = json.readTree(record.value());
                    if (!id.equals(result.path("id").asText())) {
                        continue; // somebody else's
                    }
                    System.out.println(record.value());
                    // A result without "pns" is one for the whole event, which broke a rule.
                    // "requestedPns" has your own names when "pns" is another one: workers call fcm gcm.
                    if (result.has("requestedPns")) {
                        result.get("requestedPns").forEach(name -> missing.remove(name.asText()));
                    } else if (result.has("pns")) {
                        missing.remove(result.get("pns").asText());
                    } else {
                        missing.clear();
                    }
                    delivered &= result.path("outcome").asText().equals("delivered");
                }
            }
            System.exit(delivered && missing.isEmpty() ? 0 : 1);
        }
    }
}
