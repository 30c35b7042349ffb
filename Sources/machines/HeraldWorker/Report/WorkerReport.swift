public import HeraldCore
import HeraldDriver
public import HeraldEvents
public import HeraldKafka
public import HeraldTime

/// The report of a worker at one moment.
public struct WorkerReport: Sendable {
    /// The names of the push services, in the order of the counters.
    public var pushServices: [String]
    /// The request topics, in the order of the counters.
    public var requestTopics: [String]
    /// Its lanes; empty before they are started.
    public var lanes: [LaneReport]
    /// `kafka.group`.
    public var group = ""
    /// The same with `kafka.bootstrapServers`.
    package var address = GroupAddress()
    /// The facts about the brokers.
    public var cluster: ClusterReport
    /// Whether it was told to stop.
    public var isStopping: Bool
    /// What is known of opt-outs and recalls; `nil` without `preferences.enabled`.
    public var lastWord: LastWordReport?

    /// A report.
    public init(
        pushServices: [String], requestTopics: [String], lanes: [LaneReport], cluster: ClusterReport,
        isStopping: Bool = false
    ) {
        self.pushServices = pushServices
        self.requestTopics = requestTopics
        self.lanes = lanes
        self.cluster = cluster
        self.isStopping = isStopping
    }

    /// The longest present wait that brokers impose on a client of this kind; `nil` without one.
    public func throttling(of client: Throttling.Client, now: MonotonicTime) -> Throttling? {
        lanes.filter { !$0.hasEnded }.flatMap(\.throttling).filter { $0.client == client && $0.isOn(now) }
            .max { $0.until < $1.until }
    }

    /// The reasons of the lanes' outages, each once.
    public var outages: [OutageReport] {
        var outages: [OutageReport] = []
        for case let outage? in lanes.map(\.outage) where !outages.contains(outage) { outages.append(outage) }
        return outages
    }

    /// The same with what to do, and since when the first of the lanes has held for the reason; a warning where no call
    /// has been tried for a while, and none can be now: whether it is over shows with the next one.
    package var outageFindings: [Finding] {
        outages.map { outage in
            let holding = lanes.filter { $0.outage?.reason == outage.reason }
            var finding = outage.reason.finding(status: outage.status, since: holding.compactMap(\.outageSince).min())
            if holding.allSatisfy(hasNothingToCall) {
                (finding.severity, finding.title) = (.warn, "The outage may be over")
                let (last, next) = (holding.compactMap(\.lastCall).max(), holding.compactMap(\.nextDue).min())
                finding.what += last.map { "; no call has been tried since \(RFC3339.text($0))" } ?? ""
                finding.what +=
                    next.map { "; the next is due at \(RFC3339.text($0)), and tries whether it is over" }
                    ?? (holding.allSatisfy(isIdle)
                        ? "; nothing waits, and the next event tries whether it is over"
                        : "; what waits is not to be called yet, and the next event tries whether it is over")
            }
            return finding
        }
    }

    /// Why events in memory wait that no call would be made for, whether there is an outage or not.
    private static let dormant: Set<WaitReason.Kind> = [
        .notBefore, .retryDue, .behindUser, .behindPartition, .behindSame, .sameUnderWay, .campaignPaused,
    ]

    /// Whether a lane has called nothing for a while, and has nothing to call now, as the brokers have said since it holds.
    private func hasNothingToCall(_ lane: LaneReport) -> Bool {
        guard let asOf = cluster.endsAsOf, let since = lane.outageSince, asOf > since, lane.calls == 0,
            lane.meter.lastCallAt.map({ lane.at.time(since: $0) >= NewestCalls.shortest }) ?? true
        else { return false }
        let isDormant = lane.waiting.enumerated().allSatisfy { place, count in
            count == 0 || WaitReason.Kind.allCases.contains { Int($0.rawValue) == place && Self.dormant.contains($0) }
        }
        guard lane.events == 0 || isDormant && !lane.waiting.isEmpty else { return false }
        return lane.partitions.allSatisfy { report in
            guard let lag = cluster.lag(of: report), let end = cluster.ends[report.partition] else { return false }
            guard lag > 0, let next = report.next else { return lag == 0 }
            // What lies behind the first record of a delay topic is due later.
            return next >= end || report.delay != nil && report.done.map { next > $0 } ?? false
        }
    }

