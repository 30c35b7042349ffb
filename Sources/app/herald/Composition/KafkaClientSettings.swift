import HeraldKafka
import HeraldSettings
import HeraldTime
import HeraldWorker

/// librdkafka's properties, made from the settings: Herald's own choices, and over them what the user set.
enum KafkaClientSettings {
    /// What every client needs: brokers, and the user's properties.
    static func common(_ settings: Settings) -> ClientProperties {
        joined(base(settings), settings)
    }

    /// The broker ends a transaction by itself that is open for so long, unless the user says otherwise: as
    /// short as a session, but never before its commit is due.
    static func transactionTimeout(_ settings: Settings) -> Milliseconds {
        settings.kafka.properties["transaction.timeout.ms"].flatMap { Int64($0).map { .milliseconds($0) } }
            ?? max(.seconds(10), 3 * Milliseconds(settings.delivery.commitInterval))
    }

    /// A lane's producer, which loses nothing: idempotent, acknowledged by all replicas.
    static func producer(_ settings: Settings, lane: Int, instance: String) -> ClientProperties {
        var properties = base(settings) + lossless + [statisticsInterval]
        switch settings.delivery.guarantee {
        case .atLeastOnce:
            // With less nearly every record is a batch and a request of its own, at a thousand events a second.
            properties.append(("linger.ms", "20"))
            // A settlement is never given up: what the broker will not take is held, and offered again.
            properties.append(("message.timeout.ms", "0"))
        case .atomic:
            let timeout = String(transactionTimeout(settings).count)
            properties += [
                ("transactional.id", "\(settings.kafka.group)-\(instance)-\(lane)"),
                // As short as a session: until it is over no reader gets past the transaction that a killed worker left
                // open.
                ("transaction.timeout.ms", timeout),
                // No reader sees a record before its commit, which does not wait for this: fewer and larger batches.
                ("linger.ms", "30"),
                // What takes longer is aborted, and written again.
                ("message.timeout.ms", timeout),
                // The commit says whether the broker has the records.
                ("delivery.report.only.error", "true"),
                // A commit right after another waits this long for the broker to end the one before.
                ("retry.backoff.ms", "2"),
            ]
        }
        return joined(properties, settings)
    }

    /// What every producer needs to lose nothing.
    private static let lossless = [
        ("acks", "all"),
        ("enable.idempotence", "true"),
        // Else librdkafka loses records: when a new leader refuses a producer's first batch and takes its second, it holds
        // the first for written too (confluentinc/confluent-kafka-go#921).
        ("max.in.flight", "1"),
        // The topic decides what is too large, not the client.
        ("message.max.bytes", "10485760"),
    ]

    /// What the client says of itself, for the metrics (milliseconds).
    private static let statisticsInterval = ("statistics.interval.ms", "10000")

    /// A tool's producer: it loses nothing either, and tells within a bounded time when a broker is gone.
    static func publisher(_ settings: Settings) -> ClientProperties {
        joined(
            base(settings) + lossless + [
                ("linger.ms", "5"),
                // Longer than a partition needs for a new leader.
                ("message.timeout.ms", "30000"),
            ], settings)
    }

    /// A tool's reader of outcomes: a member of no group, which commits nothing.
    static func resultsReader(_ settings: Settings) -> ClientProperties {
        joined(
            base(settings) + [
                // The client wants one; the workers' own is one that this user has a permission for.
                ("group.id", settings.kafka.group),
                ("isolation.level", "read_committed"),
                ("auto.offset.reset", "earliest"),
                ("allow.auto.create.topics", "false"),
            ], settings)
    }

    /// A tool's reader of records and of what became of them: as far as they are committed, and told where they end.
    static func toolReader(_ settings: Settings) -> ClientProperties {
        // An answer without records says where the end is; it is not worth waiting for.
        resultsReader(settings) + [("enable.partition.eof", "true"), ("fetch.wait.max.ms", "10")]
    }

    /// A worker's reader of the campaigns topic: told where it ends, and small beside the lanes.
    static func campaignReader(_ settings: Settings) -> ClientProperties {
        resultsReader(settings) + [("enable.partition.eof", "true"), ("queued.max.messages.kbytes", "1024")]
    }

    /// A worker's reader of opt-outs and recalls: it goes through millions when it begins.
    static func wordReader(_ settings: Settings) -> ClientProperties {
        resultsReader(settings) + [("enable.partition.eof", "true")]
            + unset(
                [
                    ("queued.min.messages", "40000"), ("queued.max.messages.kbytes", "16384"),
                    // A broker answers one request of a connection after the other: the question for the ends waits for a fetch.
                    ("fetch.wait.max.ms", "100"),
                ], settings)
    }

    /// The doctor's reader: an offset that a worker is just committing does not keep it waiting.
    static func doctorReader(_ settings: Settings) -> ClientProperties {
        toolReader(settings) + [("isolation.level", "read_uncommitted")]
    }

    /// The console's reader of first records and of dead letters as they arrive: small, because it runs for days.
    static func watcher(_ settings: Settings) -> ClientProperties {
        toolReader(settings)
            + unset([("queued.max.messages.kbytes", "4096"), ("max.partition.fetch.bytes", "65536")], settings)
    }

