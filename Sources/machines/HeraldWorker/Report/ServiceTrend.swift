import HeraldCore
public import HeraldEvents
public import HeraldTime

/// A push service none of whose newest calls gets through.
public struct FailingService: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// The number of its newest calls, without those that only their campaign is judged by.
    public var calls: Int
    /// The end of most of them.
    public var end: CallEnd
    /// The number of those that ended so.
    public var ended: Int
    /// The status of the latest of all that were answered; 0 when none was.
    public var status = 0
    /// Whether calls to others get through, so that the way to the backend is right.
    public var isAlone = false
}

/// A push service some of whose calls are refused with 401 or 403 while others get through.
public struct RefusedCalls: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// The number of its calls within the time in view.
    public var calls: Int
    /// The number of those that were refused.
    public var refused: Int
}

/// A push service whose calls take long.
public struct SlowService: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// How long an answered call took on average within the last minute; `nil` when a part of the newest calls had no
    /// answer within `backend.timeout`.
    public var time: Milliseconds?
}

/// How the newest calls to push services went.
public struct ServiceTroubles: Sendable, Equatable {
    /// Those of which every call failed.
    public var failing: [FailingService] = []
    /// Those of which a part is refused.
    public var refused: [RefusedCalls] = []
    /// Those whose calls take long, the slowest first.
    public var slow: [SlowService] = []

    /// None.
    public init() {}
}

/// The ends and durations of each push service's calls over the last minute: pure.
///
/// What happens while a push service is held, or in an outage, is told as that, and does not count afterwards.
struct ServiceTrend {
    /// Refusals and durations are those of this time.
    static let window: Milliseconds = .minutes(1)
    /// The number of refused calls that is told.
    static let leastRefused = 10
    /// A part of the calls beyond which refusals are told.
    static let refusedShare = 0.01
    /// The time between looks by which refusals go on.
    static let refusalStep: Milliseconds = .seconds(10)
    /// An answer that takes this long on average is slow.
    static let slowness: Milliseconds = .seconds(1)
    /// A part of the newest calls without an answer in time from which on a push service is slow.
    static let unansweredShare = 0.2

    /// Each push service's calls since the beginning.
    private struct Sample {
        var at: MonotonicTime
        /// By their ends, in the order of ``CallEnd/allCases``, without those that only their campaign is judged by.
        var ends: [[Int]]
        var durations: [(count: Int, microseconds: Int64)]
        /// Those that were held, or in an outage.
        var held: Set<Int>

        func count(_ end: CallEnd, _ service: Int) -> Int {
            CallEnd.allCases.firstIndex(of: end).map { ends[service][$0] } ?? 0
        }
    }

    private var samples: [Sample] = []

    /// - Parameter names: the push services, in the order of the counters.
    mutating func look(at lanes: [LaneReport], names: [String], now: MonotonicTime) -> ServiceTroubles {
        let isInOutage = lanes.contains { $0.outage != nil }
        let held = Set(lanes.flatMap(\.holds).map(\.service))
        let sample = Sample(
            at: now,
            ends: names.indices.map { service in
                CallEnd.allCases.map { end in
                    lanes.reduce(0) { sum, lane in
                        let other =
                            end == .answered(.rejected) ? lane.counters.rejectionsOfCampaigns(service: service) : 0
                        return sum + lane.counters.calls(end, service: service) - other
                    }
                }
            },
            durations: names.indices.map { service in
                lanes.reduce(into: (0, 0)) { sum, lane in
                    let durations = lane.meter.callDurations[service]
                    sum = (sum.0 + durations.count, sum.1 &+ durations.sum)
                }
            }, held: isInOutage ? Set(names.indices) : held)
        samples.append(sample)
        // The newest that is older than the window stays: it is what the window's calls are counted from.
        while samples.count > 2, now.time(since: samples[1].at) >= Self.window {
            samples.removeFirst()
        }
        guard let first = samples.first else { return ServiceTroubles() }
        let newest = names.indices.map { newestEnds($0, now: now) }
        let alive = newest.map { $0[.answered(.delivered), default: 0] > 0 }
        var troubles = ServiceTroubles()
        troubles.failing = names.enumerated().compactMap { service, name in
            // What was not called says nothing.
            let ends = newest[service].filter { $0.key != .oversized }
            let calls = ends.values.reduce(0, +)
            guard !sample.held.contains(service),
                NewestCalls.isDead(
                    delivered: alive[service] ? 1 : 0, rejected: Double(ends[.answered(.rejected), default: 0]),
                    undelivered: Double(calls)),
                let most = CallEnd.allCases.max(by: { ends[$0, default: 0] < ends[$1, default: 0] })
            else { return nil }
            // What was answered before says nothing of those that had no answer.
            let answers: [LaneReport] = if case .unanswered = most { [] } else { lanes }
            let statuses = answers.map { $0.meter.latestStatus[service] }.filter { $0.status > 0 }
            return FailingService(
                name: name, calls: calls, end: most, ended: ends[most, default: 0],
                status: statuses.max { $0.at < $1.at }?.status ?? 0, isAlone: alive.contains(true))
        }
        troubles.refused = names.enumerated().compactMap { service, name in
            func since(_ end: CallEnd) -> Int { sample.count(end, service) - first.count(end, service) }
            let calls = CallEnd.allCases.reduce(0) { $0 + since($1) }
            let refused = since(.answered(.credentials))
            guard since(.answered(.delivered)) > 0, refused >= Self.leastRefused,
                Double(refused) > Self.refusedShare * Double(calls), isRefusing(service, now: now)
            else { return nil }
            return RefusedCalls(name: name, calls: calls, refused: refused)
        }
        troubles.slow = names.enumerated().compactMap { service, name -> SlowService? in
            let unanswered = Double(newest[service][.unanswered(.timeout), default: 0])
            if unanswered > 0, unanswered >= Self.unansweredShare * Double(newest[service].values.reduce(0, +)) {
                return SlowService(name: name, time: nil)
            }
            let (now, before) = (sample.durations[service], first.durations[service])
            let count = now.count - before.count
            guard count > 0 else { return nil }
            let mean = Milliseconds(count: (now.microseconds - before.microseconds) / Int64(count) / 1_000)
            return mean >= Self.slowness ? SlowService(name: name, time: mean) : nil
        }.sorted { $0.time ?? .minutes(60) > $1.time ?? .minutes(60) }
        return troubles
    }

