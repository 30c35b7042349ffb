import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldTime

/// Scenarios of every kind, each from its seed alone.
extension Scenario {
    /// An arbitrary scenario: `seed` decides everything about it.
    ///
    /// Each setting is a choice by its own name.
    package static func any(seed: UInt64) -> Self {
        let choices = Choices(seed: seed)
        var scenario = Self(seed: seed)
        scenario.isAtomic = !choices.once(in: 4, for: "isAtomic")
        scenario.workers = 1 + choices.below(5, for: "workers")
        scenario.partitions = 1 + choices.below(6, for: "partitions")
        scenario.events = 50 + choices.below(600, for: "events")
        scenario.users = 2 + choices.below(60, for: "users")
        scenario.burst = 1 + choices.below(40, for: "burst")
        scenario.ordering = choices.pick([.key, .key, .key, .key, .partition, .none], for: "ordering")
        scenario.maxInFlight = choices.pick([1, 5, 40, 40, 200], for: "maxInFlight")
        scenario.chooseSettings(choices)
        scenario.chooseCampaigns(choices)
        scenario.chooseFaults(choices)
        scenario.lastWords = choices.pick([0, 0, 50, 400], for: "lastWords")
        scenario.capLimit = choices.pick([0, 1, 2, 3], for: "capLimit")
        scenario.capPer = choices.pick([.seconds(10), .minutes(1), .minutes(10)], for: "capPer")
        scenario.sourceCapLimit = choices.pick([0, 1, 2], for: "sourceCapLimit")
        scenario.hasQuietHours = choices.once(in: 2, for: "hasQuietHours")
        if choices.once(in: 12, for: "calm") { scenario.calm() }
        // The backend may have its storms all the same.
        scenario.chooseBackend(choices)
        scenario.hasPlainEvents = choices.once(in: 8, for: "hasPlainEvents")
        return scenario
    }

    private mutating func chooseSettings(_ choices: Choices) {
        immediate = choices.below(4, for: "immediate")
        chooseDelays(choices)
        maxBufferedBytes = choices.pick([16 << 20, 16 << 20, 16 << 20, 2_000], for: "maxBufferedBytes")
        fetchedAhead = choices.pick([1, 20, 100, 1_000], for: "fetchedAhead")
        maxFetchedBytes = choices.pick([56 << 20, 100_000, 20_000], for: "maxFetchedBytes")
        commitInterval = choices.pick(
            [.milliseconds(100), .milliseconds(100), .milliseconds(10), .seconds(1)], for: "commitInterval")
        drainTimeout = choices.pick([.seconds(30), .seconds(30), .seconds(2)], for: "drainTimeout")
        blockedAfter = choices.pick([.seconds(15), .seconds(15), .seconds(3)], for: "blockedAfter")
        callsPerSecond = choices.pick([nil, nil, nil, nil, 20, 200], for: "callsPerSecond")
        serviceCallsPerSecond = choices.pick(
            [[], [], [], [10, nil, nil], [nil, 100, 50]], for: "serviceCallsPerSecond")
        breaker = BreakerRule(
            share: choices.pick([0.5, 0.8], for: "breakerShare"), of: choices.pick([0, 10, 20, 100], for: "breakerOf"))
        deadLetterBreaker = BreakerRule(share: 0.5, of: choices.pick([0, 10, 40, 200], for: "deadLetterBreakerOf"))
        repeatsUnanswered = !choices.once(in: 4, for: "repeatsUnanswered")
        maxUnrecorded = max(
            2 * commitInterval,
            choices.pick([.seconds(1), .seconds(1), .milliseconds(300), .seconds(5)], for: "maxUnrecorded"))
        settingsChanges = choices.pick([0, 0, 2, 10], for: "settingsChanges")
    }

    /// Settings that an operator may write into the file of a running worker.
    static func anyLiveSettings(_ chance: inout Chance) -> LiveConfiguration {
        var settings = LiveConfiguration()
        settings.maxInFlight = chance.pick([1, 5, 40, 200, 1_000])
        settings.callsPerSecond = chance.pick([nil, nil, 5, 20, 200])
        settings.serviceCallsPerSecond = chance.pick([[], [], [10, nil, nil], [nil, 100, 50], [2, 2, 2]])
        settings.breaker = BreakerRule(share: chance.pick([0.5, 0.8]), of: chance.pick([0, 10, 20, 100]))
        settings.deadLetterBreaker = BreakerRule(share: 0.5, of: chance.pick([0, 10, 40, 200]))
        // Both count as attempts: the meaning of a call is known when it begins.
        var meanings: [Int: AnswerClass] = [:]
        for status in [400, 404, 429, 503] where chance.below(4) == 0 {
            meanings[status] = chance.pick([.transient, .rejected])
        }
        settings.statuses = StatusTable(overrides: meanings)
        return settings
    }

    mutating func chooseDelays(_ choices: Choices) {
        delays = choices.pick(Self.choicesOfDelays, for: "delays").compactMap { DelayName($0) }
    }

    private static let choicesOfDelays = [
        ["5s", "30s", "5m"], ["5s", "30s", "5m"], ["5s", "30s", "5m"], ["1s", "2s", "4s", "8s"], ["10s"],
    ]

