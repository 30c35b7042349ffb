// librdkafka without anything around it: Kafka's own cost, and the benchmarks' operations on a broker.
//
//     kafka-bare SERVERS create TOPIC PARTITIONS
//     kafka-bare SERVERS delete TOPIC
//     kafka-bare SERVERS count TOPIC
//     kafka-bare SERVERS consume TOPIC COUNT           from the beginning, one by one; prints seconds and processor seconds
//     kafka-bare SERVERS produce TOPIC COUNT BYTES     idempotent, acknowledged one by one; prints the same
//     kafka-bare SERVERS pace TOPIC RATE COUNT         publishes events whose message begins with the moment
//     kafka-bare SERVERS lines TOPIC                   publishes the lines of standard input, KEY, a tab and the value, each as
//                                                      soon as it is there (kcat waits until it has several of them)
//     kafka-bare SERVERS ages TOPIC RATE COUNT         the same, consumed again; prints percentiles as `backend` does
//     kafka-bare SERVERS echo TOPIC RESULTS plain|atomic WARM COUNT    consumes paced events and produces as many; prints
//                                                      "ready", then the processor seconds and ages of the last COUNT
//     kafka-bare SERVERS committed GROUP TOPIC OFFSETS SECONDS    waits until the group has committed so many in all
#define _GNU_SOURCE
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char *servers;
static char error[512];

static void fail(const char *what, const char *why) {
    fprintf(stderr, "kafka-bare: %s: %s\n", what, why);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// Properties come in pairs behind the kind, up to a null.
static rd_kafka_t *client(rd_kafka_type_t kind, const char *const *properties,
                          void (*report)(rd_kafka_t *, const rd_kafka_message_t *, void *)) {
    rd_kafka_conf_t *configuration = rd_kafka_conf_new();
    if (rd_kafka_conf_set(configuration, "bootstrap.servers", servers, error, sizeof error) != RD_KAFKA_CONF_OK)
        fail("bootstrap.servers", error);
    for (; *properties != NULL; properties += 2)
        if (rd_kafka_conf_set(configuration, properties[0], properties[1], error, sizeof error) != RD_KAFKA_CONF_OK)
            fail(properties[0], error);
    if (report != NULL) rd_kafka_conf_set_dr_msg_cb(configuration, report);
    rd_kafka_t *made = rd_kafka_new(kind, configuration, error, sizeof error);
    if (made == NULL) fail("client", error);
    return made;
}

static const char *const plain[] = {NULL};
// The settings of Herald's own producer and consumer.
static const char *const producer_properties[] = {
    "enable.idempotence", "true", "linger.ms", "5", "partitioner", "murmur2_random", "queue.buffering.max.messages",
    "200000", NULL};
static const char *const consumer_properties[] = {
    "group.id", "bare", "enable.auto.commit", "false", "auto.offset.reset", "earliest", "queued.min.messages", "50000",
    "max.partition.fetch.bytes", "262144", NULL};

// MARK: Topics

// The number of a topic's partitions, as the broker reports it.
static int partition_count(rd_kafka_t *kafka, const char *topic) {
    const struct rd_kafka_metadata *metadata;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(kafka, topic, NULL);
    rd_kafka_resp_err_t code = rd_kafka_metadata(kafka, 0, handle, &metadata, 30000);
    if (code) fail(topic, rd_kafka_err2str(code));
    int count = metadata->topics[0].err ? 0 : metadata->topics[0].partition_cnt;
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(handle);
    return count;
}

static void change_topic(const char *name, int partitions) {
    rd_kafka_t *admin = client(RD_KAFKA_PRODUCER, plain, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin);
    if (partitions > 0) {
        rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, partitions, 1, error, sizeof error);
        if (topic == NULL) fail(name, error);
        rd_kafka_CreateTopics(admin, &topic, 1, NULL, queue);
        rd_kafka_NewTopic_destroy(topic);
    } else {
        rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(name);
        rd_kafka_DeleteTopics(admin, &topic, 1, NULL, queue);
        rd_kafka_DeleteTopic_destroy(topic);
    }
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 30000);
    if (event == NULL || rd_kafka_event_error(event)) fail(name, event ? rd_kafka_event_error_string(event) : "no answer");
    size_t count;
    const rd_kafka_topic_result_t **results =
        partitions > 0 ? rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
                       : rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
    if (count != 1 || rd_kafka_topic_result_error(results[0]))
        fail(name, count == 1 ? rd_kafka_err2str(rd_kafka_topic_result_error(results[0])) : "no result");
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    // A created topic is not yet visible everywhere.
    while (partition_count(admin, name) != partitions) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    rd_kafka_destroy(admin);
}

