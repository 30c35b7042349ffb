import HeraldCore
import HeraldEvents
import HeraldHTTP
import HeraldKafka
import HeraldTelemetry
import HeraldText
import HeraldTime
import HeraldWorker

/// What a worker answers about itself, from the same findings: `/readyz` for probes and people, `/status` for programs.
struct StatusPage {
    private let readiness: Readiness
    private let report: WorkerReport
    private let reasons: [Finding]

    init(_ report: WorkerReport, now: MonotonicTime) {
        readiness = Readiness(report, now: now)
        self.report = report
        reasons = readiness.reasons
    }

    /// 200 while events are delivered, else 503.
    var readyz: HTTPResponse {
        func json(_ finding: Finding) -> JSONValue {
            .present([
                .init("reason", .string(finding.key)), .init("sentence", .string(finding.sentence)),
                .init("since", .text(finding.since.map(RFC3339.text))),
            ])
        }
        return response([], json, status: reasons.isEmpty ? 200 : 503)
    }

    /// 200 whatever it says: all fields of the findings, and the numbers that add up over workers.
    func status(_ process: ProcessFacts, now: Moment) -> HTTPResponse {
        response(
            [
                .init("version", .string(process.facts.version)),
                .init("startSeconds", process.usage.map { .number($0.startSeconds) } ?? .null),
                .init("inFlight", .integer(sum(\.calls))), .init("inFlightLimit", .integer(sum(\.inFlightLimit))),
                .init("oldestSeconds", .number((report.oldestEventAges(now: now).max() ?? .zero).inSeconds)),
                .init("services", .array(services)), .init("endToEnd", .array(endToEnd)),
            ], \.json, status: 200)
    }

    private func response(
        _ more: [JSONValue.Member], _ json: (Finding) -> JSONValue, status: Int
    ) -> HTTPResponse {
        let members: [JSONValue.Member] = [
            .init("ready", .bool(reasons.isEmpty)), .init("reasons", .array(reasons.map(json))),
            .init("warnings", .array(readiness.warnings.map(json))),
            .init("group", ["name": .string(report.group), "member": .bool(report.isMember)]),
            .init(
                "assignment",
                [
                    "lanes": .integer(report.lanes.count { !$0.hasEnded }),
                    "partitions": .integer(sum { $0.partitions.count }),
                ]),
            .init("lag", lag), .init("waiting", waiting),
            .init("outages", .array(report.outages.map { .string($0.reason.word) })),
            .init("brokers", .string(Self.word(readiness.areBrokersReachable))),
            .init("silentBrokers", .array(report.cluster.silentBrokers.map { .string($0.description) })),
            .init("unusablePartitions", .array(report.cluster.unusable.map { .string("\($0)") })),
            .init("backend", .string(Self.word(readiness.isBackendReachable))),
        ]
        return .json(Array((JSONValue.object(members + more).pretty + "\n").utf8), status: status)
    }

    private func sum(_ value: (LaneReport) -> Int) -> Int { report.lanes.reduce(0) { $0 + value($1) } }

    private var lag: JSONValue {
        let (all, known) = (report.lags, report.lags.compactMap(\.offsets))
        return [
            "offsets": known.isEmpty && !all.isEmpty ? .null : .integer(Int(known.reduce(0, +))),
            "growthPerSecond": report.cluster.lagPerSecond.map { .integer(Int($0.rounded())) } ?? .null,
        ]
    }

    /// How many events in memory wait, by what for; those that are being called do not.
    private var waiting: JSONValue {
        .object(
            WaitReason.Kind.allCases.filter { $0.isWait && report.waiting(for: $0) > 0 }
                .map { .init($0.word, .integer(report.waiting(for: $0))) })
    }

    /// What has ended since the start by push service, the last of which is of events that name none; ends that never came
    /// are left out.
    private var services: [JSONValue] {
        func counts<End>(_ ends: [End], _ word: (End) -> String, _ count: (End, LaneReport) -> Int) -> JSONValue {
            .object(
                ends.compactMap { end in
                    let count = sum { count(end, $0) }
                    return count > 0 ? .init(word(end), .integer(count)) : nil
                })
        }
        return (report.pushServices.enumerated().map { ($0, $1) } + [(nil, "")]).map { (place: Int?, name: String) in
            let limits = place.map { place in
                report.lanes.map { $0.rateLimits.indices.contains(place) ? $0.rateLimits[place] : nil }
            }
            // One lane without a limit may call as often as it likes.
            let limit = limits?.reduce(0.0) { sum, limit in limit.flatMap { one in sum.map { $0 + one } } }
            return .present([
                .init("pns", .string(name)),
                .init(
                    "notifications",
                    counts(Outcome.allCases, \.rawValue) { $1.counters.notifications($0, service: place) }),
                .init(
                    "calls",
                    place.map { place in
                        counts(CallEnd.allCases, \.word) { $1.counters.calls($0, service: place) }
                    } ?? .null),
                .init("callsPerSecond", limit.flatMap { $0 }.map(JSONValue.number) ?? .null),
            ])
        }
    }

    /// How many notifications ended within so many seconds of their publication, of all request topics; `null`: however long.
    private var endToEnd: [JSONValue] {
        var all = DurationHistogram.ofEvents
        for lane in report.lanes {
            for place in 0..<lane.counters.endToEnd.count { all.add(lane.counters.endToEnd[place]) }
        }
        var count = 0
        return all.counts.enumerated().map { index, own in
            count += own
            let bound = all.bounds.indices.contains(index) ? Double(all.bounds[index]) / 1_000_000 : nil
            return ["withinSeconds": bound.map(JSONValue.number) ?? .null, "count": .integer(count)]
        }
    }

    private static func word(_ isReachable: Bool?) -> String {
        switch isReachable {
        case true: "reachable"
        case false: "unreachable"
        case nil: "unknown"
        }
    }
}
