import HeraldCore
import HeraldEvents
import HeraldHTTP
import HeraldKafka
import HeraldText
import HeraldTime
import HeraldWorker

/// What `/readyz` answers: JSON for people and programs.
struct ReadinessPage {
    private let readiness: Readiness
    private let report: WorkerReport
    private let now: MonotonicTime

    init(_ report: WorkerReport, now: MonotonicTime) {
        readiness = Readiness(report, now: now)
        self.report = report
        self.now = now
    }

    var response: HTTPResponse {
        .json(Array((json.pretty + "\n").utf8), status: readiness.isReady ? 200 : 503)
    }

    private var json: JSONValue {
        [
            ("ready", .bool(readiness.isReady)),
            (
                "reasons",
                .array(readiness.findings.map(json))
            ),
            ("warnings", .array(warnings.map { ["reason": .string($0.word), "sentence": .string($0.sentence)] })),
            ("group", ["name": .string(report.group), "member": .bool(report.isMember)]),
            (
                "assignment",
                [
                    "lanes": .integer(report.lanes.count { !$0.hasEnded }),
                    "partitions": .integer(report.lanes.reduce(0) { $0 + $1.partitions.count }),
                ]
            ),
            ("lag", lag),
            ("waiting", waiting),
            ("outages", .array(report.outages.map { .string($0.reason.rawValue) })),
            ("brokers", .string(Self.word(report.cluster.isReachable))),
            ("silentBrokers", .array(report.cluster.silentBrokers.map { .string($0.description) })),
            ("unusablePartitions", .array(report.cluster.unusable.map { .string("\($0)") })),
            ("backend", .string(Self.word(Readiness.isBackendReachable(report)))),
        ].object
    }

    private func json(_ finding: Readiness.Finding) -> JSONValue {
        var members = [("reason", JSONValue.string(finding.reason.word)), ("sentence", .string(finding.sentence))]
        if case .outage(let reason) = finding.reason, let since = report.outageSince(reason) {
            var text: [UInt8] = []
            RFC3339.append(since, to: &text)
            members.append(("since", .string(String(decoding: text, as: UTF8.self))))
        }
        return members.object
    }

    private var lag: JSONValue {
        let (all, known) = (report.lags, report.lags.compactMap(\.offsets))
        return [
            "offsets": known.isEmpty && !all.isEmpty ? .null : .integer(Int(known.reduce(0, +))),
            "growthPerSecond": report.cluster.lagPerSecond.map { .integer(Int($0.rounded())) } ?? .null,
        ]
    }

    /// How many events in memory wait, by what for; those that are being called do not.
    private var waiting: JSONValue {
        WaitReason.Kind.allCases.filter { $0.isWait && report.waiting(for: $0) > 0 }
            .map { ($0.word, .integer(report.waiting(for: $0))) }.object
    }

    /// What people may want to look at although the worker is ready.
    private var warnings: [(word: String, sentence: String)] {
        failing + throttling + [stranger, transaction, refused, growth, faults, passedOver].compactMap { $0 }
    }

    private var throttling: [(word: String, sentence: String)] {
        Throttling.Client.allCases.compactMap { report.throttling(of: $0, now: now)?.sentence(now: now) }
            .map { (ReadinessWarning.brokersThrottle.rawValue, $0) }
    }

    /// Push services of which every call fails; in an outage that says why.
    private var failing: [(word: String, sentence: String)] {
        guard report.outages.isEmpty else { return [] }
        return report.cluster.failingServices.map { service in
            (
                ReadinessWarning.pushServiceFailing.rawValue,
                "All \(service.calls) calls to \(service.name) within the last minute failed: its notifications are "
                    + "retried, the others go on. Look at the backend's log for \(service.name); herald_calls_total says how "
                    + "they end."
            )
        }
    }

