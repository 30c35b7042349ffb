package import HeraldEvents
package import HeraldTime

/// Exactly which dead letters a replay takes: fixed before anything moves.
package struct ReplayPlan: Sendable {
    /// What was looked through, up to the ends that the partitions had.
    package var ranges: LetterRanges = [:]
    package private(set) var matched = 0
    package private(set) var count = 0
    package private(set) var leftOut: [ReplayRules.Omission: Int] = [:]
    /// What is wrong with the first that is no event.
    private(set) var mistake: String?
    package private(set) var topics: [String: Int] = [:]
    /// The first topics that dead letters were left out for, because they are no request topics.
    private(set) var otherTopics: [String] = []
    private static let shownTopics = 3
    /// How many calls there will be at least, by push service.
    package private(set) var pushServices: [String: Int] = [:]
    /// How many are dead letters for which reason; those that say none are in none.
    package private(set) var reasons: [DeadLetterReason: Int] = [:]
    /// How many outcomes there will be at least.
    package private(set) var outcomeCount = 0
    package private(set) var earliest: WallTime?
    /// When the last of them came.
    package private(set) var latest: WallTime?
    /// How many of those that are replayed were replayed before, by what came of it.
    package private(set) var replayedBefore: [ReplayOutcomes.Outcome: Int] = [:]
    /// How many the backend may have taken already, because a call for them got no answer.
    package private(set) var mayHaveArrived = 0
    /// How many of those it cannot recognise, because they get another idempotency key.
    package private(set) var mayHaveArrivedUnrecognised = 0
    /// The first of those that are corrected, by their places.
    package private(set) var corrections: [(place: String, corrected: Correction.Corrected)] = []
    private static let shownCorrections = 5
    /// Places and ids that were named, and that no dead letter has.
    package internal(set) var missing: [String] = []
    /// How many dead letters of others have no value, and are replayed so.
    package private(set) var tombstones = 0
    /// Of dead letters of others: how many have an id that one before them has, and the first such id.
    package private(set) var repeated: (count: Int, id: String)?
    /// Hashes of the ids of the first so many.
    private var foreignIDs: Set<Int> = []
    private static let knownIDs = 1_000_000
    private var chosen: [Int32: OffsetSet] = [:]

    package init() {}

    /// Takes a dead letter that the selection means.
    ///
    /// - Parameters:
    ///   - former: what came of its last replay; `nil` when it was not replayed.
    ///   - mistake: why it is no event, if it is none.
    package mutating func add(
        _ entry: DeadLetterEntry, _ decision: ReplayRules.Decision, former: ReplayOutcomes.Outcome? = nil,
        mistake: @autoclosure () -> String? = nil
    ) {
        matched += 1
        switch decision {
        case .leaveOut(let omission):
            leftOut[omission, default: 0] += 1
            if omission == .stillInvalid, self.mistake == nil { self.mistake = mistake() }
            if omission == .otherTopic { noteOtherTopic(entry.text(.topic)) }
        case .replay(let replay):
            count += 1
            if let corrected = replay.corrected, corrections.count < Self.shownCorrections {
                corrections.append((entry.place, corrected))
            }
            chosen[entry.partition, default: OffsetSet()].insert(entry.offset)
            topics[replay.topic, default: 0] += 1
            if let reason = entry.reason { reasons[reason, default: 0] += 1 }
            noteDoubt(entry, replay)
            if entry.isForeign { noteForeign(entry, replay) }
            if let former { replayedBefore[former, default: 0] += 1 }
            // An event that does not decode has one outcome for all of its push services.
            outcomeCount += max(1, replay.pushServices.count)
            for name in replay.pushServices { pushServices[name, default: 0] += 1 }
            let moment = entry.deadLetteredAt
            earliest = min(earliest ?? moment, moment)
            latest = max(latest ?? moment, moment)
        }
    }

    private mutating func noteForeign(_ entry: DeadLetterEntry, _ replay: ReplayRules.Replay) {
        if entry.value == nil { tombstones += 1 }
        guard let id = replay.foreignID else { return }
        if foreignIDs.contains(id.hashValue) {
            repeated = ((repeated?.count ?? 0) + 1, repeated?.id ?? id)
        } else if foreignIDs.count < Self.knownIDs {
            foreignIDs.insert(id.hashValue)
        }
    }

    private mutating func noteDoubt(_ entry: DeadLetterEntry, _ replay: ReplayRules.Replay) {
        let isInDoubt = entry.history.contains { call in
            call.mayHaveArrived && (replay.corrected != nil || replay.pushServices.contains(call.pushService))
        }
        guard isInDoubt else { return }
        mayHaveArrived += 1
        if replay.hasFreshKey { mayHaveArrivedUnrecognised += 1 }
    }

    private mutating func noteOtherTopic(_ topic: String?) {
        guard let topic, otherTopics.count < Self.shownTopics, !otherTopics.contains(topic) else { return }
        otherTopics.append(topic)
    }

    /// Whether this dead letter belongs to it.
    package func contains(partition: Int32, offset: Int64) -> Bool { chosen[partition]?.contains(offset) ?? false }

    /// How many of these offsets of a partition belong to it.
    func count(in partition: Int32, _ offsets: Range<Int64>) -> Int { chosen[partition]?.count(in: offsets) ?? 0 }

    /// What of the topic has to be read again to carry it out.
    var chosenRanges: LetterRanges {
        chosen.compactMapValues { offsets in offsets.bounds.map { $0.lowerBound..<$0.upperBound + 1 } }
    }

    package var ends: [String: Int64] {
        var ends: [String: Int64] = [:]
        for (partition, range) in ranges { ends["\(partition)"] = range.upperBound }
        return ends
    }

    /// How many seconds it takes at so many per second.
    package func seconds(at rate: Double) -> Double { Double(count) / rate }
}

/// Exactly which dead letters are resolved: fixed before anything is marked.
package struct ResolvePlan: Sendable {
    package private(set) var matched = 0
    package private(set) var count = 0
    /// Offsets by partition.
    package private(set) var chosen: [Int32: [Int64]] = [:]
    /// Places and ids that were named, and that no dead letter has.
    package internal(set) var missing: [String] = []

    package init() {}

    /// Takes a dead letter that the selection means; what was replayed or resolved before is left out.
    package mutating func add(_ entry: DeadLetterEntry, _ marks: MarkIndex?) {
        matched += 1
        let (partition, offset) = (entry.partition, entry.offset)
        if let marks {
            guard !marks.isResolved(partition: partition, offset: offset),
                !marks.isReplayed(entry.pushServices, partition: partition, offset: offset)
            else { return }
        }
        chosen[partition, default: []].append(offset)
        count += 1
    }
}
