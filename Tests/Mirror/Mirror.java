import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Copies a topic to another cluster until it is killed, as MirrorMaker 2 does: the committed records, from the
 * beginning, into the partition of the same number, with key, value, headers and timestamp.
 *
 * <pre>java -cp "$KAFKA_HOME/libs/*" Mirror.java SERVERS TOPIC TO-SERVERS TO-TOPIC</pre>
 */
class Mirror {
    public static void main(String[] arguments) {
        var bytes = new ByteArrayDeserializer();
        Map<String, Object> reading = Map.of("bootstrap.servers", arguments[0], "isolation.level", "read_committed");
        Map<String, Object> writing = Map.of("bootstrap.servers", arguments[2], "acks", "all");
        try (var consumer = new KafkaConsumer<>(reading, bytes, bytes);
                var producer = new KafkaProducer<>(writing, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(arguments[1]).stream()
                .map(partition -> new TopicPartition(partition.topic(), partition.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            System.out.println("copying");
            while (true) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    producer.send(new ProducerRecord<>(
                        arguments[3], record.partition(), record.timestamp(), record.key(), record.value(),
                        record.headers()));
                }
            }
        }
    }
}
