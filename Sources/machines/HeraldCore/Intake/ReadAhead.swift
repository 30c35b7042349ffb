import HeraldTime

/// The limits of fetching ahead.
///
/// The client bounds what it fetches ahead for each queue, by the number of records and by their values. That is not
/// enough: retry partitions have a queue each, so with a day's retries in thirty of them its bound would count thirty
/// times; and it does not count keys and headers, which may be as large as a topic allows. So the records of all retry
/// partitions and the bytes of all sources are watched here: when there are too many, the fullest sources are paused
/// for a while, and resumed one by one. The client then throws away what lies in their queues. A source that is being
/// taken from keeps it: fetching everything again for a few records at a time would cost nearly all of the rate.
struct ReadAhead: Sendable {
    /// The number of records in the queues of retry partitions that is too many.
    static let recordLimit = 12_000
    /// The number of records below which another partition is fetched again.
    static let recordRoom = 4_000
    /// The longest pause of a source for that, each in its turn: no source's backlog waits for the end of another's.
    static let crowdedLimit: Milliseconds = .seconds(1)

    private let maxBytes: Int
    /// The content of the queues.
    private var fetched = FetchedAhead(sources: 0)
    /// The last source that was resumed after there had been too much of all.
    private var lastResumed = 0
    /// The retry partition that is fetched although others have many records, until ``nextCrowded``.
    private var turn: Int?
    /// The time at which the next one is fetched although others may have many records.
    private var nextCrowded = MonotonicTime.distantPast
    /// Whether some source is paused because of that.
    private var hasCrowded = false

    /// - Parameter maxBytes: the most bytes in the queues.
    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Begins an assignment.
    ///
    /// - Parameter bytes: the bytes that the client has fetched in its life.
    mutating func assigned(sources: Int, fetched bytes: Int) {
        fetched = FetchedAhead(sources: sources, fetched: bytes)
        lastResumed = 0
        turn = nil
        hasCrowded = false
    }

    /// Whether the queues have records, or a source is paused for lack of room.
    var isWatching: Bool { hasCrowded || !fetched.isEmpty }

    /// Notes that a record of this size was taken from the source's queue.
    mutating func consumed(from source: Int, bytes: Int) { fetched.consumed(from: source, bytes: bytes) }

    /// So many records lie in each source's queue, and the client has fetched so many bytes in its life: pauses and resumes what
    /// that asks for.
    mutating func look(
        _ counts: [Int], fetched bytes: Int, _ sources: inout SourceTable, _ partitions: borrowing PartitionTable,
        now: MonotonicTime, actions: inout [Action]
    ) {
        // Records in a paused one's queue are void, unless they were taken out before.
        let counts = sources.indices.map { sources[$0].isThere ? counts[$0] : 0 }
        fetched.look(counts: counts, fetched: bytes)
        let retries = sources.indices.filter { sources[$0].delay != nil }
        let hasRoom =
            fetched.total < maxBytes / 2 && retries.reduce(0) { $0 + counts[$1] } < Self.recordRoom
        if fetched.total > maxBytes {
            dropStuck(&sources, now: now, actions: &actions)
            pauseLargest(&sources, now: now, actions: &actions)
        } else {
            pauseFullest(of: retries, counts, &sources, now: now, actions: &actions)
            if hasRoom || now >= nextCrowded {
                resumeNext(hasRoom: hasRoom, counts, &sources, partitions, now: now, actions: &actions)
            }
        }
        hasCrowded = sources.all.contains { $0.pauses.contains(.crowded) }
    }