    /// The ends of a push service's newest calls, since it was held last.
    private func newestEnds(_ service: Int, now: MonotonicTime) -> [CallEnd: Int] {
        var found: [CallEnd: Int] = [:]
        for (later, former) in zip(samples, samples.dropFirst()).map({ ($1, $0) }).reversed() {
            let known = Double(found.values.reduce(0, +))
            guard !later.held.contains(service),
                NewestCalls.include(age: now.time(since: later.at), behind: known)
            else { break }
            for end in CallEnd.allCases {
                let count = later.count(end, service) - former.count(end, service)
                if count > 0 { found[end, default: 0] += count }
            }
        }
        return found
    }

    /// Whether calls were refused in each of the last two steps: a renewal of credentials ends what came before it.
    private func isRefusing(_ service: Int, now: MonotonicTime) -> Bool {
        let counts = [.zero, Self.refusalStep, 2 * Self.refusalStep].compactMap { age in
            samples.last { now.time(since: $0.at) >= age }?.count(.answered(.credentials), service)
        }
        return counts.count == 3 && counts[2] < counts[1] && counts[1] < counts[0]
    }
}

extension RefusedCalls {
    /// What is wrong, and what follows.
    package var finding: Finding {
        Finding(
            .credentials,
            "\(refused) of the \(calls) calls to \(name) within the last minute were refused with 401 or 403, and others got "
                + "through; what is refused again after a renewal becomes a dead letter", place: [name],
            numbers: ["calls": calls, "refused": refused])
    }
}

extension FailingService {
    /// What is wrong, and what to do about it.
    package var finding: Finding {
        let (how, then) =
            switch end {
            case .answered(.rejected): ("were rejected", "its notifications become dead letters")
            case .answered(.credentials): ("were refused", "its notifications wait or become dead letters")
            case .throttled: ("were answered with 429", "its notifications are retried later")
            case .unanswered(.timeout): ("had no answer within backend.timeout", "its notifications are retried")
            case .answered, .unanswered, .oversized: ("failed", "its notifications are retried")
            }
        let why =
            switch end {
            case .unanswered(.timeout), .throttled, .oversized: ""
            case .unanswered(let failure): " (\(failure.label))"
            case .answered: status > 0 ? ", the latest with status \(status)" : ""
            }
        let which =
            ended == calls
            ? "all of the last \(calls) calls to \(name) \(how)\(why)"
            : "\(ended) of the last \(calls) calls to \(name) \(how)\(why), and none got through"
        let isRefusal = [.answered(.rejected), .answered(.credentials)].contains(end)
        return Finding(
            .pushServiceFailing, title: "\(name) delivers nothing",
            "\(which); \(then)" + (isAlone ? ", and the others go on" : ""),
            place: [name],
            step: !isRefusal
                ? end == .unanswered(.timeout) && isAlone
                    ? "see in the backend why \(name) hangs: the others are answered. A call that timed out may have arrived"
                    : nil
                : isAlone
                    ? "check \(name)'s app, credentials and certificate in the backend: the others get through; then replay "
                        + "its dead letters"
                    : "check backend.url and backend.path, and \(name) in the backend; then replay its dead letters",
            numbers: ["calls": calls, "ended": ended, "status": status])
    }
}
