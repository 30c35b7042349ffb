/// How much is fetched ahead of the retry partitions.
///
/// The client bounds what it fetches ahead for each queue, and retry partitions have a queue each: with a day's retries in
/// thirty of them its bound would count thirty times. So their sum is watched here: when it is too much, the fullest
/// are not fetched for a while, which throws away what lies in their queues, and come again one by one.
extension Engine {
    /// More records than this in the queues of retry partitions are too many.
    static let readAheadLimit = 12_000
    /// With fewer than this another partition is fetched again.
    static let readAheadRoom = 4_000

    /// Tells how many records lie in the queue of each source, in the order of ``sourceList``; some twenty times a second.
    public mutating func readAhead(_ counts: [Int]) {
        guard case .assigned = membership else { return }
        let open = sources.indices.filter { sources[$0].delay != nil && sources[$0].pauses.isEmpty }
        var total = open.reduce(0) { $0 + counts[$1] }
        if total < Self.readAheadRoom {
            resumeCrowded()
        } else if total > Self.readAheadLimit {
            // Those that wait for their first record's moment go first; one stays, or nothing would get on.
            let order = open.sorted {
                (sources[$0].isBlocked ? 1 : 0, counts[$0]) > (sources[$1].isBlocked ? 1 : 0, counts[$1])
            }
            for source in order.dropLast() where total > Self.readAheadLimit && counts[source] > 0 {
                total -= counts[source]
                pause(source: source, for: .crowded)
            }
        }
    }

    /// Fetches one more partition again, each in its turn.
    private mutating func resumeCrowded() {
        for step in 1...max(sources.count, 1) {
            let source = (lastResumed + step) % max(sources.count, 1)
            guard sources.indices.contains(source), sources[source].pauses.contains(.crowded) else { continue }
            lastResumed = source
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
        for partition in sources[source].partitions { actions.append(.resume(partition: partition)) }
    }
}