    /// Pauses the sources whose records hold the most bytes, until the rest is small enough.
    private mutating func pauseLargest(
        _ sources: inout SourceTable, now: MonotonicTime, actions: inout [Action]
    ) {
        var open = sources.indices.filter { sources[$0].pauses.isEmpty }
        while fetched.total > maxBytes, !open.isEmpty {
            // Sources that wait for their first record's moment go first.
            let ranks = open.map { source in
                let held = fetched.held(by: source)
                return (held > 0 && sources[source].isBlocked ? 1 : 0, held)
            }
            guard let place = ranks.indices.max(by: { ranks[$0] < ranks[$1] }), ranks[place].1 > 0 else { return }
            let source = open.remove(at: place)
            if sources[source].delay == nil, fetched.isTaken(source: source), fetched.total <= retainedLimit {
                sources.retain(source, actions: &actions)
                pause(source, &sources, now: now, actions: &actions)
                return
            }
            crowd(out: source, &sources, now: now, actions: &actions)
        }
    }

    /// The number of bytes above which nothing is retained.
    private var retainedLimit: Int { maxBytes / 8 * 9 }

    /// Gives up the retained records of a source that is not taken from while others need the room.
    private mutating func dropStuck(_ sources: inout SourceTable, now: MonotonicTime, actions: inout [Action]) {
        for source in sources.indices where sources[source].isWaiting && !fetched.isTaken(source: source) {
            var othersWait = false
            for other in sources.indices where other != source {
                let isCrowded = sources[other].pauses.contains(.crowded)
                othersWait = othersWait || isCrowded || fetched.isTaken(source: other)
            }
            if othersWait { crowd(out: source, &sources, now: now, actions: &actions) }
        }
    }

    /// Pauses the fullest retry partitions until those that are fetched have few enough records.
    ///
    /// A source that is taken from keeps its records. Only one does, because records taken out of the queues are not
    /// counted here. Of all others those that wait for their first record's moment go first.
    private mutating func pauseFullest(
        of retries: [Int], _ counts: [Int], _ sources: inout SourceTable, now: MonotonicTime, actions: inout [Action]
    ) {
        let open = retries.filter { sources[$0].pauses.isEmpty }
        var records = open.reduce(0) { $0 + counts[$1] }
        guard records > Self.recordLimit else { return }
        if now >= nextCrowded { turn = nil }
        // A source below its share is not the cause.
        let share = Self.recordLimit / max(1, open.count)
        func rank(_ source: Int) -> (Int, Int, Int) {
            (counts[source] > share ? 1 : 0, sources[source].isBlocked ? 1 : 0, counts[source])
        }
        var left = open.count
        for source in open.sorted(by: { rank($0) > rank($1) })
        where records > Self.recordLimit && counts[source] > 0 && source != turn {
            let keeps = fetched.isTaken(source: source) && !retries.contains { sources[$0].isWaiting }
            if keeps {
                sources.retain(source, actions: &actions)
                pause(source, &sources, now: now, actions: &actions)
            } else if left > 1 {
                crowd(out: source, &sources, now: now, actions: &actions)
            } else {
                // One is always fetched, or there would be no progress.
                return
            }
            left -= 1
            records -= counts[source]
        }
    }

    private mutating func crowd(
        out source: Int, _ sources: inout SourceTable, now: MonotonicTime, actions: inout [Action]
    ) {
        fetched.empty(source: source)
        pause(source, &sources, now: now, actions: &actions)
        sources.dropRetained(source, actions: &actions)
    }

    private mutating func pause(
        _ source: Int, _ sources: inout SourceTable, now: MonotonicTime, actions: inout [Action]
    ) {
        sources.pause(source, for: .crowded, actions: &actions)
        nextCrowded = now.advanced(by: Self.crowdedLimit)
    }

    /// Resumes one more source, each in its turn; without room none that has records yet.
    private mutating func resumeNext(
        hasRoom: Bool, _ counts: [Int], _ sources: inout SourceTable, _ partitions: borrowing PartitionTable,
        now: MonotonicTime, actions: inout [Action]
    ) {
        for step in 1..<sources.count + 1 {
            let source = (lastResumed + step) % sources.count
            guard sources[source].pauses.contains(.crowded), hasRoom || counts[source] == 0 else { continue }
            lastResumed = source
            turn = hasRoom ? nil : source
            nextCrowded = now.advanced(by: Self.crowdedLimit)
            sources.resume(source, from: .crowded, partitions, actions: &actions)
            return
        }
    }
}
