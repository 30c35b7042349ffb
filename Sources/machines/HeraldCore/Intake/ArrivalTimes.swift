import HeraldTime

/// The arrivals of numbered entries within a window of time.
///
/// Entries come in the order of their numbers and, as is made sure here, of their times. So a mark for each tick in
/// which some came says it all: at most 1025 marks, however many entries. A tick is the least power of two, in
/// milliseconds, of which 1024 make a window. What came within the window is always known, and what came two ticks
/// before it or earlier never.
struct ArrivalTimes {
    private struct Mark: BitwiseCopyable {
        var tick: Int64
        /// The number of the first entry that came in this tick.
        var first: Int
    }

    private static let ticksAtMost: Int64 = 1_024

    private let tickBits: Int64
    private let windowTicks: Int64
    /// A ring of marks, their ticks and numbers ascending.
    private var marks: [Mark] = []
    private var oldest = 0
    private var count = 0

    /// - Parameter window: More than zero.
    init(window: Milliseconds) {
        let last = window.count - 1
        var bits: Int64 = 0
        while last >> bits >= Self.ticksAtMost { bits += 1 }
        tickBits = bits
        windowTicks = last >> bits + 1
    }

    var byteCount: Int { marks.capacity * MemoryLayout<Mark>.stride }

    /// The number of the first entry whose time is known; `nil` when there is none.
    var first: Int? { count > 0 ? self[0].first : nil }

    /// The entry with this number, the next one, arrived.
    ///
    /// A time before that of the entry before counts as the same time.
    ///
    /// - Returns: The number of the first entry that is within the window as of this arrival, or this one's own.
    mutating func note(_ number: Int, at time: WallTime) -> Int {
        let tick = time.milliseconds >> tickBits
        if count == 0 || self[count - 1].tick < tick { append(Mark(tick: tick, first: number)) }
        return self[firstMark(since: horizon(of: self[count - 1].tick))].first
    }

    /// Forgets the entries before the window that ends now; later entries count as having arrived now.
    mutating func expire(now: WallTime) {
        let tick = now.milliseconds >> tickBits
        var later: Mark?
        while count > 0, self[count - 1].tick > tick {
            later = self[count - 1]
            count -= 1
        }
        if let later, count == 0 || self[count - 1].tick < tick { append(Mark(tick: tick, first: later.first)) }
        let horizon = horizon(of: tick)
        while count > 0, self[0].tick < horizon { dropOldest() }
    }

    mutating func removeAll() {
        count = 0
    }

    private subscript(index: Int) -> Mark {
        let place = oldest &+ index
        return marks[place < marks.count ? place : place &- marks.count]
    }

    private mutating func append(_ mark: Mark) {
        if marks.isEmpty { marks = Array(repeating: mark, count: Int(windowTicks) + 1) }
        // As many ascending ticks as there are in a window, and one: the oldest is before the window of the new one.
        if count == marks.count { dropOldest() }
        let place = oldest &+ count
        marks[place < marks.count ? place : place &- marks.count] = mark
        count += 1
    }

    private mutating func dropOldest() {
        oldest = oldest + 1 == marks.count ? 0 : oldest + 1
        count -= 1
    }

    /// The first tick of the window that ends with `tick`.
    private func horizon(of tick: Int64) -> Int64 {
        let (first, overflow) = tick.subtractingReportingOverflow(windowTicks)
        return overflow ? .min : first
    }

    /// The first mark whose tick is not before `horizon`; there is one.
    private func firstMark(since horizon: Int64) -> Int {
        if self[0].tick >= horizon { return 0 }
        var before = 0
        var after = count - 1
        while after - before > 1 {
            let middle = (before + after) / 2
            if self[middle].tick < horizon { before = middle } else { after = middle }
        }
        return after
    }
}