    private func isIdle(_ lane: LaneReport) -> Bool {
        lane.events == 0 && lane.partitions.allSatisfy { cluster.lag(of: $0) == 0 }
    }

    /// The push services that lanes hold alone, each as the first of them does.
    public var holds: [ServiceHold] {
        pushServices.indices.compactMap { service in
            lanes.flatMap(\.holds).filter { $0.service == service }.min { $0.since < $1.since }
        }
    }

    /// The same with what to do.
    package var holdFindings: [Finding] { holds.map { $0.finding(pushServices[$0.service]) } }

    /// The obstacle that keeps lanes out of their group until a setting is changed.
    public var groupObstacle: GroupObstacle? {
        cluster.coordinatorObstacle ?? lanes.filter { !$0.hasEnded }.lazy.compactMap(\.groupObstacle).first
    }

    /// Whether the group has let it in and given it a share, be it of no partitions.
    public var isMember: Bool {
        lanes.contains { !$0.hasEnded && ($0.phase == .taking || $0.phase == .stopping || $0.beginning != nil) }
    }

    /// The number of events in memory that wait for this reason.
    public func waiting(for kind: WaitReason.Kind) -> Int {
        let place = Int(kind.rawValue)
        return lanes.reduce(0) { $0 + ($1.waiting.indices.contains(place) ? $1.waiting[place] : 0) }
    }

    /// Every partition of the lanes, and how many offsets of it are not done; `nil` when that is not known yet.
    public var lags: [(partition: PartitionReport, offsets: Int64?)] {
        lanes.flatMap(\.partitions).map { ($0, cluster.lag(of: $0)) }
    }

    /// The waiting time of each request topic's oldest event that is not final (milliseconds); 0 without any.
    ///
    /// The last is that of events whose request topic is not among ``requestTopics``. What a lane knows, in memory and of delay topics, counts from the event's publication; what lies unconsumed in a
    /// request topic counts from when the worker first saw it there.
    public func oldestEventAges(now: Moment) -> [Milliseconds] {
        var ages = Array(repeating: Milliseconds.zero, count: requestTopics.count + 1)
        for lane in lanes {
            for (place, since) in lane.oldestEvents.enumerated() {
                if let since { ages[place] = max(ages[place], now.wall.time(since: since)) }
            }
            for report in lane.partitions {
                guard let place = requestTopics.firstIndex(of: report.partition.topic),
                    let since = cluster.backlog.since(report)
                else { continue }
                ages[place] = max(ages[place], now.monotonic.time(since: since))
            }
        }
        return ages
    }
}

