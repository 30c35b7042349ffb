import HeraldTime

/// How much is fetched ahead.
///
/// The client bounds what it fetches ahead for each queue, by the number of records and by their values. That is not enough:
/// retry partitions have a queue each, so with a day's retries in thirty of them its bound would count thirty times; and keys
/// and headers, which may be as large as a topic allows, it does not count. So the records of all retry partitions and the
/// bytes of everybody are watched here: when it is too much, the fullest are not fetched for a while, and come again one by
/// one. The client then throws away what lies in their queues. A request topic that is being taken from keeps it: fetching
/// everything again for a few records at a time would cost nearly all of the rate.
extension Engine {
    /// More records than this in the queues of retry partitions are too many.
    static let readAheadLimit = 12_000
    /// With fewer than this another partition is fetched again.
    static let readAheadRoom = 4_000
    /// A source that was paused for that is fetched again after this long (milliseconds) in any case, each in its turn: nobody's
    /// backlog waits for the end of another's.
    static let crowdedLimit: Int64 = 1_000

    /// Tells how many records lie in the queue of each source, in the order of ``sourceList``, and how many bytes the client
    /// has fetched in its life; some twenty times a second, and whenever many bytes have come.
    public mutating func readAhead(_ counts: [Int], fetched: Int, now: Moment) {
        guard case .assigned = membership else { return }
        // What lies in a paused one's queue is void, unless it was taken out before.
        let counts = sources.indices.map { sources[$0].pauses.isEmpty || sources[$0].isRetained ? counts[$0] : 0 }
        fetchedAhead.look(counts: counts, fetched: fetched)
        let retries = sources.indices.filter { sources[$0].delay != nil && sources[$0].pauses.isEmpty }
        let records = retries.reduce(0) { $0 + counts[$1] }
        let bytes = fetchedAhead.total
        let hasRoom = bytes < configuration.maxFetchedBytes / 2
        if bytes > configuration.maxFetchedBytes {
            dropStuck(now: now)
            pauseLargest(now: now)
        } else if records > Self.readAheadLimit {
            pauseFullest(of: retries, counts, now: now)
        } else if records < Self.readAheadRoom, hasRoom || now.monotonic >= nextCrowded {
            resumeCrowded(hasRoom: hasRoom, now: now)
        }
    }

    /// Pauses those whose records hold the most bytes, until what is left is little enough.
    private mutating func pauseLargest(now: Moment) {
        var open = sources.indices.filter { sources[$0].pauses.isEmpty }
        while fetchedAhead.total > configuration.maxFetchedBytes, !open.isEmpty {
            let held = open.map { fetchedAhead.held(by: $0) }
            // Those that wait for their first record's moment go first.
            guard
                let place = open.indices.max(by: {
                    (held[$0] > 0 && sources[open[$0]].isBlocked ? 1 : 0, held[$0])
                        < (held[$1] > 0 && sources[open[$1]].isBlocked ? 1 : 0, held[$1])
                }), held[place] > 0
            else { return }
            let source = open.remove(at: place)
            if sources[source].delay == nil, fetchedAhead.isTaken(source: source), fetchedAhead.total <= retainedLimit {
                retain(source, now: now)
                return
            }
            crowd(out: source, now: now)
        }
    }

    /// With more bytes than this nothing is retained.
    private var retainedLimit: Int { configuration.maxFetchedBytes / 8 * 9 }

    /// Pauses a source, and keeps what was fetched of it.
    private mutating func retain(_ source: Int, now: Moment) {
        sources[source].isRetained = true
        actions.append(.retainQueue(source: source))
        pauseCrowded(source, now: now)
    }

    /// Gives up what was retained of a source that is not taken from while others need the room.
    private mutating func dropStuck(now: Moment) {
        for source in sources.indices where isWaiting(source) && !fetchedAhead.isTaken(source: source) {
            let othersWait = sources.indices.contains { other in
                other != source && (fetchedAhead.isTaken(source: other) || sources[other].pauses.contains(.crowded))
            }
            if othersWait { crowd(out: source, now: now) }
        }
    }

    /// Whether a source is paused with its records retained.
    private func isWaiting(_ source: Int) -> Bool {
        sources[source].isRetained && sources[source].pauses.contains(.crowded)
    }

    private mutating func pauseFullest(of retries: [Int], _ counts: [Int], now: Moment) {
        // Those that wait for their first record's moment go first; one stays, or nothing would get on.
        let order = retries.sorted {
            (sources[$0].isBlocked ? 1 : 0, counts[$0]) > (sources[$1].isBlocked ? 1 : 0, counts[$1])
        }
        var records = retries.reduce(0) { $0 + counts[$1] }
        for source in order.dropLast() where records > Self.readAheadLimit && counts[source] > 0 {
            records -= counts[source]
            crowd(out: source, now: now)
        }
    }

    private mutating func crowd(out source: Int, now: Moment) {
        fetchedAhead.empty(source: source)
        pauseCrowded(source, now: now)
        guard sources[source].isRetained else { return }
        sources[source].isRetained = false
        actions.append(.dropRetained(source: source))
        for partition in sources[source].partitions { actions.append(.rewind(partition: partition)) }
    }

    private mutating func pauseCrowded(_ source: Int, now: Moment) {
        pause(source: source, for: .crowded)
        nextCrowded = now.monotonic.advanced(byMilliseconds: Self.crowdedLimit)
    }

    /// Fetches one more source again, each in its turn; without room none that has records yet.
    private mutating func resumeCrowded(hasRoom: Bool, now: Moment) {
        for step in 1...max(sources.count, 1) {
            let source = (lastResumed + step) % max(sources.count, 1)
            guard sources.indices.contains(source), sources[source].pauses.contains(.crowded),
                hasRoom || !isWaiting(source)
            else { continue }
            lastResumed = source
            nextCrowded = now.monotonic.advanced(byMilliseconds: Self.crowdedLimit)
            resume(source: source, from: .crowded)
            return
        }
    }

    mutating func pause(source: Int, for reason: Source.Pauses) {
        let isOpen = sources[source].pauses.isEmpty
        sources[source].pauses.insert(reason)
        guard isOpen else { return }
        for partition in sources[source].partitions { actions.append(.pause(partition: partition)) }
    }

    mutating func resume(source: Int, from reasons: Source.Pauses) {
        guard !sources[source].pauses.isDisjoint(with: reasons) else { return }
        sources[source].pauses.subtract(reasons)
        guard sources[source].pauses.isEmpty else { return }
        for partition in sources[source].partitions where !partitions[Int(partition)].isFull {
            actions.append(.resume(partition: partition))
        }
    }
}
