import HeraldBackend
import HeraldCore
import HeraldEvents
import HeraldKafka
public import HeraldTelemetry
import HeraldTime
import HeraldWorker

/// Every metric of a worker, declared once and beside its values; docs/METRICS.md is checked against this table.
///
/// Labels come from closed sets: settings, topics, and the words of the contract; never from events.
public enum WorkerMetrics {
    /// One metric: what it is, and where its samples come from.
    struct Metric: Sendable {
        let declaration: MetricDeclaration
        let write: @Sendable (Source, inout MetricsWriter) -> Void

        init(
            _ name: String, _ kind: MetricDeclaration.Kind, unit: MetricDeclaration.Unit? = nil, labels: [String] = [],
            _ help: String, _ write: @escaping @Sendable (Source, inout MetricsWriter) -> Void
        ) {
            declaration = MetricDeclaration(name, kind, unit: unit, labels: labels, help)
            self.write = write
        }
    }

    struct Source: Sendable {
        let report: WorkerReport
        let process: ProcessFacts
        let now: Moment

        var readiness: Readiness { Readiness(report, now: now.monotonic) }

        func sum(_ value: (LaneReport) -> Int) -> Int { report.lanes.reduce(0) { $0 + value($1) } }
    }

    /// All declarations, in the order of the output.
    public static var declarations: [MetricDeclaration] { all.map(\.declaration) }

    static let all: [Metric] = delivery + state + lastWord + kafka + process

    static func text(
        _ report: WorkerReport, _ process: ProcessFacts, _ format: MetricsFormat, now: Moment
    ) -> [UInt8] {
        let source = Source(report: report, process: process, now: now)
        var writer = MetricsWriter(format)
        for metric in all {
            writer.begin(metric.declaration)
            metric.write(source, &writer)
        }
        return writer.finish()
    }

    static func sum(
        _ name: String, _ kind: MetricDeclaration.Kind, _ help: String, _ value: @escaping @Sendable (LaneReport) -> Int
    ) -> Metric {
        one(name, kind, help) { $0.sum(value) }
    }

    static func one(
        _ name: String, _ kind: MetricDeclaration.Kind, unit: MetricDeclaration.Unit? = nil, _ help: String,
        _ value: @escaping @Sendable (Source) -> Int
    ) -> Metric {
        Metric(name, kind, unit: unit, help) { source, writer in writer.sample([], value(source)) }
    }

    // MARK: Delivery

    private static let delivery: [Metric] = [
        Metric(
            "herald_notifications", .counter, labels: ["pns", "outcome"],
            "Notifications that have ended, by push service (empty: the event could not be read) and outcome."
        ) { source, writer in
            for (service, name) in source.services {
                for outcome in Outcome.allCases where service != nil || outcome == .deadLettered {
                    writer.sample(
                        [name, outcome.rawValue], source.sum { $0.counters.notifications(outcome, service: service) })
                }
            }
        },
        Metric(
            "herald_calls", .counter, labels: ["pns", "result"],
            "Calls to the backend that have ended, by push service and by the class of the answer or why there was none."
        ) { source, writer in
            for (service, name) in source.report.pushServices.enumerated() {
                for end in CallEnd.allCases {
                    writer.sample([name, end.word], source.sum { $0.counters.calls(end, service: service) })
                }
            }
        },
        Metric(
            "herald_call_duration_seconds", .histogram, unit: .seconds, labels: ["pns"],
            "How long answered calls took, from the request's first byte to the answer's last."
        ) { source, writer in
            for (service, name) in source.report.pushServices.enumerated() {
                writer.histogram([name], source.report.lanes.map { $0.meter.callDurations[service] }, .ofCalls)
            }
        },
        Metric(
            "herald_end_to_end_seconds", .histogram, unit: .seconds, labels: ["topic"],
            "From an event's first publication to the final outcome of each of its notifications, by request topic."
        ) { source, writer in
            for (place, topic) in source.topics.enumerated() {
                writer.histogram([topic], source.report.lanes.map { $0.counters.endToEnd[place] }, .ofEvents)
            }
        },
        Metric(
            "herald_dead_letters", .counter, labels: ["reason"], "Records written to the dead-letter topic, by reason."
        ) { source, writer in
            for reason in DeadLetterReason.allCases {
                writer.sample([reason.rawValue], source.sum { $0.counters.deadLetters(reason) })
            }
        },
        Metric(
            "herald_retries", .counter, labels: ["reason"],
            "Records written to retry topics, by reason (hop: on the way to a moment that one delay does not reach)."
        ) { source, writer in
            for reason in RetryReason.allCases {
                writer.sample([reason.rawValue], source.sum { $0.counters.retries(reason) })
            }
            writer.sample(["hop"], source.sum { $0.counters.retries(nil) })
        },
        sum(
            "herald_records_consumed", .counter, "Records consumed from request and retry topics.", \.counters.accepted),
        Metric(
            "herald_publisher_faults", .counter, labels: ["topic", "fault"],
            "Records of request topics that were published otherwise than the contract asks, by request topic and fault."
        ) { source, writer in
            for topic in source.report.requestTopics {
                for fault in PublisherFault.allCases {
                    let found = source.report.cluster.faultyRecords.first { $0.topic == topic && $0.fault == fault }
                    writer.sample([topic, fault.rawValue], found?.count ?? 0)
                }
            }
        },
        Metric(
            "herald_omitted_content", .counter, labels: ["pns", "field"],
            "Notifications delivered without a field of their event, by push service and field: the backend takes only the "
                + "message (backend.body: text), or the push service has no place for it."
        ) { source, writer in
            for (service, name) in source.report.pushServices.enumerated() {
                for field in ContentField.allCases {
                    writer.sample([name, field.rawValue], source.sum { $0.counters.omitted(field, service: service) })
                }
            }
        },
        sum("herald_tombstones", .counter, "Records without a value, which are skipped.", \.counters.tombstones),
        sum(
            "herald_unreadable_records", .counter, "Offsets that were passed over because nobody can read their batch.",
            \.counters.unreadable),
        sum(
            "herald_records_skipped", .counter,
            "Records that were fetched again and skipped, because the commit says that they are done.",
            \.counters.doneBefore),
        Metric(
            "herald_offsets_passed_over", .counter, labels: ["cause"],
            "Offsets that were passed over uncalled, by cause (cut: a log that was cut off; unproven: nothing shows whether it was; foreign: another program's commit)."
        ) { source, writer in
            for cause in PassedOver.Cause.allCases where cause != .replaced {
                writer.sample([cause.rawValue], source.sum { $0.meter.passedOver[cause, default: 0] })
            }
        },
        Metric(
            "herald_offsets_gone", .counter, labels: ["outcome"],
            "Offsets whose records are gone, because a log lost its end: read before (known), or with no outcome that is known."
        ) { source, writer in
            writer.sample(["known"], source.sum { $0.meter.gone.accepted })
            writer.sample(["unknown"], source.sum { $0.meter.gone.unknown })
        },
        sum(
            "herald_stale_answers", .counter, "Answers and acknowledgements for events that were abandoned meanwhile.",
            \.counters.stale),
    ]

