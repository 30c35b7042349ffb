package import HeraldEvents

/// What came of replays: pure, fed with results in any order.
///
/// Memory is bounded: of what comes beyond that nothing is known.
package struct ReplayOutcomes: Sendable {
    package enum Outcome: String, CaseIterable, Sendable {
        /// Everything that was replayed of it is delivered, by this replay or by a later one of the same event.
        case delivered
        /// What was not delivered of it was not to be, by its user's word or a recall.
        case suppressed
        /// Some of it has become a dead letter again, has expired or was cancelled.
        case failedAgain = "failed-again"
        case notKnown = "not-known"
        /// It went to a topic that Herald's workers do not read.
        case notReported = "not-reported"

        /// For people.
        package var words: String {
            switch self {
            case .delivered: "delivered"
            case .suppressed: "suppressed"
            case .failedAgain: "failed again"
            case .notKnown: "not known yet"
            case .notReported: "reported by nobody"
            }
        }
    }

    /// The highest number of a replay that has had an outcome, and of one that was delivered or suppressed.
    private struct Replays {
        var known = 0
        var delivered = 0
        var suppressed = 0
    }

    private static let limit = 2_000_000

    private var replays: [Int: Replays] = [:]

    package init() {}

    /// Takes a result; those of events that were not replayed are passed over.
    package mutating func add(_ result: NotificationResult) {
        guard result.replays > 0 else { return }
        let key = Self.identity(result.origin, result.pushService)
        guard replays.count < Self.limit || replays[key] != nil else { return }
        var seen = replays[key] ?? Replays()
        seen.known = max(seen.known, result.replays)
        switch result.outcome.replayEnd {
        case .delivered: seen.delivered = max(seen.delivered, result.replays)
        case .suppressed: seen.suppressed = max(seen.suppressed, result.replays)
        case .failed: break
        }
        replays[key] = seen
    }

    /// What came of the replay of a dead letter that was replayed; ``LetterFate`` says what became of any.
    func outcome(of letter: LetterFacts, _ marks: MarkIndex) -> Outcome {
        if marks.correctedPushServices(partition: letter.partition, offset: letter.offset)?.isEmpty == true {
            return .notReported
        }
        guard let origin = letter.origin else { return .notKnown }
        let number = letter.replays + marks.lastReplay(partition: letter.partition, offset: letter.offset)
        let outcomes = services(of: letter, marks).map { outcome(origin, $0, after: letter.replays, number) }
        return [.notKnown, .failedAgain, .suppressed].first(where: outcomes.contains) ?? .delivered
    }

    /// What was called in the end: what a correction put in place of the dead letter's own push services, else those of them
    /// that were replayed.
    private func services(of letter: LetterFacts, _ marks: MarkIndex) -> [String?] {
        if let corrected = marks.correctedPushServices(partition: letter.partition, offset: letter.offset) {
            return corrected
        }
        guard !letter.pushServices.isEmpty else { return [nil] }
        let missing = marks.missing(of: letter.pushServices, partition: letter.partition, offset: letter.offset)
        return letter.pushServices.filter { !missing.contains($0) }
    }

    /// - Parameters:
    ///   - before: how often the event was replayed before it became this dead letter.
    ///   - number: the number of its last replay.
    private func outcome(_ origin: Origin, _ service: String?, after before: Int, _ number: Int) -> Outcome {
        // An event that does not decode has one result for all of its push services.
        let found = [Self.identity(origin, service), Self.identity(origin, nil)].compactMap { replays[$0] }
        if found.contains(where: { $0.delivered > before }) { return .delivered }
        if found.contains(where: { $0.suppressed > before }) { return .suppressed }
        return found.contains { $0.known >= number } ? .failedAgain : .notKnown
    }

    /// 64 bits of a keyed hash.
    private static func identity(_ origin: Origin, _ service: String?) -> Int {
        var hasher = Hasher()
        hasher.combine(origin)
        hasher.combine(service)
        return hasher.finalize()
    }
}
