import HeraldCore
public import HeraldEvents
public import HeraldTime

/// A push service none of whose calls gets through.
public struct FailingService: Sendable, Equatable {
    /// Its name.
    public var name: String
    /// The number of its calls within the time in view.
    public var calls: Int
    /// The end of most of them.
    public var end: CallEnd
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
    /// How long an answered call took on average within the time in view.
    public var time: Milliseconds
}

/// How the calls to push services went within the last minute.
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
struct ServiceTrend {
    /// The time in view (milliseconds).
    static let window: Milliseconds = .minutes(1)
    /// The number of calls whose failure, if all fail, is evidence.
    static let leastCalls = 10
    /// The same of rejected ones, which may be some events' own fault.
    static let leastRejected = 20
    /// A part of the calls beyond which refusals are told.
    static let refusedShare = 0.01
    /// An answer that takes this long on average is slow.
    static let slowness: Milliseconds = .seconds(1)

    /// The ends of each push service's calls since the beginning, in the order of the counters, and their durations.
    private struct Sample {
        var at: MonotonicTime
        var ends: [[Int]]
        var durations: [(count: Int, microseconds: Int64)]

        func refused(_ service: Int) -> Int {
            zip(CallEnd.allCases, ends[service]).reduce(0) { $0 + ($1.0 == .answered(.credentials) ? $1.1 : 0) }
        }
    }

    private var samples: [Sample] = []

    /// - Parameter names: the push services, in the order of the counters.
    mutating func look(at lanes: [LaneReport], names: [String], now: MonotonicTime) -> ServiceTroubles {
        let sample = Sample(
            at: now,
            ends: names.indices.map { service in
                CallEnd.allCases.map { end in lanes.reduce(0) { $0 + $1.counters.calls(end, service: service) } }
            },
            durations: names.indices.map { service in
                lanes.reduce(into: (0, 0)) { sum, lane in
                    let durations = lane.meter.callDurations[service]
                    sum = (sum.0 + durations.count, sum.1 &+ durations.sum)
                }
            })
        samples.append(sample)
        // The newest that is older than the window stays: it is what the window's calls are counted from.
        while samples.count > 2, now.time(since: samples[1].at) >= Self.window {
            samples.removeFirst()
        }
        guard let first = samples.first else { return ServiceTroubles() }
        let latest = names.indices.map { service in
            zip(CallEnd.allCases, zip(sample.ends[service], first.ends[service])).map { ($0, count: $1.0 - $1.1) }
        }
        let alive = latest.map { ends in ends.contains { $0.0 == .answered(.delivered) && $0.count > 0 } }
        var troubles = ServiceTroubles()
        troubles.failing = names.enumerated().compactMap { service, name in
            // What was not called says nothing.
            let ends = latest[service].filter { $0.0 != .oversized }
            let calls = ends.reduce(0) { $0 + $1.count }
            let isRejected = ends.contains { $0.0 == .answered(.rejected) && $0.count > 0 }
            guard !alive[service], calls >= (isRejected ? Self.leastRejected : Self.leastCalls),
                let most = ends.max(by: { $0.count < $1.count })
            else { return nil }
            let statuses = lanes.map { $0.meter.latestStatus[service] }.filter { $0.status > 0 }
            return FailingService(
                name: name, calls: calls, end: most.0, status: statuses.max { $0.at < $1.at }?.status ?? 0,
                isAlone: alive.contains(true))
        }
        troubles.refused = names.enumerated().compactMap { service, name in
            let calls = latest[service].reduce(0) { $0 + $1.count }
            let refused = sample.refused(service) - first.refused(service)
            guard alive[service], refused >= Self.leastCalls, Double(refused) > Self.refusedShare * Double(calls),
                isRefusing(service)
            else { return nil }
            return RefusedCalls(name: name, calls: calls, refused: refused)
        }
        troubles.slow = names.enumerated().compactMap { service, name in
            let (now, before) = (sample.durations[service], first.durations[service])
            let count = now.count - before.count
            guard count > 0 else { return nil }
            let mean = Milliseconds(count: (now.microseconds - before.microseconds) / Int64(count) / 1_000)
            return mean >= Self.slowness ? SlowService(name: name, time: mean) : nil
        }.sorted { $0.time > $1.time }
        return troubles
    }

    /// Whether calls were refused between each of the last three looks: a renewal of credentials ends what came before it.
    private func isRefusing(_ service: Int) -> Bool {
        let counts = samples.suffix(3).map { $0.refused(service) }
        return counts.count == 3 && counts[0] < counts[1] && counts[1] < counts[2]
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
            case .answered, .unanswered, .oversized: ("failed", "its notifications are retried")
            }
        let why =
            switch end {
            case .unanswered(let failure): " (\(failure.label))"
            case .throttled, .oversized: ""
            case .answered: status > 0 ? ", the latest with status \(status)" : ""
            }
        let isRefusal = [.answered(.rejected), .answered(.credentials)].contains(end)
        return Finding(
            .pushServiceFailing, title: "\(name) delivers nothing",
            "all \(calls) calls to \(name) within the last minute \(how)\(why); \(then)"
                + (isAlone ? ", and the others go on" : ""),
            place: [name],
            step: !isRefusal
                ? nil
                : isAlone
                    ? "check \(name)'s app, credentials and certificate in the backend: the others get through; then replay "
                        + "its dead letters"
                    : "check backend.url and backend.path, and \(name) in the backend; then replay its dead letters",
            numbers: ["calls": calls, "status": status])
    }
}
