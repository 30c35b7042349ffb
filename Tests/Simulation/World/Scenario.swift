package import HeraldCore
import HeraldEvents
import HeraldKernel
package import HeraldTime

/// The parameters of one simulated run.
///
/// Everything else follows from the seed. Shares are in millionths.
package struct Scenario: Sendable {
    package var seed: UInt64
    package var isAtomic = false
    package var workers = 3
    package var partitions = 4
    package var events = 400
    package var users = 25
    /// The number of events published at one moment.
    package var burst = 10

    // Faults of workers.
    package var crashes = 4
    package var stops = 2
    /// The number of freezes of a worker (SIGSTOP, a paused virtual machine), some of them longer than its session.
    package var freezes = 2
    /// The number of times that the group loses a healthy worker, which hears of it later.
    package var sessionLosses = 1
    /// The largest deviation of a worker's wall clock, which steps now and then.
    package var skew = Milliseconds.zero
    /// Whether a worker has the same `transactional.id` in each of its lives.
    package var hasFixedIDs = false
    /// Whether the members are static: a stop or a restart within the session moves no partitions.
    package var isStatic = false

    // Jobs.
    /// The number of processes that may follow the hub's messages; one of them at a time.
    package var followers = 0
    /// The number of kills, stops, freezes and replacements of a follower, or losses of its topic's leader and
    /// refusals.
    package var followerFaults = 6
    /// The share of a follower's actions before which it is killed.
    package var followerKills = 2_000

    /// The number of processes that may replay dead letters at a time; one of them has the lease.
    package var replays = 0
    /// The number of starts, pauses and stops of a replay by an operator, and of its kills, freezes and fences.
    package var replayFaults = 12
    /// The share of a replay's actions before which it is killed.
    package var replayKills = 5_000

    /// The number of processes that may publish the campaign at a time; one of them has its name.
    package var publishers = 0
    /// The initial number of recipients.
    package var recipients = 20
    /// The number of faults of publishers: an operator starts one, even beside another, pauses, resumes, cancels or
    /// stops the campaign; one is killed, frozen or fenced; its topics are hidden, without a leader, or refuse every
    /// record.
    package var publisherFaults = 12
    /// The share of a publisher's actions before which it is killed.
    package var publisherKills = 5_000
    /// Whether the campaign is to begin later: operators replace it until then, and publishers' clocks jump.
    package var hasSchedule = false
    /// Whether starts of a campaign that begins later may leave its audience in Kafka, for runners.
    package var isDetached = false
    /// Whether the campaign leaves out who was delivered by others before its start.
    package var hasExclusions = false

    // Faults of brokers.
    /// The number of times that every topic gets one more partition.
    package var growths = 1
    /// The number of absences of all brokers for some seconds.
    package var outages = 1
    /// The number of times that the coordinator of transactions, or that of groups, loads for some seconds.
    package var coordinatorLoads = 1
    /// The number of times that a partition has no leader for some seconds.
    package var leaderLosses = 2
    /// The number of times that another process takes over a worker's `transactional.id`.
    package var rivals = 0
    /// The share of records that are too large for the producer with their diagnostics, and some without.
    package var oversized = 10_000
    /// The share of those that the broker refuses, because the topic's limit was unknown before.
    package var unknownLimits = 300_000
    /// Whether the shortest delay's topic, one of several, is known to take no event of more than the usual size.
    package var hasNarrowTopic = false
    /// The share of records that find the producer's queue full.
    package var fullQueues = 5_000
    /// The share of records that the broker refuses.
    package var refusedRecords = 10_000
    /// The share of events whose records are all refused by brokers for a while.
    package var invalidEvents = 0
    /// The quota of records a second for each transactional producer; 0: none.
    package var quota = 0
    /// The share of appended records whose acknowledgement is lost or seconds late.
    package var lostAcknowledgements = 5_000
    /// The share of commits and other calls to the broker that are lost, or whose reply is lost or seconds late.
    package var lostMessages = 30_000
    /// The share of requests for a transaction that are sent twice, because the connection ended, and whose first copy
    /// arrives later, perhaps during another transaction.
    package var lateRequests = 10_000
    /// The share of a transaction's markers that reach their partition seconds late.
    package var lateMarkers = 0
    /// The share of transactional producers' calls that fail without a cause, either to be aborted or fatally.
    package var abortableErrors = 10_000
    package var fatalErrors = 3_000
    /// The number of times that a topic refuses every record for some seconds (a full disk, a missing right).
    package var refusals = 1
    /// The number of times that retention deletes done records of a consumed topic.
    package var retentions = 2
    /// The number of losses of the group's offsets; not with recreations, whose results name offsets of the former
    /// topic.
    package var offsetLosses = 0
    /// The number of times that records are deleted before they are read; not where offsets mean other records.
    package var deletions = 0
    /// The share of partitions for whose beginning a worker gets no answer; it asks again.
    package var unanswered = 0
    /// The number of times that another program joins the group, commits its own offsets, and leaves; not where logs
    /// begin anew.
    package var strangers = 0
    /// The number of deletions and recreations of consumed topics.
    package var recreations = 0
    /// The number of times that the log of a request partition is cut off.
    package var cuts = 0

    // Published records.
    /// The share of records that are followed by a marker, or by the records of an aborted transaction.
    package var gaps = 40_000
    /// The share of records that a client fails to read once, or that are followed by an unreadable batch.
    package var damages = 0
    /// The share of bursts that are published in a transaction which stays open for seconds, and may be aborted.
    package var openTransactions = 20_000
    /// The share of events that are published a second time, seconds later.
    package var twins = 30_000

    // Campaigns.
    /// The share of readable events that belong to one.
    package var campaignShare = 300_000
    /// The number of times that an operator pauses, resumes or cancels one.
    package var campaignChanges = 3
    /// The number of faults of the campaigns topic: no leader, a refusal of every record for some seconds, or a
    /// recreation.
    package var campaignsFaults = 1
    /// The share of failures at which one is paused.
    package var pauseIfFailures: Double?
    static let campaigns = 2

    // Last words.
    /// The number of times that a user opts out or in, or somebody recalls an event or a campaign; 0: nobody is asked
    /// for them, and no event has a class.
    package var lastWords = 0
    /// Whether users have quiet hours, too.
    package var hasQuietHours = false
    static let sources = 3
    /// How many promotional events a user gets within ``capPer``; 0: as many as are published.
    package var capLimit = 0
    package var capPer: Milliseconds = .minutes(1)
    /// How many of the first source it gets within twice that; 0: as many as of the others.
    package var sourceCapLimit = 0

    var hasCaps: Bool { lastWords > 0 && capLimit > 0 }

    var capRules: [CapRule] {
        guard hasCaps else { return [] }
        let all = CapRule(limit: capLimit, per: capPer)
        return sourceCapLimit == 0
            ? [all] : [CapRule(source: Self.sourceName(0), limit: sourceCapLimit, per: capPer * 2), all]
    }

    // The backend.
    /// The share of a worker's connections to the backend that end with all of their calls, up to sixteen; 0: each call
    /// has a connection of its own.
    package var connectionLosses = 0
    /// Whether the backend's password breaks, its name vanishes and so on for a while.
    package var hasStorms = true
    /// The kind of each storm; any without it.
    var storm: SimulatedBackend.Storm?
    package var isBackendCalm = false
    /// The number of times that a push service refuses every call for a while.
    package var serviceRefusals = 0
    /// Users whose calls hang for ever, and users that are refused.
    package var hanging: Set<Int> = []
    package var forbidden: Set<Int> = [3]

    // Promise 7.
    /// Decides the published events and the backend's answers, instead of chance and the weather.
    package var trouble: Trouble?

    // Settings.
    package var ordering = Ordering.key
    package var maxInFlight = 40
    package var maxBufferedBytes = 16 << 20
    /// The number of records that a client fetches ahead for each queue, and the bytes that the engine allows there.
    package var fetchedAhead = 100
    package var maxFetchedBytes = 56 << 20
    package var commitInterval: Milliseconds = .milliseconds(100)
    package var maxUnrecorded: Milliseconds = .seconds(1)
    package var drainTimeout: Milliseconds = .seconds(30)
    package var blockedAfter: Milliseconds = .seconds(15)
    /// The time for which events are remembered, which includes all twins.
    package var duplicateWindow: Milliseconds = .days(1)
    /// Whether an unanswered call that may have reached the backend is repeated.
    package var repeatsUnanswered = true
    package var immediate = 2
    /// The limits of calls a second of each engine, for all push services and for each.
    package var callsPerSecond: Double?
    package var serviceCallsPerSecond: [Double?] = []
    package var breaker = BreakerRule()
    package var deadLetterBreaker = BreakerRule(share: 0.5, of: 200)
    /// The number of changes to a running worker's settings.
    package var settingsChanges = 2
    var delays = ["5s", "30s", "5m"].compactMap { DelayName($0) }
    /// Plain events only: valid, without moments of their own.
    package var hasPlainEvents = false
    /// The virtual time within which the run must be quiet.
    var longest: Milliseconds = .hours(3)

    let topics = Topics()
    let pushServices = PushServices.standard
    /// What each push service gets beside the message: all, a part, nothing.
    let carriedContent: [ContentFields] = [.all, ContentFields([.title]), []]

    package init(seed: UInt64) {
        self.seed = seed
    }

    var engineConfiguration: EngineConfiguration {
        var configuration = EngineConfiguration(decoder: RecordDecoder(pushServices: pushServices))
        configuration.topics = topics
        configuration.retryDelays = delays
        configuration.ordering = ordering
        configuration.maxInFlight = maxInFlight
        configuration.maxBufferedBytes = maxBufferedBytes
        configuration.maxFetchedBytes = maxFetchedBytes
        configuration.commitInterval = commitInterval
        configuration.maxUnrecorded = maxUnrecorded
        configuration.drainTimeout = drainTimeout
        configuration.blockedAfter = blockedAfter
        configuration.isAtomic = isAtomic
        configuration.callsPerSecond = callsPerSecond
        configuration.serviceCallsPerSecond = serviceCallsPerSecond
        configuration.breaker = breaker
        configuration.deadLetterBreaker = deadLetterBreaker
        configuration.duplicateWindow = duplicateWindow
        configuration.duplicateSize = Self.duplicateSize
        configuration.repeatsUnanswered = repeatsUnanswered
        configuration.keepsBackendIDs = followers > 0
        configuration.carriedContent = carriedContent
        configuration.retry = RetryPolicy(immediate: immediate, delays: delays.map(\.length))
        configuration.caps = capRules
        configuration.classes = topics.requests.indices.map { isPromotional(topic: $0) ? .promotional : .transactional }
        return configuration
    }

    var consumedTopics: [ConsumedTopic] {
        topics.requests.enumerated().map { index, name in
            ConsumedTopic(name: name, role: .request(weight: Self.requestWeights[index]))
        } + delays.map { ConsumedTopic(name: topics.retryTopic($0), role: .retry(delay: $0.length)) }
    }

    static let requestWeights = [10, 1]

    /// More than the number of events.
    static let duplicateSize = 100_000

    /// The topics that are written and not consumed.
    var otherTopics: [String] { [topics.results, topics.deadLetter] + (hasCaps ? [topics.caps] : []) }

    /// The topics that only jobs write to.
    var jobTopics: [String] {
        (followers > 0 ? [topics.feedback] : []) + (replays > 0 ? [topics.state] : [])
            + (replays + publishers > 0 ? [topics.audit] : [])
            + (campaignShare > 0 || publishers > 0 ? [topics.campaigns] : [])
    }

    /// Turns off all faults of the weather and the workers.
    package mutating func calm() {
        crashes = 0
        stops = 0
        freezes = 0
        sessionLosses = 0
        growths = 0
        outages = 0
        coordinatorLoads = 0
        leaderLosses = 0
        refusals = 0
        retentions = 0
        offsetLosses = 0
        strangers = 0
        deletions = 0
        unanswered = 0
        recreations = 0
        cuts = 0
        damages = 0
        openTransactions = 0
        campaignChanges = 0
        campaignsFaults = 0
        pauseIfFailures = nil
        rivals = 0
        followerFaults = 0
        followerKills = 0
        replayFaults = 0
        replayKills = 0
        publisherFaults = 0
        publisherKills = 0
        hasStorms = false
        serviceRefusals = 0
        isBackendCalm = true
        forbidden = []
        hasPlainEvents = true
        settingsChanges = 0
        oversized = 0
        fullQueues = 0
        refusedRecords = 0
        invalidEvents = 0
        quota = 0
        lostAcknowledgements = 0
        lostMessages = 0
        lateRequests = 0
        lateMarkers = 0
        connectionLosses = 0
        abortableErrors = 0
        fatalErrors = 0
    }
}
