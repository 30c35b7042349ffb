/// The done offsets of one assigned partition, and the limit of a commit.
///
/// Completions come in any order; the *watermark* is the offset below which everything is done, which may be committed.
/// Work done beyond it is a bit each, in a window that starts at the watermark's word; a commit carries it as a
/// ``CompletionMap``, so that the partition's next owner does not repeat it.
///
/// Offsets that never arrive (transaction markers, compacted or aborted records) count as done as soon as a later
/// offset is taken, because a consumer is given a partition's offsets in rising order.
package struct OffsetTracker {
    /// The result of taking an offset.
    package enum Acceptance: Equatable {
        /// Its record is to be settled.
        case new
        /// An earlier owner of the partition has settled it.
        case doneBefore
        /// It was taken already.
        case repeated
    }

    /// Everything below is done: the next offset to commit.
    package private(set) var watermark: Int64
    /// The next offset that may arrive: one above the highest taken.
    package private(set) var next: Int64

    /// One bit for each offset from `windowStart` on, 1 = done; a ring of words.
    private var words: [UInt64]
    /// The offset of bit 0 of the ring's first word; a multiple of 64.
    private var windowStart: Int64
    /// The ring's first word.
    private var first = 0
    /// One above the highest offset that an earlier owner has done, and the number of runs in its map.
    private(set) var mapEnd: Int64
    private var mapRuns = 0
    /// The number of offsets taken and not complete.
    private var open = 0
    /// The number of them that the next commit will report as done.
    private var decided = 0
    /// The numbers of changes, and of those that the broker has acknowledged.
    private var changes = 0
    private var committedChanges = 0

    /// A tracker for an assignment that starts at `offset`, with the work done beyond it before.
    package init(startingAt offset: Int64, done map: CompletionMap = CompletionMap()) {
        watermark = offset
        next = offset
        windowStart = offset & ~63
        mapEnd = offset
        words = Array(repeating: 0, count: 16)
        // Offsets below the start in its word are done already.
        words[0] = (UInt64(1) << UInt64(offset & 63)) &- 1
        for range in map.done {
            reserve(upTo: range.upperBound)
            set(range)
            mapEnd = range.upperBound
            mapRuns += 1
        }
    }

    /// The number of taken offsets that the next commit will not report as done.
    var undecided: Int { open - decided }

    /// A tracker of a topic that was recreated, whose first offset is to be committed in place of the old topic's.
    package init(restartingAt offset: Int64) {
        self.init(startingAt: offset)
        changes = 1
    }

    /// Cuts the log: no taken record at `offset` or after it is there any more, and a commit has to say so.
    ///
    /// Undone offsets before it stay so.
    mutating func cut(at offset: Int64) {
        var kept = CompletionMap()
        for range in completions.done where range.lowerBound < offset {
            kept.add(range.lowerBound..<min(range.upperBound, offset))
        }
        var shortened = OffsetTracker(startingAt: min(watermark, offset), done: kept)
        (shortened.changes, shortened.committedChanges) = (changes + 1, committedChanges)
        if shortened.next < offset {
            shortened.reserve(upTo: offset)
            let done = kept.done.reduce(0) { $0 + Int($1.count) }
            shortened.open = Int(offset - shortened.next) - done
            shortened.next = offset
            shortened.decided = decided
        }
        self = shortened
    }

    /// The number of offsets between the watermark and the highest taken one.
    var distance: Int64 { next - watermark }

    /// Whether `offset` may be taken: the map beyond the watermark must fit into a commit, whatever completes.
    package func mayTake(_ offset: Int64) -> Bool {
        fits(offset, into: CompletionMap.payloadLimit)
    }

    /// Whether a partition that was full is worth fetching again from `offset`.
    func hasMuchRoom(for offset: Int64) -> Bool {
        fits(offset, into: CompletionMap.payloadLimit / 4 * 3)
    }

    /// Whether the map fits in any case once `offset` is taken.
    private func fits(_ offset: Int64, into limit: Int) -> Bool {
        // Nothing is open, so the map needs nothing before it.
        if watermark == next { return true }
        // Every done run lies after the watermark, an open offset, or an open run of the earlier owner's map.
        let runs = undecided + 2 + (next < mapEnd ? mapRuns : 0)
        return CompletionMap.fits(runs: runs, within: max(offset + 1, mapEnd) - watermark, into: limit)
    }

    /// Whether a commit would tell the broker something new.
    package var hasUncommitted: Bool { changes > committedChanges }

    /// A mark of this moment, for ``acknowledge(_:)``.
    package var mark: Int { changes }

    /// Notes that `offset` was taken.
    package mutating func accept(_ offset: Int64) -> Acceptance {
        guard offset >= next else { return .repeated }
        if offset > next {
            changes += 1
            skip(to: offset)
        }
        reserve(upTo: offset + 1)
        let wasDone = words[index(of: offset)] & bit(offset) != 0
        if wasDone { changes += 1 } else { open += 1 }
        next = offset + 1
        advance()
        return wasDone ? .doneBefore : .new
    }

    /// Notes that the partition was read up to `offset`: missing offsets below it will never come.
    ///
    /// True when that is news.
    package mutating func reachEnd(_ offset: Int64) -> Bool {
        guard offset > next, watermark == next || offset - watermark < CompletionMap.farthest else { return false }
        changes += 1
        skip(to: offset)
        next = max(next, offset)
        advance()
        return true
    }

    /// Takes the new ones among unreadable offsets; the first undone one stands for all of them.
    ///
    /// - Returns: That one; `nil` when all are done.
    package mutating func pass(_ offsets: Range<Int64>) -> Int64? {
        // Only a batch made for it is that long.
        var first = max(offsets.lowerBound, next, offsets.upperBound - CompletionMap.farthest + 1)
        while first < offsets.upperBound, accept(first) != .new { first += 1 }
        _ = reachEnd(offsets.upperBound)
        return first < offsets.upperBound ? first : nil
    }

    /// Skips offsets up to `offset`, which will not come any more.
    private mutating func skip(to offset: Int64) {
        if watermark == next && offset >= mapEnd {
            // Nothing is open: however wide the gap is, there is nothing to remember below it.
            let (changes, committedChanges) = (changes, committedChanges)
            self = OffsetTracker(startingAt: offset)
            self.changes = changes
            self.committedChanges = committedChanges
        } else {
            reserve(upTo: offset)
            set(next..<offset)
        }
    }

    /// Notes that all of an `offset`'s records are durable.
    package mutating func complete(_ offset: Int64) {
        precondition(offset >= watermark && offset < next, "an offset completes once, and after it was taken")
        changes += 1
        open -= 1
        set(offset)
        if offset == watermark { advance() }
    }

    /// Notes that the next commit will report one more offset as done.
    mutating func decide() {
        decided += 1
    }

    /// Notes that it will not report one of them after all.
    mutating func undecide() {
        decided -= 1
    }

    /// Notes that a decided `offset`'s records became durable together with a commit that reported it.
    mutating func completeAcknowledged(_ offset: Int64) {
        complete(offset)
        decided -= 1
        committedChanges += 1
    }

    /// Notes that the broker has acknowledged a commit of the state at `mark`.
    package mutating func acknowledge(_ mark: Int) {
        committedChanges = max(committedChanges, mark)
    }

    /// Whether `offset` was completed, here or by an earlier owner, or never arrived.
    func isDone(_ offset: Int64) -> Bool {
        if offset < watermark { return true }
        guard offset < max(next, mapEnd) else { return false }
        return words[index(of: offset)] & bit(offset) != 0
    }

    /// The number of these offsets that were taken, or done by an earlier owner.
    func accepted(of offsets: Range<Int64>) -> Int {
        let beyond = offsets.clamped(to: next..<max(next, mapEnd))
        return offsets.clamped(to: 0..<next).count + beyond.count(where: isDone)
    }

    /// The map of work done beyond the watermark.
    package var completions: CompletionMap {
        var map = CompletionMap()
        let end = max(next, mapEnd)
        var offset = watermark
        while offset < end {
            // A word that is all open or all done is one step.
            let word = words[index(of: offset)]
            if offset & 63 == 0, word == 0 || word == .max, offset + 64 <= end {
                if word == .max { map.add(offset..<offset + 64) }
                offset += 64
            } else {
                if word & bit(offset) != 0 { map.add(offset..<offset + 1) }
                offset += 1
            }
        }
        return map
    }

    private func bit(_ offset: Int64) -> UInt64 { 1 << UInt64(offset & 63) }

    private func index(of offset: Int64) -> Int {
        (first + Int((offset - windowStart) >> 6)) & (words.count - 1)
    }

    private mutating func set(_ offset: Int64) {
        words[index(of: offset)] |= bit(offset)
    }

    private mutating func set(_ range: Range<Int64>) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            // The part within one word.
            let end = min(range.upperBound, (offset | 63) + 1)
            let bits = end - offset == 64 ? .max : (UInt64(1) << UInt64(end - offset)) - 1
            words[index(of: offset)] |= bits << UInt64(offset & 63)
            offset = end
        }
    }

    /// Moves the watermark over done offsets, a word at a time, and returns the words behind it to the ring.
    private mutating func advance() {
        while watermark < next {
            let word = words[first] | ((UInt64(1) << UInt64(watermark & 63)) &- 1)
            let done = Int64(word == .max ? 64 : (~word).trailingZeroBitCount)
            watermark = min(windowStart + done, next)
            guard done == 64, watermark == windowStart + 64 else { return }
            words[first] = 0
            first = (first + 1) & (words.count - 1)
            windowStart += 64
        }
    }

    /// Grows the ring until it holds every offset below `end`.
    ///
    /// The longest stay of an event in memory limits its size.
    private mutating func reserve(upTo end: Int64) {
        let needed = Int((end - windowStart + 63) >> 6)
        guard needed > words.count else { return }
        var larger = words.count
        while larger < needed { larger *= 2 }
        var grown = [UInt64](repeating: 0, count: larger)
        for index in 0..<words.count { grown[index] = words[(first + index) & (words.count - 1)] }
        words = grown
        first = 0
    }
}
