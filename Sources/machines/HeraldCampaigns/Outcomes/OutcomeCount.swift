package import HeraldEvents

/// How the events of a campaign ended, counted for each push service: pure, fed with results.
///
/// A replay of a dead letter is no second outcome. When it is delivered, its recipient was reached after all: the dead letter
/// is counted as delivered in ``delivered`` and ``failed``, and as failed in what decides about the campaign
/// (``first``), because a replay says nothing of how the campaign goes. When it fails again, nothing changes.
package struct OutcomeCount: Equatable, Sendable {
    private static let recoveredName = "recovered"
    /// Stands between a push service and an outcome in a snapshot; no name has it.
    private static let separator: Character = "/"

    /// The outcomes of events as they were published, without replays.
    package private(set) var first: [Outcome: Int] = [:]
    /// Why some were suppressed; a version that did not count it leaves these below the suppressed ones.
    package private(set) var suppressions: [SuppressionReason: Int] = [:]
    /// Those that had failed and were delivered by a replay.
    package private(set) var recovered = 0
    /// The same of each push service, as far as it was counted so; see ``byPushService``.
    private var services: [String: OutcomeCount] = [:]

    package init() {}

    /// What a progress record's `outcomes` say; names that are not known are ignored.
    package init(snapshot: [String: Int]) {
        for (name, count) in snapshot where count > 0 {
            if let outcome = Outcome(rawValue: name) { first[outcome] = count }
            if let reason = SuppressionReason(rawValue: name) { suppressions[reason] = count }
            if name == Self.recoveredName { recovered = count }
        }
        let parts = snapshot.filter { $0.key.contains(Self.separator) }
        for (service, members) in Dictionary(grouping: parts, by: { $0.key.prefix { $0 != Self.separator } }) {
            let own = members.map { (String($0.key.dropFirst(service.count + 1)), $0.value) }
            services[String(service)] = OutcomeCount(snapshot: Dictionary(own) { $1 })
        }
    }

    /// The counts of each push service; `nil` when some of them were counted by a version that did not tell them apart.
    package var byPushService: [String: OutcomeCount]? {
        let told = services.values.reduce(0) { $0 + $1.known + $1.duplicates }
        return told == known + duplicates ? services : nil
    }

    /// It as a progress record's `outcomes`.
    package var snapshot: [String: Int] {
        var snapshot: [String: Int] = [:]
        for (outcome, count) in first { snapshot[outcome.rawValue] = count }
        for (reason, count) in suppressions { snapshot[reason.rawValue] = count }
        if recovered > 0 { snapshot[Self.recoveredName] = recovered }
        for (service, count) in services {
            for (name, number) in count.snapshot { snapshot["\(service)\(Self.separator)\(name)"] = number }
        }
        return snapshot
    }

    /// Takes a result of the campaign.
    ///
    /// - Parameter pushServices: of the campaign; a result of an event as a whole stands for all of them.
    package mutating func add(_ result: NotificationResult, pushServices: [String]) {
        add(result, outcomes: result.pushService == nil ? max(1, pushServices.count) : 1)
        for service in result.pushService.map({ [$0] }) ?? pushServices where pushServices.contains(service) {
            services[service, default: OutcomeCount()].add(result, outcomes: 1)
        }
    }

    private mutating func add(_ result: NotificationResult, outcomes: Int) {
        guard result.replays > 0 else {
            first[result.outcome, default: 0] += outcomes
            if let reason = result.suppression { suppressions[reason, default: 0] += outcomes }
            return
        }
        if result.outcome.standing == .reached { recovered = min(recovered + outcomes, failedAtFirst) }
    }

    /// How many outcomes of this standing events had as they were published, without replays.
    package func first(_ standing: Outcome.Standing) -> Int {
        first.reduce(0) { $0 + ($1.key.standing == standing ? $1.value : 0) }
    }

    /// What a replay can still deliver.
    private var failedAtFirst: Int { first.reduce(0) { $0 + ($1.key.hasDeadLetter ? $1.value : 0) } }

    /// Recipients' push services that the campaign has reached, replays included.
    package var delivered: Int { first(.reached) + recovered }

    /// How many ended so and were not reached by a replay: what replays have delivered is taken from dead letters first.
    package func unreached(_ outcome: Outcome) -> Int {
        guard outcome.hasDeadLetter else { return first[outcome, default: 0] }
        var recovered = recovered
        for one in Outcome.allCases where one.hasDeadLetter {
            let taken = min(recovered, first[one, default: 0])
            if one == outcome { return first[one, default: 0] - taken }
            recovered -= taken
        }
        return 0
    }

    /// Dead letters that no replay has delivered.
    package var failed: Int { unreached(.deadLettered) }

    /// How many of each outcome were not reached, in the order and by the names in which people read them.
    package var allUnreached: [(outcome: Outcome, name: String, count: Int)] {
        Self.unreachedOutcomes.map { ($0, Self.name($0), unreached($0)) }
    }

    /// The outcomes of those who are not reached.
    package static let unreachedOutcomes = Outcome.allCases.filter(\.isUnreached)

    /// The word for an outcome where a campaign's are counted.
    package static func name(_ outcome: Outcome) -> String {
        switch outcome {
        case .deadLettered: "failed"
        case .delivered, .expired, .cancelled, .duplicate, .suppressed: outcome.rawValue
        }
    }

    /// Events that came twice; the first of each has an outcome of its own.
    package var duplicates: Int { first(.repeated) }

    /// How many of the campaign's expected outcomes are known, each once.
    package var known: Int { first.reduce(0) { $0 + ($1.key.standing == .repeated ? 0 : $1.value) } }
}