/// The facts about the brokers, and their facts about the topics.
public struct ClusterReport: Sendable, Equatable {
    /// Whether a broker answered the latest question; `nil` before the first was asked.
    public var isReachable: Bool?
    /// Whether no broker answered the latest questions, be it for a moment only: after the time that a restart takes
    /// ``isReachable`` says so.
    public var isSilent = false
    /// The reason why none did: a failed login, if there was one.
    public var error: KafkaError?
    /// That the brokers refuse the login; `nil` when that is not what is in the way.
    package var loginTrouble: Finding? {
        guard isReachable == false, let error, error.isOfLogin else { return nil }
        return Finding(.loginFailed, "Herald cannot log in to the brokers (\(error.words))")
    }
    /// That these topics are missing.
    package static func missing(_ topics: [String]) -> Finding {
        let (noun, verb, them) = topics.count == 1 ? ("topic", "is", "it") : ("topics", "are", "them")
        return Finding(
            .topicsMissing,
            "the \(noun) \(topics.joined(separator: ", ")) \(verb) missing, or Herald may not see \(them)",
            place: topics)
    }
    /// The reason why the group, or transactions, have no coordinator while lanes wait for one.
    public var coordinatorObstacle: GroupObstacle?
    /// Topics that Herald needs and that are missing, or that it may not see.
    public var missingTopics: [String] = []
    /// Partitions without a leader.
    public var leaderless: [TopicPartition] = []
    /// Brokers with copies of Herald's partitions that did not answer the latest question.
    public var silentBrokers: [ClusterMetadata.Broker] = []
    /// How many brokers the cluster has, silent ones included; 0 before that is known.
    public var brokerCount = 0
    /// Partitions that a silent broker leads.
    public var silentlyLed: [TopicPartition] = []
    /// Whether a silent broker coordinates the group, or transactions of the lanes.
    public var silentlyCoordinated: [GroupObstacle.Topic] = []
    /// How the calls to push services went within the last minute.
    public var services = ServiceTroubles()
    /// Partitions that cannot be written because too few of their brokers answer.
    public var unusable: [TopicPartition] = []
    /// Those of them that cannot be read either, because their leader does not answer.
    public var unreadable: [TopicPartition] = []
    /// Partitions with a leader and fewer copies in step than they should have.
    public var underReplicated: [TopicPartition] = []
    /// Partitions of request topics whose events are not taken, for no known reason.
    public var standingStill: [TopicPartition] = []
    /// For how long they have not been taken, at least.
    public static let standstillSeconds = StandstillWatch.patience.wholeSeconds
    /// Records that break the publishing contract, since the start.
    public var faultyRecords: [FaultyRecords] = []
    /// The offset after the last of each partition, committed or not, as far as its leader ever said.
    public var ends: [TopicPartition: Int64] = [:]
    /// When they were asked for last, of those of which all were told.
    public var endsAsOf: WallTime?
    /// Up to where each can be read: its last stable offset.
    public var stableEnds: [TopicPartition: Int64] = [:]
    /// Where the partitions of retry topics begin, of those of which it was told now.
    var delayBegins: [TopicPartition: Int64] = [:]
    /// Whether records of a delay's partition were deleted that a lane has still to take and does not fetch: it would find out
    /// when the first is due.
    func isOvertaken(_ place: PartitionReport, in lane: LaneReport) -> Bool {
        guard place.delay != nil, place.isHeld, let next = place.next, let begin = delayBegins[place.partition] else {
            return false
        }
        return next < begin && !lane.lostRecords.contains { $0.partition == place.partition }
    }
    /// The transactions open for longer than a live publisher's.
    public var openTransactions: [OpenTransaction] = []
    /// That topics are configured otherwise than the settings want.
    package var drift: Finding?
    /// The time since which the request topics' undone records have been there.
    var backlog = BacklogTimes()
    /// The group's members that are no workers, at the latest look; `nil` before the brokers have told.
    public var strangers: [GroupDescription.Stranger]?
    /// The growth of all lags together each second, over the last minute; `nil` before that is known.
    public var lagPerSecond: Double?
    /// librdkafka's statistics of all consumers together.
    public var consumers = ClientStatistics()
    /// librdkafka's statistics of all producers together.
    public var producers = ClientStatistics()

    /// Nothing is known yet.
    public init() {}

    /// The number of undone offsets of a partition; the ends of transactions count until they are passed.
    public func lag(of report: PartitionReport) -> Int64? {
        guard let end = ends[report.partition] else { return nil }
        // Nothing was committed and nothing has come yet: where it begins is not known, unless nothing could be read.
        guard let done = report.done else { return (stableEnds[report.partition] ?? end) == 0 ? end : nil }
        return max(0, end - done)
    }

    /// The number of offsets of a partition after its first open transaction.
    public func unstable(_ partition: TopicPartition) -> Int64? {
        guard let end = ends[partition], let stable = stableEnds[partition] else { return nil }
        return max(0, end - stable)
    }
}