    // MARK: State

    private static let state: [Metric] = [
        one(
            "herald_ready", .gauge, "Whether /readyz says that events are delivered (1) or why not (0)."
        ) { $0.readiness.isReady ? 1 : 0 },
        Metric(
            "herald_outage", .gauge, labels: ["reason"], "Whether nothing is consumed for this reason (1) or not (0)."
        ) {
            source, writer in
            let outages = source.report.outages.map(\.reason)
            for reason in OutageReason.common + TargetOutage.all.map(OutageReason.target) {
                writer.sample([reason.word], outages.contains(reason) ? 1 : 0)
            }
        },
        Metric(
            "herald_push_service_held", .gauge, labels: ["pns"],
            "Whether this push service is held alone, because it refuses every call (1) or not (0)."
        ) { source, writer in
            let held = source.report.holds.map(\.service)
            for (service, name) in source.report.pushServices.enumerated() {
                writer.sample([name], held.contains(service) ? 1 : 0)
            }
        },
        sum("herald_inflight", .gauge, "Calls in flight.", \.calls),
        sum(
            "herald_limit_inflight", .gauge, "Calls in flight at most, as the latency of the backend allows.",
            \.inFlightLimit),
        Metric(
            "herald_limit_calls_per_second", .gauge, labels: ["pns"],
            "The rate of calls that the backend accepts, as found by Herald (+Inf: it never asked for fewer)."
        ) { source, writer in
            for (service, name) in source.report.pushServices.enumerated() {
                writer.sample([name], source.report.lanes.reduce(0) { $0 + ($1.limit(service) ?? .infinity) })
            }
        },
        sum("herald_events_in_memory", .gauge, "Events consumed whose outcome is not durable yet.", \.events),
        Metric(
            "herald_waiting_events", .gauge, labels: ["reason"],
            "Events in memory that wait, by what for; without those that are being called."
        ) { source, writer in
            for kind in WaitReason.Kind.allCases where kind.isWait {
                writer.sample([kind.word], source.report.waiting(for: kind))
            }
        },
        sum(
            "herald_records_unacknowledged", .gauge, "Results, retries and dead letters that are not durable yet.",
            \.records),
        Metric(
            "herald_backend_connections", .gauge, labels: ["http"],
            "Connections to the backend, by the version of HTTP that is spoken over them."
        ) { source, writer in
            let shared = source.sum(\.sharedConnections)
            writer.sample(["1.1"], source.sum(\.connections) - shared)
            writer.sample(["2"], shared)
        },
        Metric(
            "herald_consumer_lag", .gauge, labels: ["topic", "partition"],
            "Offsets of a partition of this worker that are not done; the ends of transactions count until passed."
        ) { source, writer in
            for (report, offsets) in source.report.lags {
                guard let offsets else { continue }
                writer.sample([report.partition.topic, "\(report.partition.partition)"], Int(offsets))
            }
        },
        Metric(
            "herald_last_stable_offset_lag", .gauge, labels: ["topic", "partition"],
            "Those of them that nobody can read yet, because they lie behind the first open transaction."
        ) { source, writer in
            for report in source.report.lanes.flatMap(\.partitions) {
                guard let offsets = source.report.cluster.unstable(report.partition) else { continue }
                writer.sample([report.partition.topic, "\(report.partition.partition)"], Int(offsets))
            }
        },
        Metric(
            "herald_oldest_event_age_seconds", .gauge, unit: .seconds, labels: ["topic"],
            "How long the oldest event that is not final has waited, as far as this worker knows, by request topic."
        ) { source, writer in
            for (topic, age) in zip(source.topics, source.report.oldestEventAges(now: source.now)) {
                writer.sample([topic], age.inSeconds)
            }
        },
        Metric(
            "herald_retry_backlog", .gauge, labels: ["delay"],
            "The lag of this worker's partitions of a retry topic: about how many events wait there."
        ) { source, writer in
            var backlogs: [String: Int64] = [:]
            for (report, offsets) in source.report.lags {
                if let delay = report.delay, let offsets { backlogs[delay, default: 0] += offsets }
            }
            for (delay, offsets) in backlogs.sorted(by: { $0.key < $1.key }) { writer.sample([delay], Int(offsets)) }
        },
    ]

