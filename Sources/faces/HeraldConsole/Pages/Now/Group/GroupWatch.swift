import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTimeline
import HeraldTools

/// Asks Kafka every few seconds how the workers' group stands, on a thread of its own; joins nothing.
final class GroupWatch: ClusterWatch {
    static let threadName = "console-group"
    private static let pause = Duration.seconds(3)
    private static let probeTimeout = Milliseconds.seconds(2)
    /// After so many failures in a row the clients are recreated: one may go on asking a leader that has moved.
    private static let patience = 5

    private let plan: NowPlan
    private let latest = Guarded(GroupKnowledge.unasked)
    let wakeup: Wakeup

    init(_ plan: NowPlan) throws(SystemError) {
        self.plan = plan
        wakeup = try Wakeup()
    }

    var knowledge: GroupKnowledge { latest.withLock { $0 } }

    func run() {
        var inquiry: GroupInquiry?
        var failures = 0
        var last: GroupObservation?
        var brokers: [ClusterMetadata.Broker] = []
        repeat {
            do {
                let asking = try inquiry ?? GroupInquiry(plan)
                inquiry = asking
                let observation = try asking.observation(now: SystemClock.wall())
                (last, failures) = (observation, 0)
                latest.withLock { $0 = .known(observation) }
            } catch {
                failures += 1
                if let known = inquiry?.brokers, !known.isEmpty { brokers = known }
                let failure = Failure(
                    error: error, failures: failures, last: last, lacksCoordinator: inquiry?.lacksCoordinator ?? false)
                if let knowledge = failure.knowledge(census: { census(brokers) }) { latest.withLock { $0 = knowledge } }
                if failures % Self.patience == 0 { inquiry = nil }
            }
        } while !wakeup.wait(for: Self.pause)
    }

    /// - Parameter known: the brokers that the cluster named last; it is asked for them when there are none.
    private func census(_ known: [ClusterMetadata.Broker]) -> BrokerCensus {
        let properties = plan.clientProperties
        let brokers =
            known.isEmpty
            ? (try? Admin(properties: properties).metadata(topics: [], timeout: Self.probeTimeout))?
                .brokers ?? [] : known
        return BrokerCensus(
            brokers: brokers,
            silent: BrokerProbe.silent(
                among: brokers, properties: properties, timeout: Self.probeTimeout))
    }

    /// Which brokers there are, and which of them do not answer.
    struct BrokerCensus: Sendable {
        /// None when no broker has named them.
        var brokers: [ClusterMetadata.Broker]
        var silent: [ClusterMetadata.Broker]
    }

    /// A question that failed, and what is known then.
    struct Failure {
        /// Brokers that answer may be slow: so many questions in a row say that they do not tell.
        private static let slowness = 3

        var error: any Error
        var failures: Int
        var last: GroupObservation?
        /// Whether it was a question that only the group's coordinator answers.
        var lacksCoordinator = false

        /// Whether it is a matter of seconds.
        private var isPassing: Bool { (error as? KafkaError)?.kind == .settling }

        /// - Parameter census: asked for only when brokers are out of reach.
        /// - Returns: `nil` when it may be chance: what was known still holds.
        func knowledge(census: () -> BrokerCensus) -> GroupKnowledge? {
            let isChance = last != nil && failures < Self.slowness
            let refused = Refused(error)
            let safe = SafeText.escaped(
                isPassing
                    ? "a leader of the group's partitions, or its coordinator, is only just taking office"
                    : refused.description)
            guard refused.status == 503 else { return isChance && isPassing ? nil : .untold(safe, last: last) }
            let census = census()
            let names = census.silent.map { SafeText.escaped("\($0)") }.joined(separator: ", ")
            switch census.silent.count {
            case 0 where census.brokers.isEmpty: return .unreachable(safe, last: last)
            case 0: return isChance ? nil : .untold("the brokers answer, but not about the group: " + safe, last: last)
            case census.brokers.count: return .unreachable("no broker answers: " + names, last: last)
            case 1:
                let role = lacksCoordinator ? "it coordinates the group" : "it leads partitions of the group"
                return failures < 2 && isChance
                    ? nil : .tooFewBrokers("broker \(names) does not answer, and \(role)", last: last)
            default:
                let role = lacksCoordinator ? "the group's coordinator is" : "leaders of the group's partitions are"
                return failures < 2 && isChance
                    ? nil : .tooFewBrokers("brokers \(names) do not answer, and \(role) among them", last: last)
            }
        }
    }
}