    private var stranger: (word: String, sentence: String)? {
        guard let words = report.cluster.strangers?.words(in: report.group) else { return nil }
        let sentence = "\(words.prefix(1).uppercased())\(words.dropFirst()): \([GroupDescription.Stranger].remedy)."
        return (ReadinessWarning.strangerInGroup.rawValue, sentence)
    }

    private var transaction: (word: String, sentence: String)? {
        guard let first = report.cluster.openTransactions.first else { return nil }
        let others = report.cluster.openTransactions.count - 1
        return (
            ReadinessWarning.behindOpenTransaction.rawValue,
            "\(first.words)\(others > 0 ? ", and the same in \(others) more partitions" : ""): \(first.remedy)."
        )
    }

    private var refused: (word: String, sentence: String)? {
        let topics = report.lanes.flatMap(\.refusedRecords)
        guard let first = topics.max(by: { $0.since < $1.since }), let topic = first.topic else { return nil }
        let count = report.waiting(for: .recordRefused)
        return (
            ReadinessWarning.recordRefused.rawValue,
            "\(count) \(count == 1 ? "event waits" : "events wait"), because \(topic) does not take a record of "
                + "\(count == 1 ? "it" : "theirs") (\(first.text)): \(first.remedy ?? ""). They are offered again by "
                + "themselves, and all others continue."
        )
    }

    private var growth: (word: String, sentence: String)? {
        // In an outage it grows because of the outage, and retries are a lag too.
        guard report.outages.isEmpty, report.cluster.failingServices.isEmpty, report.cluster.openTransactions.isEmpty,
            throttling.isEmpty, refused == nil, report.lanes.allSatisfy({ $0.refusal == nil }),
            let growth = report.cluster.lagPerSecond, growth >= 1,
            // The growth is that of the brokers' last round; what was behind then may be done.
            report.lags.contains(where: { $0.offsets ?? 0 > 0 })
        else { return nil }
        let isBusy = report.lanes.contains { $0.calls > 0 || $0.events > 0 }
        let cause =
            isBusy
            ? "more events arrive than the backend accepts; look at its latency and at the limits, or start more workers"
            : "no event has come to the worker, so this is not the backend; look at the brokers, and whether a topic takes "
                + "batches that unpack to hundreds of megabytes (`herald topics plan`), for which a worker stands still"
        return (
            ReadinessWarning.lagGrowing.rawValue,
            "The lag grows by \(Int(growth.rounded())) offsets each second: \(cause)."
        )
    }

    /// The latest of publishers' faults, for a while after it was seen last.
    private var faults: (word: String, sentence: String)? {
        let recent = report.cluster.faultyRecords.filter {
            now.time(since: $0.at) < Self.faultAge
        }
        guard let latest = recent.max(by: { $0.at < $1.at }) else { return nil }
        let others = recent.count == 1 ? "" : ", and \(recent.count - 1) more such faults"
        return (
            ReadinessWarning.publisherFaults.rawValue,
            "Records of \(latest.topic) \(latest.fault.words) (\(latest.exampleText))\(others), so that "
                + "\(latest.fault.consequence): \(latest.fault.remedy)."
        )
    }

    private static let faultAge: Milliseconds = .minutes(15)

    /// The offsets that were passed over, those of the latest partition first, for long enough that a person sees it.
    private var passedOver: (word: String, sentence: String)? {
        let found = report.lanes.flatMap(\.meter.latestPassedOver).filter {
            now.time(since: $0.at) < Self.passedOverAge
        }
        return found.sorted { $0.at > $1.at }.map(\.what).sentence.map {
            (ReadinessWarning.offsetsPassedOver.rawValue, $0)
        }
    }

    private static let passedOverAge: Milliseconds = .hours(12)

    private static func word(_ isReachable: Bool?) -> String {
        switch isReachable {
        case true: "reachable"
        case false: "unreachable"
        case nil: "unknown"
        }
    }
}

extension [(String, JSONValue)] {
    fileprivate var object: JSONValue { .object(map { JSONValue.Member($0.0, $0.1) }) }
}