    // MARK: Opt-outs and recalls

    private static func words(
        _ name: String, _ kind: MetricDeclaration.Kind, unit: MetricDeclaration.Unit? = nil, _ help: String,
        _ value: @escaping @Sendable (LastWordReport) -> Int
    ) -> Metric {
        Metric(name, kind, unit: unit, help) { source, writer in
            if let report = source.report.lastWord { writer.sample([], value(report)) }
        }
    }

    private static let lastWord: [Metric] = [
        Metric(
            "herald_preferences_age_seconds", .gauge, unit: .seconds,
            "How old what this worker knows of opt-outs and recalls may be; promotional events wait beyond "
                + "preferences.maxLag."
        ) { source, writer in
            guard let report = source.report.lastWord else { return }
            writer.sample([], report.age(now: source.now.monotonic).inSeconds)
        },
        words(
            "herald_preferences_users", .gauge, "Users who have opted out of something, or have quiet hours.", \.users),
        words(
            "herald_preferences_bytes", .gauge, unit: .bytes, "Memory that opt-outs and recalls take.", \.bytes),
        words(
            "herald_preferences_broken", .counter,
            "Broken records of the topics of opt-outs and recalls; none of them opts anybody in.", \.broken),
        words("herald_recalls", .gauge, "Events and campaigns that are recalled.", \.recalls),
        caps("herald_caps_users", "Users of whom caps count something.", \.cappedUsers),
        caps("herald_caps_bytes", unit: .bytes, "Memory that caps take.", \.capBytes),
    ]

    private static func caps(
        _ name: String, unit: MetricDeclaration.Unit? = nil, _ help: String,
        _ value: @escaping @Sendable (LaneReport) -> Int
    ) -> Metric {
        Metric(name, .gauge, unit: unit, help) { source, writer in
            if source.report.lastWord?.hasCaps == true {
                writer.sample([], source.report.lanes.map(value).reduce(0, +))
            }
        }
    }
}

extension WorkerMetrics.Source {
    /// The push services by their places, and the place of events that name none.
    fileprivate var services: [(place: Int?, name: String)] {
        report.pushServices.enumerated().map { ($0, $1) } + [(nil, "")]
    }

    /// The request topics by their places, the last of which is of events from others.
    fileprivate var topics: [String] { report.requestTopics + [""] }
}

extension LaneReport {
    /// Calls a second to a push service; `nil` without a limit.
    fileprivate func limit(_ service: Int) -> Double? {
        rateLimits.indices.contains(service) ? rateLimits[service] : nil
    }
}

extension MetricsWriter {
    /// The sum of the lanes' histograms; an empty one before there are lanes.
    mutating func histogram(_ labels: [String], _ lanes: [DurationHistogram], _ empty: DurationHistogram) {
        var sum = empty
        for lane in lanes { sum.add(lane) }
        histogram(
            labels, bounds: sum.bounds.map { Double($0) / 1_000_000 }, counts: sum.counts,
            sum: Double(sum.sum) / 1_000_000)
    }
}