/// The questions, and the clients that ask them.
///
/// One thread.
private final class GroupInquiry {
    private static let questionTimeout = Milliseconds.seconds(4)
    /// Where the first record is looked at, at most.
    private static let lookedAtLimit = 100
    private static let lookingLimit = Duration.seconds(2)
    /// So many events of a partition are counted one by one; of more, the offsets are.
    private static let countedLimit: Int64 = 500
    /// So late a retry may be before it counts as overdue.
    private static let lateness: Milliseconds = .seconds(30)

    private let plan: NowPlan
    private let admin: Admin
    private let group: Consumer
    private let reader: Consumer
    private var tracker = ProgressTracker()
    private var transactions: OpenTransactionWatch
    /// Those that the cluster named last.
    private(set) var brokers: [ClusterMetadata.Broker] = []
    /// Whether the last question was one that only the group's coordinator answers.
    private(set) var lacksCoordinator = false
    /// That topics are configured otherwise than the settings want, and when topics are looked at again.
    private var drift: Finding?
    /// Those of the settings and of other retry topics that there are.
    private var delays: [DelayName]
    private var nextLookAtTopics = MonotonicTime.distantPast
    private static let topicsPause: Milliseconds = .minutes(1)
    /// What was found in partitions where neither the group nor the end has moved since.
    private var ahead: [TopicPartition: (position: GroupPositions.Position, records: RecordsAhead)] = [:]
    /// Where the group stood at the last look.
    private var stands: [TopicPartition: Int64] = [:]

    init(_ plan: NowPlan) throws(KafkaError) {
        self.plan = plan
        delays = plan.search.delays
        transactions = OpenTransactionWatch(servers: plan.clientProperties["bootstrap.servers"] ?? "")
        admin = try Admin(properties: plan.clientProperties)
        group = try Consumer(properties: plan.groupProperties)
        reader = try Consumer(properties: plan.readerProperties)
    }

    deinit {
        group.close()
        reader.close()
    }

    func observation(now: WallTime) throws -> GroupObservation {
        lookAtTopics()
        let names = plan.search.topics.requests + delays.map(plan.search.topics.retryTopic)
        let metadata = try plan.reach.topics(names, admin)
        brokers = metadata.brokers
        lacksCoordinator = true
        let description = try admin.describeGroup(plan.search.group.name, timeout: Self.questionTimeout)
        lacksCoordinator = false
        let wanted = metadata.topics.flatMap { topic in
            topic.partitions.filter { $0.leader != nil }.map { TopicPartition(topic: topic.name, partition: $0.id) }
        }
        let survey = GroupSurvey(group.queries, admin: admin) { Self.questionTimeout }
        var positions = wanted.isEmpty ? GroupPositions(partitions: []) : try survey.positions(of: wanted)
        try look(at: &positions, isServed: !description.members.isEmpty)
        return try observation(description, metadata, positions, survey, now)
    }

    /// Finds the retry topics, and compares the topics with the settings; of one that it may not look at, and of the embedded
    /// broker's, it says nothing.
    private func lookAtTopics() {
        let now = SystemClock.monotonic()
        guard now >= nextLookAtTopics, !admin.isOfEmbeddedBroker(timeout: .zero) else { return }
        if let found = try? plan.reach.delays(plan.search.delays, of: plan.search.topics, admin) { delays = found }
        // What was mended is not told any longer than it takes to see it.
        nextLookAtTopics = now.advanced(by: drift == nil ? Self.topicsPause : .seconds(5))
        guard let answers = try? admin.describeConfigs(topics: plan.wishes.topicNames, timeout: Self.questionTimeout),
            let topics = try? plan.reach.topics(plan.wishes.topicNames, admin).topics
        else { return }
        let configurations = Dictionary(answers.filter { $0.error == nil }.map { ($0.topic, $0.values) }) { $1 }
        let states = topics.filter { $0.error == nil }.compactMap { topic in
            configurations[topic.name].map { (topic.name, TopicState(topic, $0)) }
        }
        drift = TopicPlan(plan.wishes, existing: Dictionary(states) { $1 }).drift(
            on: plan.clientProperties["bootstrap.servers"] ?? "")
    }

