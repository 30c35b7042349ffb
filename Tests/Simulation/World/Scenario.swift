package import HeraldCore
import HeraldEvents
import HeraldKernel
package import HeraldTime

/// What one simulated run is made of.
///
/// Everything else follows from the seed. Shares are in millionths.
package struct Scenario: Sendable {
    package var seed: UInt64
    package var isAtomic = false
    package var workers = 3
    package var partitions = 4
    package var events = 400
    package var users = 25
    /// How many events are published at one moment.
    package var burst = 10

    // What happens to workers.
    package var crashes = 4
    package var stops = 2
    /// How often a worker is frozen (SIGSTOP, a paused virtual machine), some of them for longer than their session.
    package var freezes = 2
    /// How often the group loses a worker that is well, and that hears of it later.
    package var sessionLosses = 1
    /// No worker's wall clock is off by more than this, and now and then one steps.
    package var skew = Milliseconds.zero
    /// Whether a worker has the same `transactional.id` in each of its lives.
    package var hasFixedIDs = false
    /// Whether the members are static: a stop or a restart within the session moves no partitions.
    package var isStatic = false

    // Jobs.
    /// How many processes may follow the hub's messages; one of them at a time.
    package var followers = 0
    /// How often one is killed, stopped, frozen or replaced, or its topic has no leader or refuses every record.
    package var followerFaults = 6
    /// Share of a follower's actions before which it is killed.
    package var followerKills = 2_000

    /// How many processes may replay dead letters at a time; one of them has the lease.
    package var replays = 0
    /// How often an operator starts one, pauses one, or stops one, and one is killed, frozen or fenced.
    package var replayFaults = 12
    /// Share of a replay's actions before which it is killed.
    package var replayKills = 5_000

    /// How many processes may publish the campaign at a time; one of them has its name.
    package var publishers = 0
    /// The recipients that it has at first.
    package var recipients = 20
    /// How often an operator starts one, also beside another, pauses, resumes or cancels the campaign or stops it, and one is
    /// killed, frozen or fenced, or its topics are hidden, without a leader, or refuse every record.
    package var publisherFaults = 12
    /// Share of a publisher's actions before which it is killed.
    package var publisherKills = 5_000

    // What happens to the brokers.
    /// How often every topic gets one more partition.
    package var growths = 1
    /// How often all brokers are away for some seconds.
    package var outages = 1
    /// How often the coordinator of transactions, or that of groups, loads for some seconds.
    package var coordinatorLoads = 1
    /// How often a partition has no leader for some seconds.
    package var leaderLosses = 2
    /// How often somebody takes a worker's `transactional.id` over.
    package var rivals = 0
    /// Share of records that come to the producer too large with their diagnostics, and some without.
    package var oversized = 10_000
    /// Share of those of which the broker says it, and not what is known of the topic before.
    package var unknownLimits = 300_000
    /// Share of records that find the producer's queue full.
    package var fullQueues = 5_000
    /// Share of records that the broker refuses.
    package var refusedRecords = 10_000
    /// Share of events of which brokers refuse each record for a while.
    package var invalidEvents = 0
    /// So many records a second each transactional producer may write: a quota; 0: as many as it likes.
    package var quota = 0
    /// Share of appended records whose acknowledgement is lost or seconds late.
    package var lostAcknowledgements = 5_000
    /// Share of commits and other calls to the broker that do not arrive, or whose reply is lost or seconds late.
    package var lostMessages = 30_000
    /// Share of requests for a transaction that are sent twice, because the connection ended, and whose first copy arrives
    /// later, perhaps during another transaction.
    package var lateRequests = 10_000
    /// Share of calls of transactional producers that fail for no reason but to be aborted, or for good.
    package var abortableErrors = 10_000
    package var fatalErrors = 3_000
    /// How often a topic refuses every record for some seconds (a full disk, a right that is missing).
    package var refusals = 1
    /// How often retention deletes records of a consumed topic that are dealt with.
    package var retentions = 2
    /// How often the group loses its offsets; not with recreations, whose results name offsets of the former topic.
    package var offsetLosses = 0
    /// Share of partitions about which no broker answers when a worker asks where they begin; it asks again.
    package var unanswered = 0
    /// How often another program joins the group, commits offsets of its own, and leaves; not where logs begin anew.
    package var strangers = 0
    /// How often a topic that workers consume is deleted and recreated.
    package var recreations = 0
    /// How often the log of a request partition is cut off.
    package var cuts = 0

    // What is published.
    /// Share of records that are followed by a marker, or by the records of an aborted transaction.
    package var gaps = 40_000
    /// Share of records that a client fails to read once, or that are followed by a batch that nobody can read.
    package var damages = 0
    /// Share of bursts that are published in a transaction which stays open for seconds, and may be aborted.
    package var openTransactions = 20_000
    /// Share of events that are published a second time, seconds later.
    package var twins = 30_000

    // Campaigns.
    /// Share of readable events that belong to one.
    package var campaignShare = 300_000
    /// How often somebody pauses, resumes or cancels one.
    package var campaignChanges = 3
    /// How often the campaigns topic has no leader or refuses every record for some seconds, or is deleted and made anew.
    package var campaignsFaults = 1
    /// The share of failures with which one is to be paused.
    package var pauseIfFailures: Double?
    static let campaigns = 2

    // The backend.
    /// Share of a worker's connections to the backend that end with all calls on them, up to sixteen; 0: each call has one of
    /// its own.
    package var connectionLosses = 0
    /// Whether the backend's password breaks, its name vanishes and so on for a while.
    package var hasStorms = true
    /// What each storm is; without it any.
    var storm: SimulatedBackend.Storm?
    package var isBackendCalm = false
    /// Users whose calls hang for ever, and users that are refused.
    package var hanging: Set<Int> = []
    package var forbidden: Set<Int> = [3]

    // What others must not feel.
    /// Decides what is published and how the backend answers, instead of chance and the weather.
    package var trouble: Trouble?

    // Settings.
    package var ordering = Ordering.key
    package var maxInFlight = 40
    package var maxBufferedBytes = 16 << 20
    /// How many records a worker's client fetches ahead for each queue, and how many bytes the engine lets lie there.
    package var fetchedAhead = 100
    package var maxFetchedBytes = 56 << 20
    package var commitInterval: Milliseconds = .milliseconds(100)
    package var maxUnrecorded: Milliseconds = .seconds(1)
    package var drainTimeout: Milliseconds = .seconds(30)
    package var blockedAfter: Milliseconds = .seconds(15)
    /// For how long events are remembered, which all twins lie within.
    package var duplicateWindow: Milliseconds = .days(1)
    /// Whether a call is made again that may have reached the backend and has no answer.
    package var repeatsUnanswered = true
    package var immediate = 2
    /// Calls a second of each engine, over all push services and to each.
    package var callsPerSecond: Double?
    package var serviceCallsPerSecond: [Double?] = []
    package var breaker = BreakerRule()
    package var deadLetterBreaker = BreakerRule(share: 0.5, of: 200)
    /// How often somebody changes the settings of a worker that runs.
    package var settingsChanges = 2
    var delays = ["5s", "30s", "5m"].compactMap { DelayName($0) }
    /// Plain events only: valid, without moments of their own.
    package var hasPlainEvents = false
    /// The run must be quiet after this much virtual time.
    var longest: Milliseconds = .hours(3)

    let topics = Topics()
    let pushServices = PushServices.standard

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
        configuration.retry = RetryPolicy(immediate: immediate, delays: delays.map(\.length))
        return configuration
    }

    var consumedTopics: [ConsumedTopic] {
        topics.requests.enumerated().map { index, name in
            ConsumedTopic(name: name, role: .request(weight: Self.requestWeights[index]))
        } + delays.map { ConsumedTopic(name: topics.retryTopic($0), role: .retry(delay: $0.length)) }
    }

    static let requestWeights = [10, 1]

    /// More than there are events.
    static let duplicateSize = 100_000

    /// The topics that are written and not consumed.
    var otherTopics: [String] { [topics.results, topics.deadLetter] }

    /// The topics that only jobs write to.
    var jobTopics: [String] {
        (followers > 0 ? [topics.feedback] : []) + (replays > 0 ? [topics.state] : [])
            + (replays + publishers > 0 ? [topics.audit] : [])
            + (campaignShare > 0 || publishers > 0 ? [topics.campaigns] : [])
    }

    /// Weather and workers as calm as can be.
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
        connectionLosses = 0
        abortableErrors = 0
        fatalErrors = 0
    }
}
