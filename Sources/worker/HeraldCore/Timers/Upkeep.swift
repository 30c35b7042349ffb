import HeraldTime

/// What is done now and then.
struct Upkeep: Sendable {
    let intervalMilliseconds: Int64
    private(set) var next = MonotonicTime.distantPast

    init(every intervalMilliseconds: Int64) { self.intervalMilliseconds = intervalMilliseconds }

    mutating func done(now: MonotonicTime) { next = now.advanced(byMilliseconds: intervalMilliseconds) }
}
