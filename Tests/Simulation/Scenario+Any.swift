import HeraldCore
import HeraldEvents

/// Scenarios of every kind, each from its seed alone.
extension Scenario {
    /// A scenario that nobody has thought of: `seed` decides everything about it.
    package static func any(seed: UInt64) -> Self {
        // What the run makes of the seed must not follow the same numbers.
        var chance = Chance(seed: seed ^ 0x5DEE_CE66_D123_4567)
        var scenario = Self(seed: seed)
        scenario.isAtomic = chance.below(4) > 0
        scenario.workers = 1 + chance.below(5)
        scenario.partitions = 1 + chance.below(6)
        scenario.events = 50 + chance.below(600)
        scenario.users = 2 + chance.below(60)
        scenario.burst = 1 + chance.below(40)
        scenario.chooseFaults(&chance)
        scenario.chooseBackend(&chance)
        scenario.ordering = chance.pick([.key, .key, .key, .key, .partition, .none])
        scenario.maxInFlight = chance.pick([1, 5, 40, 40, 200])
        scenario.hasPlainEvents = chance.below(8) == 0
        scenario.chooseSettings(&chance)
        scenario.chooseCampaigns(&chance)
        scenario.repeatsUnanswered = chance.below(4) > 0
        scenario.maxUnrecordedMilliseconds = max(
            2 * scenario.commitIntervalMilliseconds, chance.pick([1_000, 1_000, 300, 5_000]))
        if scenario.settingsChanges > 0 { scenario.settingsChanges = chance.pick([0, 0, 2, 10]) }
        return scenario
    }

    private mutating func chooseSettings(_ chance: inout Chance) {
        immediate = chance.below(4)
        chooseDelays(&chance)
        maxBufferedBytes = chance.pick([16 << 20, 16 << 20, 16 << 20, 2_000])
        commitIntervalMilliseconds = chance.pick([100, 100, 10, 1_000])
        drainTimeoutMilliseconds = chance.pick([30_000, 30_000, 2_000])
        blockedAfterMilliseconds = chance.pick([15_000, 15_000, 3_000])
        callsPerSecond = chance.pick([nil, nil, nil, nil, 20, 200])
        serviceCallsPerSecond = chance.pick([[], [], [], [10, nil, nil], [nil, 100, 50]])
        breaker = BreakerRule(share: chance.pick([0.5, 0.8]), of: chance.pick([0, 10, 20, 100]))
        deadLetterBreaker = BreakerRule(share: 0.5, of: chance.pick([0, 10, 40, 200]))
    }

    /// Settings that somebody may write into the file of a worker that runs.
    static func anyLiveSettings(_ chance: inout Chance) -> LiveConfiguration {
        var settings = LiveConfiguration()
        settings.maxInFlight = chance.pick([1, 5, 40, 200, 1_000])
        settings.callsPerSecond = chance.pick([nil, nil, 5, 20, 200])
        settings.serviceCallsPerSecond = chance.pick([[], [], [10, nil, nil], [nil, 100, 50], [2, 2, 2]])
        settings.breaker = BreakerRule(share: chance.pick([0.5, 0.8]), of: chance.pick([0, 10, 20, 100]))
        settings.deadLetterBreaker = BreakerRule(share: 0.5, of: chance.pick([0, 10, 40, 200]))
        // Both count as attempts: what a call counts for is known when it begins.
        var meanings: [Int: AnswerClass] = [:]
        for status in [400, 404, 429, 503] where chance.below(4) == 0 {
            meanings[status] = chance.pick([.transient, .rejected])
        }
        settings.statuses = StatusTable(overrides: meanings)
        return settings
    }

    mutating func chooseDelays(_ chance: inout Chance) {
        delays = chance.pick(Self.choicesOfDelays).compactMap { DelayName($0) }
    }

    private static let choicesOfDelays = [
        ["5s", "30s", "5m"], ["5s", "30s", "5m"], ["5s", "30s", "5m"], ["1s", "2s", "4s", "8s"], ["10s"],
    ]

    private mutating func chooseFaults(_ chance: inout Chance) {
        guard chance.below(12) > 0 else {
            calm()
            return
        }
        crashes = chance.below(7)
        stops = chance.below(5)
        freezes = chance.below(5)
        sessionLosses = chance.below(4)
        growths = chance.below(3)
        refusals = chance.below(3)
        outages = chance.below(3)
        leaderLosses = chance.below(5)
        if chance.below(4) == 0 { skew = chance.between(1, 3_000) }
        hasFixedIDs = chance.below(2) == 0
        isStatic = chance.below(3) == 0
        if isAtomic, chance.below(3) == 0 { rivals = 1 + chance.below(2) }
        for share: WritableKeyPath<Self, Int> in [
            \.oversized, \.fullQueues, \.refusedRecords, \.lostAcknowledgements, \.lostMessages, \.abortableErrors,
            \.fatalErrors, \.gaps, \.openTransactions, \.twins,
        ] {
            self[keyPath: share] *= chance.pick([0, 1, 1, 1, 4])
        }
        // One record that is refused costs all others their transaction.
        if isAtomic { refusedRecords /= 30 }
    }

    private mutating func chooseCampaigns(_ chance: inout Chance) {
        campaignShare = chance.pick([0, 0, 300_000, 300_000, 1_000_000])
        guard campaignChanges > 0 else { return }
        campaignChanges = chance.below(8)
        pauseIfFailures = chance.pick([nil, 0.02, 0.2])
    }

    private mutating func chooseBackend(_ chance: inout Chance) {
        hasStorms = chance.below(4) > 0
        isBackendCalm = chance.below(8) == 0
        forbidden = chance.below(2) == 0 ? [3] : []
        hanging = hasStorms && chance.below(3) == 0 ? [1] : []
    }
}
