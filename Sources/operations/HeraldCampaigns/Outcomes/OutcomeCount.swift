package import HeraldEvents

/// How the events of a campaign ended, counted for each push service: pure, fed with results.
///
/// A replay of a dead letter is no second outcome. When it is delivered, its recipient was reached after all: the dead letter
/// is counted as delivered in ``delivered`` and ``failed``, and as failed in what decides about the campaign
/// (``first``), because a replay says nothing of how the campaign goes. When it fails again, nothing changes.
package struct OutcomeCount: Equatable, Sendable {
    private static let recoveredName = "recovered"

    /// The outcomes of events as they were published, without replays.
    package private(set) var first: [Outcome: Int] = [:]
    /// Those that had failed and were delivered by a replay.
    package private(set) var recovered = 0

    package init() {}

    /// What a progress record's `outcomes` say; names that are not known are ignored.
    package init(snapshot: [String: Int]) {
        for (name, count) in snapshot where count > 0 {
            if let outcome = Outcome(rawValue: name) { first[outcome] = count }
            if name == Self.recoveredName { recovered = count }
        }
    }

    /// It as a progress record's `outcomes`.
    package var snapshot: [String: Int] {
        var snapshot: [String: Int] = [:]
        for (outcome, count) in first { snapshot[outcome.rawValue] = count }
        if recovered > 0 { snapshot[Self.recoveredName] = recovered }
        return snapshot
    }

    /// Takes a result of the campaign.
    ///
    /// - Parameter pushServiceCount: of the campaign; a result of an event as a whole stands for all of them.
    package mutating func add(_ result: NotificationResult, pushServiceCount: Int) {
        let outcomes = result.pushService == nil ? max(1, pushServiceCount) : 1
        guard result.replays > 0 else {
            first[result.outcome, default: 0] += outcomes
            return
        }
        if result.outcome == .delivered { recovered = min(recovered + outcomes, failedAtFirst) }
    }

    private var failedAtFirst: Int { first[.deadLettered, default: 0] + first[.expired, default: 0] }

    /// Recipients' push services that the campaign has reached, replays included.
    package var delivered: Int { first[.delivered, default: 0] + recovered }

    /// Dead letters that no replay has delivered; what a replay has delivered is taken from them before ``expired``.
    package var failed: Int { max(0, first[.deadLettered, default: 0] - recovered) }

    /// Those that were too late, and that no replay has delivered.
    package var expired: Int {
        first[.expired, default: 0] - max(0, recovered - first[.deadLettered, default: 0])
    }

    package var cancelled: Int { first[.cancelled, default: 0] }

    /// Events that came twice; the first of each has an outcome of its own.
    package var duplicates: Int { first[.duplicate, default: 0] }

    /// How many of the campaign's expected outcomes are known, each once.
    package var known: Int { first.reduce(0) { $0 + ($1.key == .duplicate ? 0 : $1.value) } }
}
