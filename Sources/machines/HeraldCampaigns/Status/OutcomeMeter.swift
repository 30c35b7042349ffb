package import HeraldEvents
package import HeraldTime

/// How many outcomes came in each of the last seconds.
package struct OutcomeMeter: Sendable {
    package static let window = 30
    /// Fewer whole seconds say nothing of a speed: the first outcomes come in bursts.
    static let least: Int64 = 10

    private var counts = [Int](repeating: 0, count: window)
    /// The second of each place in `counts`.
    private var seconds = [Int64](repeating: .min, count: window)
    /// The first and the last moment of an outcome that was seen.
    package private(set) var first: WallTime?
    /// The last moment of an outcome that was seen.
    package private(set) var last: WallTime?

    package init() {}

    /// Takes a result; replays don't count.
    ///
    /// - Parameter now: when it was seen. What comes from a clock ahead of this one counts as of now.
    package mutating func add(_ result: NotificationResult, at now: WallTime) {
        guard result.replays == 0 else { return }
        let moment = min(result.completedAt, now)
        first = min(first ?? moment, moment)
        last = max(last ?? moment, moment)
        let second = moment.milliseconds / 1_000
        let place = Int(second % Int64(Self.window) + Int64(Self.window)) % Self.window
        guard second >= seconds[place] else { return }
        if seconds[place] < second { (seconds[place], counts[place]) = (second, 0) }
        counts[place] += 1
    }

    /// Outcomes a second in the whole seconds before this one, as far back as there were any, or to that moment; `nil` while
    /// that is too short to say it.
    package func perSecond(at now: WallTime, since beginning: WallTime? = nil) -> Double? {
        let present = now.milliseconds / 1_000
        let start = [first, beginning].compactMap { $0.map { $0.milliseconds / 1_000 } }
            .reduce(present - Int64(Self.window) + 1, max)
        let length = present - start
        guard length >= Self.least else { return nil }
        let count = zip(seconds, counts).reduce(0) { $0 + ((start..<present).contains($1.0) ? $1.1 : 0) }
        return Double(count) / Double(length)
    }
}