    /// The writer of replays; its `transactional.id` comes on top.
    static func replayWriter(_ settings: Settings) -> ClientProperties {
        let timeout = settings.kafka.properties["transaction.timeout.ms"] ?? "10000"
        return joined(
            base(settings) + lossless + [
                // A killed replay's transaction holds back the workers for so long, if no operator starts the replay
                // again.
                ("transaction.timeout.ms", timeout),
                ("message.timeout.ms", timeout),
                ("linger.ms", "5"),
                // A commit right after another waits this long for the broker to end the one before.
                ("retry.backoff.ms", "2"),
            ], settings)
    }

    /// The reader of results for the follower of a hub's telemetry, whose offsets are committed with its records.
    static func feedbackReader(_ settings: Settings) -> ClientProperties {
        resultsReader(settings) + [
            ("group.id", settings.feedbackGroup), ("enable.partition.eof", "true"),
            // More than a second of work, and small while the follower waits for the hub.
            ("queued.min.messages", "10000"), ("queued.max.messages.kbytes", "16384"),
        ]
    }

    /// Its writer: a producer that starts under the same name aborts what the last one left open, and fences it.
    static func feedbackWriter(_ settings: Settings) -> ClientProperties {
        replayWriter(settings) + [("transactional.id", settings.feedbackGroup)]
    }

    static func consumer(_ settings: Settings, lane: Int) -> ClientProperties {
        var properties =
            base(settings) + [
                ("group.id", settings.kafka.group),
                statisticsInterval,
                // What lies below the first offset that is left is a loss: the lane finds out how much.
                ("auto.offset.reset", "error"),
                ("isolation.level", "read_committed"),
                ("session.timeout.ms", "10000"),
                ("max.poll.interval.ms", rebalanceTimeout(settings)),
                // By its answer a member learns that partitions change hands: no member has them until all know.
                ("heartbeat.interval.ms", "1000"),
                ("allow.auto.create.topics", "false"),
                // Behind a partition's last record lie the ends of transactions: a group that is done stands behind them.
                ("enable.partition.eof", "true"),
                // A new retry topic is found within this time.
                ("topic.metadata.refresh.interval.ms", "30000"),
                // More than half a second of work: for so long the broker holds a fetch of partitions that have nothing, which
                // leaves out a queue that is full, and librdkafka has one at a time.
                ("queued.min.messages", "44000"),
                // Small fetches overshoot the queue's bound less.
                ("max.partition.fetch.bytes", "65536"),
                // However many partitions there are.
                ("fetch.max.bytes", "4194304"),
                // `check.crcs` stays off: at a checksum that is wrong librdkafka 2.0.2 aborts the process a moment later, and newer
                // ones have the same code (docs/DESIGN.md, What can't be read).
                // Also what a batch of zstd may have unpacked; more than any topic lets in that Herald makes.
                ("receive.message.max.bytes", "33554432"),
                // Values alone; the engine looks at everything, and pauses what goes beyond that.
                ("queued.max.messages.kbytes", "32768"),
                // A partition that had enough is fetched again as soon as it has not: of itself librdkafka waits for a second,
                // which costs a backlog a fifth of its rate. Known since 2.3.
            ] + known([("fetch.queue.backoff.ms", "20")])
        if settings.kafka.staticMembership, let instance = settings.kafka.instance {
            properties.append(("group.instance.id", "\(instance)-\(lane)"))
        }
        return joined(properties, settings)
    }

    /// How long the group waits in a rebalance for a member that lives and does not answer (milliseconds).
    ///
    /// A lane polls many times a second whatever its calls do, and one that drains answers when it leaves: what takes longer
    /// hangs, and all others stand still for it.
    private static func rebalanceTimeout(_ settings: Settings) -> String {
        let drain = Milliseconds(settings.delivery.drainTimeout) + .seconds(30)
        let session = settings.kafka.properties["session.timeout.ms"].flatMap { Int64($0) } ?? 0
        // The most that librdkafka allows is a day.
        return String(min(max(60_000, drain.count, session), 86_400_000))
    }

    private static func base(_ settings: Settings) -> [(String, String)] {
        [
            ("bootstrap.servers", settings.kafka.bootstrapServers.joined(separator: ",")),
            ("client.id", Worker.clientID),
            // A broker that comes back is found within a second.
            ("reconnect.backoff.max.ms", "1000"),
            // Newer versions forget their brokers when none answers, and with them the coordinator of a transaction: over 2.16 a
            // worker whose only broker came back never committed again. Brokers that have moved are found without it
            // (`BrokerDirectory`).
        ] + known([("metadata.recovery.strategy", "none")])
    }

    /// Those that this version of librdkafka has.
    private static func known(_ properties: [(String, String)]) -> [(String, String)] {
        properties.filter { KafkaLibrary.takes($0.0, $0.1) }
    }

    /// Those that the user has not set.
    private static func unset(_ own: [(String, String)], _ settings: Settings) -> ClientProperties {
        ClientProperties(own.filter { settings.kafka.properties[$0.0] == nil })
    }

    private static func joined(_ own: [(String, String)], _ settings: Settings) -> ClientProperties {
        let values =
            unset(own + settings.kafka.loginProperties, settings).values
            + settings.kafka.properties.sorted.map { ($0.name, $0.value) }
        return ClientProperties(
            values, login: BrokerLogins.login(of: settings.kafka), answers: QuestionWatch.answers,
            settling: QuestionWatch.settling)
    }
}
