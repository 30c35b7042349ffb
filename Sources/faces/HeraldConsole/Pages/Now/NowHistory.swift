import HeraldEvents
import HeraldTime

struct NowPoint: Sendable, Equatable {
    var at: WallTime
    /// Notifications that ended each second, by push service and outcome; those that are 0 are left out.
    var outcomes: [RateMeter.Series: Double] = [:]
    /// Calls that ended each second, by push service and result.
    var calls: [RateMeter.Series: Double] = [:]
    /// `nil` when no worker says so.
    var inFlight: Double?
    var inFlightLimit: Double?
    /// How long the oldest event has waited (seconds).
    var oldestSeconds: Double?
    /// Within how many seconds of their publication half of those ended that ended since the last point, and 99 %.
    var halfSeconds: Double?
    var mostSeconds: Double?
    /// Offsets of request topics that are not done.
    var waiting: Int64?
    /// Offsets of retry topics that are not done.
    var retrying: Int64?
    /// Workers that answer, and those of them that deliver.
    var workers = 0
    var ready = 0
    var outages: [String] = []
}

/// The newest elements; the oldest make room.
struct Ring<Element: Sendable>: Sendable {
    private let limit: Int
    private(set) var unordered: [Element] = []
    private var next = 0

    init(limit: Int) { self.limit = limit }

    mutating func add(_ element: Element) {
        if unordered.count < limit { unordered.append(element) } else { unordered[next] = element }
        next = (next + 1) % limit
    }

    /// The oldest first.
    var elements: [Element] {
        Array(unordered.count < limit ? unordered[...] : unordered[next...] + unordered[..<next])
    }
}

/// The points of the last minutes, the oldest first.
struct NowHistory: Sendable {
    static let step = Duration.seconds(2)
    /// Ten minutes.
    static let capacity = 300

    private var ring = Ring<NowPoint>(limit: capacity)

    mutating func add(_ point: NowPoint) { ring.add(point) }

    var points: [NowPoint] { ring.elements }

    /// When a worker answered last; `nil` when none has.
    var lastAnswer: WallTime? { points.last { $0.workers > 0 }?.at }

    /// How each push service's newest calls ended: those of ten seconds, or of as many more, up to a minute, as it takes to
    /// know something.
    func newestCalls(now: WallTime) -> [String: ServiceCalls] {
        var found: [String: ServiceCalls] = [:]
        // Once something was delivered before it failed, it is known since when nothing is.
        var dated: Set<String> = []
        for (index, point) in points.enumerated().reversed() {
            let age = now.time(since: point.at)
            let seconds = index > 0 ? point.at.time(since: points[index - 1].at).inSeconds : 0
            // A point counts with all of its calls: a part of them says nothing about how many fail.
            let known = found
            for (series, rate) in point.calls where rate > 0 && age >= .zero {
                var calls = found[series.service] ?? ServiceCalls()
                let later = known[series.service]?.total ?? 0
                if NewestCalls.include(age: age, behind: later) {
                    calls.ends[series.end, default: 0] += rate * max(seconds, 1)
                }
                calls.lastAt[series.end] = calls.lastAt[series.end] ?? point.at
                if ServiceCalls.isDelivered(series.end) { dated.insert(series.service) }
                if ServiceCalls.isUndelivered(series.end), !dated.contains(series.service) {
                    calls.nothingSince = point.at
                }
                found[series.service] = calls
            }
        }
        let begin = points.first { $0.workers > 0 }?.at
        for (service, calls) in found where !dated.contains(service) {
            guard let since = calls.nothingSince, let begin else { continue }
            found[service]?.mayBeOlder = since.time(since: begin) < NewestCalls.shortest
        }
        return found.filter { !$0.value.ends.isEmpty }
    }

    /// By how many events what waits has grown each second of the last half a minute; `nil` before a third of that was seen.
    func lagGrowth(now: WallTime) -> Double? {
        let known = points.filter { $0.waiting != nil && now.time(since: $0.at) <= Self.growthSpan }
        guard let first = known.first, let last = known.last, let before = first.waiting, let after = last.waiting
        else {
            return nil
        }
        let span = last.at.time(since: first.at)
        guard span >= NewestCalls.shortest else { return nil }
        return Double(after - before) * 1_000 / Double(span.count)
    }

    private static let growthSpan: Milliseconds = .seconds(30)
}