static rd_kafka_topic_partition_list_t *partitions_of(rd_kafka_t *kafka, const char *topic, int64_t offset) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);
    for (int number = 0, count = partition_count(kafka, topic); number < count; number++)
        rd_kafka_topic_partition_list_add(list, topic, number)->offset = offset;
    if (list->cnt == 0) fail(topic, "no partitions");
    return list;
}

static long long end_of(rd_kafka_t *kafka, const char *topic) {
    rd_kafka_topic_partition_list_t *list = partitions_of(kafka, topic, 0);
    long long sum = 0;
    for (int number = 0; number < list->cnt; number++) {
        int64_t low, high;
        rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(kafka, topic, number, &low, &high, 30000);
        if (code) fail(topic, rd_kafka_err2str(code));
        sum += high;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return sum;
}

static void print_end(const char *topic) {
    rd_kafka_t *kafka = client(RD_KAFKA_PRODUCER, plain, NULL);
    printf("%lld\n", end_of(kafka, topic));
    rd_kafka_destroy(kafka);
}

// MARK: Kafka's cost

static rd_kafka_queue_t *open_topic(rd_kafka_t *kafka, const char *topic, int64_t offset) {
    rd_kafka_poll_set_consumer(kafka);
    rd_kafka_topic_partition_list_t *list = partitions_of(kafka, topic, offset);
    rd_kafka_resp_err_t code = rd_kafka_assign(kafka, list);
    if (code) fail("assign", rd_kafka_err2str(code));
    rd_kafka_topic_partition_list_destroy(list);
    return rd_kafka_queue_get_consumer(kafka);
}

static void consume(const char *topic, long count) {
    rd_kafka_t *kafka = client(RD_KAFKA_CONSUMER, consumer_properties, NULL);
    rd_kafka_queue_t *queue = open_topic(kafka, topic, RD_KAFKA_OFFSET_BEGINNING);
    int64_t begin = 0;
    for (long taken = 0; taken < count;) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(queue, 30000);
        if (message == NULL || message->err) fail(topic, message ? rd_kafka_message_errstr(message) : "no more records");
        if (taken++ == 0) begin = now();
        rd_kafka_message_destroy(message);
    }
    printf("%.6f %.6f\n", (now() - begin) / 1e9, processor_seconds());
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(kafka);
}

static long acknowledged;

static void count_report(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *opaque) {
    (void)kafka, (void)opaque;
    if (message->err) fail("produce", rd_kafka_err2str(message->err));
    acknowledged++;
}

static void produce(const char *topic, long count, size_t size) {
    rd_kafka_t *kafka = client(RD_KAFKA_PRODUCER, producer_properties, count_report);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(kafka, topic, NULL);
    char *value = malloc(size), key[32];
    memset(value, 'x', size);
    int64_t begin = now();
    for (long made = 0; made < count;) {
        int length = snprintf(key, sizeof key, "user-%05ld", made * 7919 % 5000);
        if (rd_kafka_produce(handle, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, value, size, key, length, NULL) == 0) {
            made++;
        } else if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            fail("produce", rd_kafka_err2str(rd_kafka_last_error()));
        } else {
            rd_kafka_poll(kafka, 10);
        }
        if (made % 64 == 0) rd_kafka_poll(kafka, 0);
    }
    while (acknowledged < count) rd_kafka_poll(kafka, 100);
    printf("%.6f %.6f\n", (now() - begin) / 1e9, processor_seconds());
    free(value);
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(kafka);
}

