import HeraldTime

/// What was so at one moment, over all workers.
struct NowPoint: Sendable, Equatable {
    var at: WallTime
    /// Notifications that ended each second, by push service and outcome; those that are 0 are left out.
    var outcomes: [WorkerNumbers.Series: Double] = [:]
    /// Calls that ended each second, by push service and result.
    var calls: [WorkerNumbers.Series: Double] = [:]
    /// `nil` when no worker says so.
    var inFlight: Double?
    var inFlightLimit: Double?
    /// How long the oldest event has waited (seconds).
    var oldestSeconds: Double?
    /// Offsets of request topics that are not done.
    var waiting: Int64?
    /// Offsets of retry topics that are not done.
    var retrying: Int64?
    /// Workers that answer, and those of them that deliver.
    var workers = 0
    var ready = 0
    /// The outages that are on anywhere.
    var outages: [String] = []
}

/// The points of the last minutes; the oldest make room.
struct NowHistory: Sendable {
    /// A point every so often.
    static let step = Duration.seconds(2)
    /// Ten minutes.
    static let capacity = 300

    private var ring: [NowPoint] = []
    private var next = 0

    init() {
        ring.reserveCapacity(Self.capacity)
    }

    mutating func add(_ point: NowPoint) {
        if ring.count < Self.capacity {
            ring.append(point)
        } else {
            ring[next] = point
        }
        next = (next + 1) % Self.capacity
    }

    /// The oldest first.
    var points: [NowPoint] {
        ring.count < Self.capacity ? ring : Array(ring[next...] + ring[..<next])
    }

    /// How many calls a second ended so, over the points of the last `seconds`; `nil` without any.
    func calls(lastSeconds seconds: Int64, now: WallTime) -> [WorkerNumbers.Series: Double]? {
        let recent = points.filter { (0..<seconds * 1_000).contains(now.milliseconds(since: $0.at)) }
        guard !recent.isEmpty else { return nil }
        var sums: [WorkerNumbers.Series: Double] = [:]
        for point in recent { sums.merge(point.calls, uniquingKeysWith: +) }
        return sums.mapValues { $0 / Double(recent.count) }
    }
}
