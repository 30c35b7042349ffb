import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Says what a user does not want: java -cp … OptOut.java BOOTSTRAP_SERVERS USER [ENTRY…], such as promotional pns:apns */
public class OptOut {
    public static void main(String[] arguments) throws Exception {
        String user = arguments[1];
        List<String> entries = List.of(arguments).subList(2, arguments.length);
        String preferences = System.getenv().getOrDefault("PREFERENCES_TOPIC", "notifications.preferences");

        // The whole word: what is missing is wanted, and an empty list wants everything.
        String word = new ObjectMapper().writeValueAsString(Map.of(
            "optOut", entries, "updatedAt", Instant.now().toString(), "by", "OptOut.java"));
        // An idempotent producer keeps a user's changes in their order.
        Map<String, Object> writing =
            Map.of("bootstrap.servers", arguments[0], "acks", "all", "enable.idempotence", true);
        try (var producer = new KafkaProducer<>(writing, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(preferences, user, word)).get();
        }
    }
}