// MARK: Events at a pace

static void pace(const char *topic, long rate, long count, const char *linger) {
    const char *const settings[] = {"linger.ms", linger, "partitioner", "murmur2_random", NULL};
    rd_kafka_t *kafka = client(RD_KAFKA_PRODUCER, settings, count_report);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(kafka, topic, NULL);
    // The first record waits for metadata and connections, outside of the measurement.
    partitions_of(kafka, topic, 0);
    int64_t begin = now() + 100000000;
    // No event has another one's id, because otherwise it would be a duplicate.
    unsigned run = (unsigned)(begin / 1000000);
    for (long made = 0; made < count; made++) {
        int64_t due = begin + made * (1000000000 / rate);
        rd_kafka_poll(kafka, 0);
        // Asleep: a loop would take one of few cores from the measured programs.
        for (int64_t rest = due - now(); rest > 0; rest = due - now())
            nanosleep(&(struct timespec){.tv_sec = rest / 1000000000, .tv_nsec = rest % 1000000000}, NULL);
        char key[32], value[256];
        int length = snprintf(key, sizeof key, "user-%05ld", made * 7919 % 5000);
        int size = snprintf(value, sizeof value,
                            "{\"id\":\"pace-%08x-%08ld\",\"user\":\"%s\",\"message\":\"at %lld Your parcel is on its way. Your "
                            "parcel is on its way. Your parcel\",\"pns\":[\"apns\"],\"source\":\"bench\"}",
                            run, made, key, (long long)now());
        if (rd_kafka_produce(handle, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, value, size, key, length, NULL))
            fail("produce", rd_kafka_err2str(rd_kafka_last_error()));
    }
    while (acknowledged < count) rd_kafka_poll(kafka, 10);
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(kafka);
}

// MARK: Lines of others

static void publish_lines(const char *topic) {
    const char *const settings[] = {"linger.ms", "0", "partitioner", "murmur2_random", NULL};
    rd_kafka_t *kafka = client(RD_KAFKA_PRODUCER, settings, count_report);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(kafka, topic, NULL);
    partitions_of(kafka, topic, 0);
    char *line = NULL;
    size_t room = 0;
    long made = 0;
    for (ssize_t length; (length = getline(&line, &room, stdin)) > 0; made++) {
        char *tab = memchr(line, '\t', length);
        if (tab == NULL || line[length - 1] != '\n') fail(topic, "a line without a key or an end");
        while (rd_kafka_produce(handle, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, tab + 1, line + length - tab - 2, line,
                                tab - line, NULL) != 0) {
            if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) fail("produce", rd_kafka_err2str(rd_kafka_last_error()));
            rd_kafka_poll(kafka, 10);
        }
        rd_kafka_poll(kafka, 0);
    }
    while (acknowledged < made) rd_kafka_poll(kafka, 10);
    free(line);
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(kafka);
}

// MARK: Ages

struct paced {
    const char *topic;
    long rate, count;
};

static void *pace_thread(void *arguments) {
    struct paced *paced = arguments;
    pace(paced->topic, paced->rate, paced->count, "0");
    return NULL;
}

static int by_value(const void *left, const void *right) {
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    return (one > other) - (one < other);
}

static void print_percentiles(uint32_t *ages, long count) {
    qsort(ages, count, sizeof *ages, by_value);
    printf("%ld %u %u %u %u\n", count, ages[count / 2], ages[(long)(count * .99)], ages[(long)(count * .999)],
           ages[count - 1]);
}

