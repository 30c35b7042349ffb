import HeraldTime

/// Counts in tenths of seconds, for the last three seconds.
struct SecondCount: Sendable, Equatable {
    static let tenth: Int64 = 100_000_000
    private static let length = 32

    private var counts = [Int32](repeating: 0, count: Self.length)
    /// The number of the tenth that is being filled, and its end.
    private var current: Int64 = 0
    private var currentEnds: Int64 = 0

    mutating func add(_ now: MonotonicTime) {
        if now.nanoseconds >= currentEnds { move(to: now.nanoseconds / Self.tenth) }
        counts[Int(current) & (Self.length - 1)] += 1
    }

    /// The count of the last second.
    mutating func latest(_ now: MonotonicTime) -> Double {
        move(to: now.nanoseconds / Self.tenth)
        // The tenth that is being filled counts only if it raises the count.
        return Double(max(sum(endingAt: current), sum(endingAt: current - 1)))
    }

    /// The rate per second in the last three full tenths.
    mutating func recent(_ now: MonotonicTime) -> Double {
        move(to: now.nanoseconds / Self.tenth)
        let sum = (current - 3..<current).reduce(0) { $0 + counts[Int($1) & (Self.length - 1)] }
        return Double(sum) / 0.3
    }

    /// The rate per second in the last three seconds.
    mutating func average(_ now: MonotonicTime) -> Double {
        move(to: now.nanoseconds / Self.tenth)
        return Double(sum(endingAt: current) + sum(endingAt: current - 10) + sum(endingAt: current - 20)) / 3
    }

    /// The count of the fullest of the last three seconds.
    mutating func most(_ now: MonotonicTime) -> Double {
        move(to: now.nanoseconds / Self.tenth)
        return Double((current - 20...current).map { sum(endingAt: $0) }.max() ?? 0)
    }

    private func sum(endingAt end: Int64) -> Int32 {
        var sum: Int32 = 0
        for tenth in end - 9...end { sum += counts[Int(tenth) & (Self.length - 1)] }
        return sum
    }

    private mutating func move(to tenth: Int64) {
        guard tenth > current else { return }
        for missed in max(current + 1, tenth - Int64(Self.length) + 1)...tenth {
            counts[Int(missed) & (Self.length - 1)] = 0
        }
        current = tenth
        currentEnds = (tenth + 1) * Self.tenth
    }
}