    /// Looks at what comes where the group stands still: only there it is worth a fetch.
    private func look(at positions: inout GroupPositions, isServed: Bool) throws(KafkaError) {
        let behind = positions.partitions.filter { $0.lag > 0 && $0.isInRange }
        ahead = ahead.filter { known in
            behind.contains { $0.partition == known.key && isKnown($0, known.value) }
        }
        let unknown = behind.filter { position in
            ahead[position.partition] == nil && (!isServed || stands[position.partition] == position.next)
        }.sorted { $0.lag > $1.lag }.prefix(Self.lookedAtLimit)
        stands = Dictionary(positions.partitions.map { ($0.partition, $0.next) }) { $1 }
        if !unknown.isEmpty {
            let found = try reader.recordsAhead(
                of: unknown.map { ($0.partition, offset: $0.next) }, within: Self.lookingLimit,
                counting: Self.countedLimit)
            for position in unknown {
                if let records = found[position.partition] { ahead[position.partition] = (position, records) }
            }
        }
        for index in positions.partitions.indices {
            positions.partitions[index].counted = ahead[positions.partitions[index].partition]?.records.count
        }
    }

    /// What is at the beginning stays so; a count holds until something is written behind it.
    private func isKnown(
        _ position: GroupPositions.Position, _ known: (position: GroupPositions.Position, records: RecordsAhead)
    ) -> Bool {
        position.next == known.position.next
            && (known.records.count == nil || position.stable == known.position.stable)
    }

    private func observation(
        _ description: GroupDescription, _ metadata: ClusterMetadata, _ positions: GroupPositions,
        _ survey: GroupSurvey, _ now: WallTime
    ) throws(KafkaError) -> GroupObservation {
        let delay: (TopicPartition) -> DelayName? = { [topics = plan.search.topics] in topics.delay(ofTopic: $0.topic) }
        func waiting(until moment: Int64) throws(KafkaError) -> [TopicPartition: Int64] {
            try survey.waiting(in: positions) { place in delay(place).map { moment - $0.length.count } }
        }
        let overdue = try waiting(until: now.milliseconds - Self.lateness.count)
        var due: [[TopicPartition: Int64]] = []
        for bound in GroupObservation.dueWithin {
            due.append(try waiting(until: now.milliseconds + Milliseconds(bound).count))
        }
        let taken = Set(description.members.flatMap(\.partitions))
        var partitions = positions.partitions.map { position in
            let place = position.partition
            var published: WallTime?
            if case .published(let moment) = ahead[place]?.records.first { published = moment }
            return GroupObservation.Partition(
                place: place, delay: delay(place)?.description, lag: position.lag,
                held: position.held, overdue: overdue[place] ?? 0, lost: position.lost,
                hasMember: taken.contains(place), oldest: published)
        }
        let dues = Dictionary(partitions.map { ($0.place, $0.due) }) { $1 }
        let still = tracker.look(at: positions, due: { dues[$0] ?? 0 }, now: now)
        for index in partitions.indices { partitions[index].stillSince = still[partitions[index].place] }
        var observation = GroupObservation(
            at: now, state: description.state, members: description.members, partitions: partitions)
        observation.backlogs = Self.backlogs(delays, partitions, due)
        observation.leaderless = metadata.topics.flatMap { topic in
            topic.leaderlessPartitions.map { TopicPartition(topic: topic.name, partition: $0) }
        }
        observation.strangers = description.strangers(besides: plan.clientProperties["client.id"])
        observation.openTransactions = transactions.look(
            stable: Dictionary(positions.partitions.map { ($0.partition, $0.stable) }) { $1 },
            ends: Dictionary(positions.partitions.map { ($0.partition, $0.end) }) { $1 }, now: SystemClock.moment())
        observation.name = plan.search.group.name
        observation.drift = drift
        return observation
    }

    private static func backlogs(
        _ delays: [DelayName], _ partitions: [GroupObservation.Partition], _ due: [[TopicPartition: Int64]]
    ) -> [GroupObservation.Backlog] {
        delays.map { delay in
            let own = partitions.filter { $0.delay == delay.description }
            return GroupObservation.Backlog(
                delay: delay.description, waiting: own.reduce(0) { $0 + $1.lag },
                due: due.map { counts in own.reduce(0) { $0 + (counts[$1.place] ?? 0) } })
        }
    }
}