static void print_ages(const char *topic, long rate, long count) {
    rd_kafka_t *kafka = client(RD_KAFKA_CONSUMER, consumer_properties, NULL);
    long long before = end_of(kafka, topic);
    rd_kafka_queue_t *queue = open_topic(kafka, topic, RD_KAFKA_OFFSET_BEGINNING);
    // Earlier records are only read.
    for (long long taken = 0; taken < before; taken++) rd_kafka_message_destroy(rd_kafka_consume_queue(queue, 30000));
    struct paced paced = {topic, rate, count};
    pthread_t thread;
    if (pthread_create(&thread, NULL, pace_thread, &paced) != 0) fail("thread", "not started");
    uint32_t *ages = calloc(count, sizeof *ages);
    for (long taken = 0; taken < count;) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(queue, 30000);
        if (message == NULL || message->err) fail(topic, message ? rd_kafka_message_errstr(message) : "no more records");
        char *stamp = memmem(message->payload, message->len, "\"at ", 4);
        if (stamp != NULL) ages[taken++] = (uint32_t)((now() - strtoll(stamp + 4, NULL, 10)) / 1000);
        rd_kafka_message_destroy(message);
    }
    pthread_join(thread, NULL);
    print_percentiles(ages, count);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(kafka);
}

// MARK: From one topic to another

// The interval of commits, Herald's default (nanoseconds).
static const int64_t commit_interval = 100000000;

// The consumed offsets of each partition, for a commit.
static rd_kafka_topic_partition_list_t *consumed_of(rd_kafka_t *consumer, const char *topic) {
    return partitions_of(consumer, topic, RD_KAFKA_OFFSET_INVALID);
}

static void check(rd_kafka_error_t *wrong, const char *what) {
    if (wrong != NULL) fail(what, rd_kafka_error_string(wrong));
}

// Offsets and, if `atomic`, the records produced since the last time.
static void commit_echo(rd_kafka_t *consumer, rd_kafka_t *producer, rd_kafka_topic_partition_list_t *consumed, int atomic) {
    if (!atomic) {
        rd_kafka_resp_err_t code = rd_kafka_commit(consumer, consumed, 1);
        if (code) fail("commit", rd_kafka_err2str(code));
        return;
    }
    rd_kafka_consumer_group_metadata_t *group = rd_kafka_consumer_group_metadata(consumer);
    check(rd_kafka_send_offsets_to_transaction(producer, consumed, group, 30000), "offsets");
    check(rd_kafka_commit_transaction(producer, 30000), "commit");
    check(rd_kafka_begin_transaction(producer), "begin");
    rd_kafka_consumer_group_metadata_destroy(group);
}

// Consumes events and produces a record of a result's size for each: exactly the work of a worker's clients.
static void echo(const char *topic, const char *results, int atomic, long warm, long count) {
    char name[64];
    snprintf(name, sizeof name, "bare-%lld", (long long)now());
    const char *const consumer_settings[] = {
        "group.id", name, "enable.auto.commit", "false", "auto.offset.reset", "earliest", "isolation.level",
        "read_committed", NULL};
    const char *const producer_settings[] = {
        "enable.idempotence", "true", "partitioner", "murmur2_random", atomic ? "transactional.id" : NULL, name, NULL};
    rd_kafka_t *consumer = client(RD_KAFKA_CONSUMER, consumer_settings, NULL);
    rd_kafka_t *producer = client(RD_KAFKA_PRODUCER, producer_settings, count_report);
    if (atomic) {
        check(rd_kafka_init_transactions(producer, 30000), "init");
        check(rd_kafka_begin_transaction(producer), "begin");
    }
    rd_kafka_topic_t *target = rd_kafka_topic_new(producer, results, NULL);
    rd_kafka_topic_partition_list_t *consumed = consumed_of(consumer, topic);
    rd_kafka_queue_t *queue = open_topic(consumer, topic, RD_KAFKA_OFFSET_BEGINNING);
    printf("ready\n");
    fflush(stdout);

    char value[270];
    memset(value, 'x', sizeof value);
    uint32_t *ages = calloc(count, sizeof *ages);
    double spent = 0;
    int64_t committed = now();
    int is_new = 0;
    for (long taken = 0; taken < warm + count || is_new;) {
        int64_t rest = committed + commit_interval - now();
        rd_kafka_message_t *message = rd_kafka_consume_queue(queue, rest < 1000000 ? 0 : (int)(rest / 1000000));
        if (message != NULL) {
            if (message->err) fail(topic, rd_kafka_message_errstr(message));
            if (taken == warm) spent = processor_seconds();
            char *stamp = memmem(message->payload, message->len, "\"at ", 4);
            if (stamp == NULL) fail(topic, "a record without a moment");
            if (taken++ >= warm) ages[taken - 1 - warm] = (uint32_t)((now() - strtoll(stamp + 4, NULL, 10)) / 1000);
            rd_kafka_topic_partition_list_find(consumed, topic, message->partition)->offset = message->offset + 1;
            if (rd_kafka_produce(target, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, value, sizeof value, message->key,
                                 message->key_len, NULL))
                fail("produce", rd_kafka_err2str(rd_kafka_last_error()));
            rd_kafka_message_destroy(message);
            is_new = 1;
        }
        rd_kafka_poll(producer, 0);
        if (now() < committed + commit_interval) continue;
        if (is_new) commit_echo(consumer, producer, consumed, atomic);
        is_new = 0;
        committed = now();
    }
    printf("%.6f\n", processor_seconds() - spent);
    print_percentiles(ages, count);
    rd_kafka_topic_partition_list_destroy(consumed);
    rd_kafka_topic_destroy(target);
    rd_kafka_queue_destroy(queue);
    // An open transaction is empty.
    exit(0);
}

