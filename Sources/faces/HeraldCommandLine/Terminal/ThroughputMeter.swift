internal import HeraldText

/// Measures the recent growth of a count, for the rate and the time left on a progress line.
package struct ThroughputMeter: Sendable {
    /// The time that must pass before the first result.
    private static let shortest = Duration.seconds(1)
    private static let interval = Duration.milliseconds(500)

    private let window: Duration
    private var samples: [(at: ContinuousClock.Instant, count: Int64)] = []

    /// - Parameter window: The measured time span; the default is long enough that a pause of some seconds does not
    ///   look like the end.
    package init(window: Duration = .seconds(30)) { self.window = window }

    package mutating func note(_ count: Int64, at now: ContinuousClock.Instant = .now) {
        if let last = samples.last, now - last.at < Self.interval, samples.count > 1 {
            samples[samples.count - 1].count = count
            return
        }
        samples.append((now, count))
        samples.removeAll { now - $0.at > window }
    }

    /// The growth per second; `nil` before enough time has passed.
    package var perSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.at - first.at >= Self.shortest else {
            return nil
        }
        return max(0, Double(last.count - first.count)) / ((last.at - first.at) / .seconds(1))
    }

    /// The rate and the time left, as `  120/s  about 5m left`; empty while unknown.
    package func words(left: Int64) -> String {
        guard let perSecond, perSecond > 0 else { return "" }
        let rate = perSecond >= 10 ? "\(Int(saturating: perSecond))" : "\((perSecond * 10).rounded() / 10)"
        let seconds = (Double(max(0, left)) / perSecond).rounded(.up)
        guard left > 0, seconds < 1e9 else { return "  \(rate)/s" }
        return "  \(rate)/s  about \(Self.rough(Int64(seconds))) left"
    }

    private static func rough(_ seconds: Int64) -> String {
        let units: [(name: String, seconds: Int64)] = [("h", 3_600), ("m", 60)]
        for unit in units where seconds >= 2 * unit.seconds {
            return "\((seconds + unit.seconds - 1) / unit.seconds)\(unit.name)"
        }
        return "\(seconds)s"
    }
}