    private mutating func chooseFaults(_ choices: Choices) {
        crashes = choices.below(7, for: "crashes")
        stops = choices.below(5, for: "stops")
        freezes = choices.below(5, for: "freezes")
        sessionLosses = choices.below(4, for: "sessionLosses")
        growths = choices.below(3, for: "growths")
        refusals = choices.below(3, for: "refusals")
        retentions = choices.pick([0, 2, 10, 40], for: "retentions")
        recreations = choices.pick([0, 0, 1, 3], for: "recreations")
        cuts = choices.pick([0, 0, 1, 3], for: "cuts")
        if isAtomic, recreations + cuts == 0 { offsetLosses = choices.pick([0, 0, 0, 1], for: "offsetLosses") }
        if recreations + cuts + offsetLosses == 0 { strangers = choices.pick([0, 0, 1, 3], for: "strangers") }
        if recreations + cuts + offsetLosses + strangers == 0 {
            deletions = choices.pick([0, 0, 1, 3], for: "deletions")
        }
        unanswered = choices.pick([0, 0, 20_000, 200_000], for: "unanswered")
        damages = choices.pick([0, 0, 10_000, 50_000], for: "damages")
        outages = choices.below(3, for: "outages")
        coordinatorLoads = choices.below(3, for: "coordinatorLoads")
        leaderLosses = choices.below(5, for: "leaderLosses")
        if choices.once(in: 4, for: "skew") { skew = .milliseconds(choices.between(1, 3_000, for: "skewBy")) }
        hasFixedIDs = choices.once(in: 2, for: "hasFixedIDs")
        isStatic = choices.once(in: 3, for: "isStatic")
        followers = choices.pick([0, 0, 1, 2], for: "followers")
        followerFaults = choices.below(12, for: "followerFaults")
        followerKills = choices.pick([0, 500, 5_000, 20_000], for: "followerKills")
        replays = choices.pick([0, 0, 2], for: "replays")
        replayFaults = 6 + choices.below(20, for: "replayFaults")
        replayKills = choices.pick([0, 1_000, 10_000], for: "replayKills")
        publishers = choices.pick([0, 2], for: "publishers")
        recipients = 1 + choices.below(40, for: "recipients")
        publisherFaults = 4 + choices.below(20, for: "publisherFaults")
        publisherKills = choices.pick([0, 1_000, 10_000], for: "publisherKills")
        hasSchedule = choices.once(in: 2, for: "hasSchedule")
        isDetached = choices.once(in: 2, for: "isDetached")
        hasExclusions = choices.once(in: 2, for: "hasExclusions")
        if isAtomic, choices.once(in: 3, for: "hasRivals") { rivals = 1 + choices.below(2, for: "rivals") }
        let shares: [(String, WritableKeyPath<Self, Int>)] = [
            ("oversized", \.oversized), ("fullQueues", \.fullQueues), ("refusedRecords", \.refusedRecords),
            ("lostAcknowledgements", \.lostAcknowledgements), ("lostMessages", \.lostMessages),
            ("lateRequests", \.lateRequests),
            ("abortableErrors", \.abortableErrors), ("fatalErrors", \.fatalErrors), ("gaps", \.gaps),
            ("openTransactions", \.openTransactions), ("twins", \.twins),
        ]
        for (name, share) in shares { self[keyPath: share] *= choices.pick([0, 1, 1, 1, 4], for: name) }
        lateMarkers = choices.pick([0, 0, 20_000], for: "lateMarkers")
        invalidEvents = choices.pick([0, 0, 0, 5_000, 50_000], for: "invalidEvents")
        hasNarrowTopic = choices.once(in: 3, for: "hasNarrowTopic")
    }

    /// A while in which a push service refuses every call.
    func anyServiceRefusal(_ number: Int) -> SimulatedBackend.Refusal {
        let choices = Choices(seed: seed)
        let from = Simulation.start + choices.between(0, 20_000, for: "serviceRefusal.from.\(number)")
        return SimulatedBackend.Refusal(
            service: choices.below(3, for: "serviceRefusal.service.\(number)"),
            status: choices.pick([401, 403, 403, 404, 410], for: "serviceRefusal.status.\(number)"),
            during: from..<from + choices.between(1_000, 60_000, for: "serviceRefusal.length.\(number)"))
    }

    private mutating func chooseCampaigns(_ choices: Choices) {
        campaignShare = choices.pick([0, 0, 300_000, 300_000, 1_000_000], for: "campaignShare")
        campaignChanges = choices.below(8, for: "campaignChanges")
        campaignsFaults = choices.below(4, for: "campaignsFaults")
        pauseIfFailures = choices.pick([nil, 0.02, 0.2], for: "pauseIfFailures")
    }

    private mutating func chooseBackend(_ choices: Choices) {
        hasStorms = !choices.once(in: 4, for: "hasStorms")
        connectionLosses = choices.pick([0, 0, 20_000, 300_000], for: "connectionLosses")
        isBackendCalm = choices.once(in: 8, for: "isBackendCalm")
        serviceRefusals = choices.pick([0, 0, 1, 3], for: "serviceRefusals")
        forbidden = choices.once(in: 2, for: "forbidden") ? [3] : []
        hanging = hasStorms && choices.once(in: 3, for: "hanging") ? [1] : []
    }
}