// MARK: Commits

static void await_commits(const char *group, const char *topic, long long goal, double seconds) {
    // Without a wait for open transactions: an older offset holds until there is another.
    const char *const properties[] = {"group.id", group, "isolation.level", "read_uncommitted", NULL};
    rd_kafka_t *kafka = client(RD_KAFKA_CONSUMER, properties, NULL);
    rd_kafka_topic_partition_list_t *list = partitions_of(kafka, topic, RD_KAFKA_OFFSET_INVALID);
    int64_t end = now() + (int64_t)(seconds * 1e9);
    for (;;) {
        long long sum = 0;
        if (rd_kafka_committed(kafka, list, 1000) == RD_KAFKA_RESP_ERR_NO_ERROR)
            for (int index = 0; index < list->cnt; index++)
                sum += list->elems[index].offset > 0 ? list->elems[index].offset : 0;
        if (sum >= goal) break;
        if (now() > end) fail(group, "not everything is committed in time");
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(kafka);
}

int main(int count, char **arguments) {
    const char *what = count > 3 ? arguments[2] : "";
    servers = count > 1 ? arguments[1] : "";
    if (strcmp(what, "create") == 0 && count == 5) {
        change_topic(arguments[3], atoi(arguments[4]));
    } else if (strcmp(what, "delete") == 0 && count == 4) {
        change_topic(arguments[3], 0);
    } else if (strcmp(what, "count") == 0 && count == 4) {
        print_end(arguments[3]);
    } else if (strcmp(what, "consume") == 0 && count == 5) {
        consume(arguments[3], atol(arguments[4]));
    } else if (strcmp(what, "produce") == 0 && count == 6) {
        produce(arguments[3], atol(arguments[4]), atol(arguments[5]));
    } else if (strcmp(what, "pace") == 0 && (count == 6 || count == 7)) {
        pace(arguments[3], atol(arguments[4]), atol(arguments[5]), count == 7 ? arguments[6] : "0");
    } else if (strcmp(what, "lines") == 0 && count == 4) {
        publish_lines(arguments[3]);
    } else if (strcmp(what, "ages") == 0 && count == 6) {
        print_ages(arguments[3], atol(arguments[4]), atol(arguments[5]));
    } else if (strcmp(what, "echo") == 0 && count == 8) {
        echo(arguments[3], arguments[4], strcmp(arguments[5], "atomic") == 0, atol(arguments[6]), atol(arguments[7]));
    } else if (strcmp(what, "committed") == 0 && count == 7) {
        await_commits(arguments[3], arguments[4], atoll(arguments[5]), atof(arguments[6]));
    } else {
        fprintf(stderr, "usage: kafka-bare SERVERS create|delete|count|consume|produce|pace|lines|ages|echo|committed …\n");
        return 2;
    }
    return 0;
}
