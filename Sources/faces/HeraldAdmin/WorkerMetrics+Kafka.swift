import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime
import HeraldWorker

extension WorkerMetrics {
    // MARK: Kafka

    static let kafka: [Metric] =
        [
            sum("herald_partitions_assigned", .gauge, "Partitions assigned to this worker.", \.partitions.count),
            one(
                "herald_partitions_without_leader", .gauge,
                "Partitions of Herald's topics without a leader, which nobody can write or read."
            ) { $0.report.cluster.leaderless.count },
            sum(
                "herald_partitions_offsets_missing", .gauge,
                "Partitions of this worker that are not consumed, because the group's offset for them was lost.",
                \.withoutOffsets.count),
            sum(
                "herald_records_lost", .gauge,
                "Records of this worker's partitions that were deleted before they were read; nothing is consumed there.",
                { $0.lostRecords.reduce(0) { $0 + Int($1.count) } }),
            one(
                "herald_brokers_reachable", .gauge, "Whether a broker answered the latest query (1) or none (0)."
            ) { $0.report.cluster.isReachable == true ? 1 : 0 },
            one(
                "herald_brokers_silent", .gauge,
                "Brokers with copies of Herald's partitions that did not answer when they were asked, each for itself."
            ) { $0.report.cluster.silentBrokers.count },
            one(
                "herald_partitions_unusable", .gauge,
                "Partitions of Herald's topics that nobody can write or read, because too few of their brokers answer."
            ) { $0.report.cluster.unusable.count },
            Metric(
                "herald_stalled_seconds", .gauge, unit: .seconds,
                "How long outcomes have waited without a commit (0: there is progress, or nothing waits)."
            ) { source, writer in
                writer.sample([], source.readiness.stalledTime.inSeconds)
            },
            one(
                "herald_partitions_standing_still", .gauge,
                "Partitions of request topics with events that nobody takes although nothing else is to be done."
            ) { $0.report.cluster.standingStill.count },
            one(
                "herald_partitions_behind_open_transaction", .gauge,
                "Partitions of this worker in which a transaction has been open for longer than 30 s."
            ) { $0.report.cluster.openTransactions.count },
            one(
                "herald_topics_drift", .gauge,
                "Entries of Herald's topics that are otherwise than the settings want, as `herald topics plan` shows them."
            ) { $0.report.cluster.drift?.numbers["differences"] ?? 0 },
            one(
                "herald_group_strangers", .gauge,
                "Members of the group that are no workers of Herald's, as this worker saw it last."
            ) { $0.report.cluster.strangers?.count ?? 0 },
            Metric(
                "herald_rebalances", .counter, labels: ["kind"],
                "How often partitions were assigned to, revoked from, or lost by each lane."
            ) { source, writer in
                writer.sample(["assigned"], source.sum(\.meter.assignments))
                writer.sample(["revoked"], source.sum(\.meter.revocations))
                writer.sample(["lost"], source.sum(\.meter.losses))
            },
            Metric(
                "herald_commits", .counter, labels: ["outcome"],
                "Commits of offsets, in a transaction or not, by whether the brokers accepted them."
            ) { source, writer in
                writer.sample(["committed"], source.sum(\.meter.commits))
                writer.sample(["failed"], source.sum(\.meter.failedCommits))
            },
            Metric(
                "herald_transaction_duration_seconds", .histogram, unit: .seconds,
                "From the opening of a transaction to the brokers' answer to its commit."
            ) { source, writer in
                writer.histogram([], source.report.lanes.map(\.meter.transactionDurations), .ofCalls)
            },
            sum(
                "herald_transaction_aborts", .counter, "Transactions that were aborted and written again.",
                \.meter.aborts),
            Metric(
                "herald_kafka_throttled_seconds", .counter, unit: .seconds,
                "How long brokers made this worker's producers wait, because a quota was used up."
            ) { source, writer in
                let producers = source.report.lanes.flatMap(\.throttling).filter { $0.client == .producer }
                writer.sample([], producers.reduce(Milliseconds.zero) { $0 + $1.total }.inSeconds)
            },
        ] + clients

    /// What librdkafka says of itself every ten seconds.
    private static let clients: [Metric] = [
        count("herald_kafka_requests", "Requests to brokers.", \.requests),
        count(
            "herald_kafka_request_errors", "Requests to brokers that failed on the way or had no answer in time.",
            \.requestErrors),
        count("herald_kafka_request_retries", "Requests to brokers that were made again.", \.requestRetries),
        count("herald_kafka_disconnects", "Connections to brokers that ended.", \.disconnects),
        count("herald_kafka_sent_bytes", unit: .bytes, "Sent to brokers.", \.bytesSent),
        count("herald_kafka_received_bytes", unit: .bytes, "Received from brokers.", \.bytesReceived),
        Metric(
            "herald_kafka_brokers", .gauge, labels: ["client", "state"],
            "Brokers that clients are connected to, or were and are not, each client for itself."
        ) { source, writer in
            for (client, statistics) in source.clients {
                writer.sample([client, "up"], statistics.brokersUp)
                writer.sample([client, "down"], statistics.brokersDown)
            }
        },
        Metric(
            "herald_kafka_round_trip_seconds", .gauge, unit: .seconds, labels: ["client"],
            "The slowest broker's time to answer, 99th percentile; a fetch waits up to 0.5 s for records."
        ) { source, writer in
            for (client, statistics) in source.clients {
                writer.sample([client], Double(statistics.slowestRoundTrip) / 1_000_000)
            }
        },
        one(
            "herald_kafka_queued_records", .gauge, "Records in the producers' queues."
        ) { $0.report.cluster.producers.recordsQueued },
        one(
            "herald_kafka_fetched_ahead_bytes", .gauge, unit: .bytes,
            "Bytes fetched by the consumers and not consumed yet."
        ) { $0.report.cluster.consumers.bytesFetchedAhead },
    ]

    private static func count(
        _ name: String, unit: MetricDeclaration.Unit? = nil, _ help: String,
        _ value: @escaping @Sendable (ClientStatistics) -> Int
    ) -> Metric {
        Metric(name, .counter, unit: unit, labels: ["client"], help) { source, writer in
            for (client, statistics) in source.clients { writer.sample([client], value(statistics)) }
        }
    }
}

extension WorkerMetrics.Source {
    fileprivate var clients: [(name: String, ClientStatistics)] {
        [("consumer", report.cluster.consumers), ("producer", report.cluster.producers)]
    }
}
