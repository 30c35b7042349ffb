import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * What a good engineer writes in a day instead of Herald: Kafka's own Java client, the JDK's HTTP client, one call at a time for
 * each user and many at once, results and offsets in one transaction.
 *
 * <p>It has no retries, limits, breakers, dead letters, metrics or campaigns, and forgets at a rebalance what it was doing:
 * another one makes those calls again.
 *
 * <pre>java -cp "$KAFKA_HOME/libs/*" OwnWorker.java SERVERS GROUP TOPIC RESULTS URL NAME IN_FLIGHT</pre>
 */
public final class OwnWorker implements ConsumerRebalanceListener {
    private static final int MAX_BUFFERED = 20_000;
    private static final Duration COMMIT_INTERVAL = Duration.ofMillis(100);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** One record, from its fetch to its result. */
    private record Work(ConsumerRecord<String, String> record, String user, HttpRequest request, int generation) {}

    /** A call that has ended; status 0 without an answer. */
    private record Done(Work work, int status) {}

    /** What of a partition is under way, and which offset comes after all that was taken. */
    private static final class Progress {
        final TreeSet<Long> open = new TreeSet<>();
        long next;

        long committable() {
            return open.isEmpty() ? next : open.first();
        }
    }

    private final KafkaConsumer<String, String> consumer;
    private final KafkaProducer<String, String> producer;
    private final HttpClient client;
    private final String results;
    private final URI backend;
    private final int maxInFlight;

    private final ConcurrentLinkedQueue<Done> done = new ConcurrentLinkedQueue<>();
    private final Map<String, ArrayDeque<Work>> users = new HashMap<>();
    private final ArrayDeque<Work> ready = new ArrayDeque<>();
    private final Map<TopicPartition, Progress> progress = new HashMap<>();
    private int inFlight;
    private int buffered;
    private int generation;
    private boolean isPaused;
    private boolean hasOpened;
    private long committedAt = System.nanoTime();

    public static void main(String[] arguments) {
        new OwnWorker(arguments).run(arguments[2]);
    }

    private OwnWorker(String[] arguments) {
        consumer = new KafkaConsumer<>(Map.of(
            "bootstrap.servers", arguments[0], "group.id", arguments[1], "auto.offset.reset", "earliest",
            "enable.auto.commit", "false", "isolation.level", "read_committed",
            // Herald's value: with a megabyte of one partition after the other few users have calls at a time.
            "max.partition.fetch.bytes", "65536",
            // Herald's value: Kafka's own 45 s would only make a kill look worse.
            "session.timeout.ms", "10000", "heartbeat.interval.ms", "1000"),
            new StringDeserializer(), new StringDeserializer());
        producer = new KafkaProducer<>(Map.of(
            "bootstrap.servers", arguments[0], "transactional.id", arguments[1] + "-" + arguments[5], "linger.ms", "5"),
            new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        results = arguments[3];
        backend = URI.create(arguments[4]);
        maxInFlight = Integer.parseInt(arguments[6]);
        // By default it has a thread for each answer in progress, a thousand of them.
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .executor(Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())).build();
    }

    private void run(String topic) {
        consumer.subscribe(List.of(topic), this);
        while (true) {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(inFlight > 0 ? 1 : 100))) {
                take(record);
            }
            finish();
            call();
            if (System.nanoTime() - committedAt >= COMMIT_INTERVAL.toNanos()) commit();
            adjustFetching();
        }
    }

    private void take(ConsumerRecord<String, String> record) {
        Progress of = progress.computeIfAbsent(new TopicPartition(record.topic(), record.partition()), any -> new Progress());
        of.next = record.offset() + 1;
        of.open.add(record.offset());
        Work work = work(record);
        buffered += 1;
        ArrayDeque<Work> line = users.get(work.user);
        if (line == null) {
            users.put(work.user, new ArrayDeque<>());
            ready.add(work);
        } else {
            line.add(work);
        }
    }

    private Work work(ConsumerRecord<String, String> record) {
        try {
            JsonNode event = JSON.readTree(record.value());
            String user = event.get("user").asText();
            String path = "/api/notifications?pns=" + event.get("pns").get(0).asText() + "&to_tag="
                + URLEncoder.encode(user, StandardCharsets.UTF_8);
            HttpRequest request = HttpRequest.newBuilder(backend.resolve(path)).timeout(Duration.ofSeconds(10))
                .header("Authorization", "Basic YmVuY2g6YmVuY2g=").header("Content-Type", "application/json; charset=utf-8")
                .header("Idempotency-Key", event.get("id").asText() + ":apns")
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(event.get("message").asText()))).build();
            return new Work(record, user, request, generation);
        } catch (java.io.IOException wrong) {
            throw new IllegalStateException("no event: " + record.value(), wrong);
        }
    }

    private void call() {
        while (inFlight < maxInFlight && !ready.isEmpty()) {
            Work work = ready.poll();
            inFlight += 1;
            client.sendAsync(work.request, BodyHandlers.discarding())
                .whenComplete((answer, wrong) -> done.add(new Done(work, answer == null ? 0 : answer.statusCode())));
        }
    }

    /** Results of calls that have ended, and the next calls for their users. */
    private void finish() {
        for (Done ended; (ended = done.poll()) != null;) {
            inFlight -= 1;
            Work work = ended.work;
            if (work.generation != generation) continue;
            buffered -= 1;
            if (!hasOpened) {
                producer.beginTransaction();
                hasOpened = true;
            }
            producer.send(new ProducerRecord<>(results, work.user, "{\"key\":\"" + work.user + "\",\"status\":" + ended.status
                + ",\"partition\":" + work.record.partition() + ",\"offset\":" + work.record.offset() + "}"));
            progress.get(new TopicPartition(work.record.topic(), work.record.partition())).open.remove(work.record.offset());
            ArrayDeque<Work> line = users.get(work.user);
            Work next = line.poll();
            if (next == null) {
                users.remove(work.user);
            } else {
                ready.add(next);
            }
        }
    }

    /** Results that lie behind an open offset are committed before it: after a kill their calls are made again. */
    private void commit() {
        committedAt = System.nanoTime();
        if (!hasOpened) return;
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        progress.forEach((partition, of) -> offsets.put(partition, new OffsetAndMetadata(of.committable())));
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        producer.commitTransaction();
        hasOpened = false;
    }

    private void adjustFetching() {
        if (buffered > MAX_BUFFERED && !isPaused) {
            consumer.pause(consumer.assignment());
            isPaused = true;
        } else if (buffered < MAX_BUFFERED / 2 && isPaused) {
            consumer.resume(consumer.assignment());
            isPaused = false;
        }
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        finish();
        commit();
        forget();
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        if (hasOpened) producer.abortTransaction();
        hasOpened = false;
        forget();
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        System.out.println("partitions assigned: " + partitions.size());
    }

    private void forget() {
        generation += 1;
        users.clear();
        ready.clear();
        progress.clear();
        buffered = 0;
        isPaused = false;
    }
}
