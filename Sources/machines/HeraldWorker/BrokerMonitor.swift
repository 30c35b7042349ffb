import Glibc
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldThreads
import HeraldTime

/// Asks the brokers periodically, on a thread of its own, for facts that lanes do not see: silent brokers, missing
/// topics, partitions without a leader, the ends of partitions that are not fetched, and the numbers of partitions.
final class BrokerMonitor: Sendable {
    /// The time between two rounds of questions; also the wait after a round without an answer or with new partitions.
    private static let interval: Milliseconds = .seconds(10)
    private static let shortInterval: Milliseconds = .seconds(2)
    /// The time between rounds while single brokers do not answer.
    private static let silenceInterval: Milliseconds = .seconds(4)
    /// The time between two looks at whether the next round has to come early.
    private static let glance: Milliseconds = .seconds(1)
    /// Outcomes that wait for so much longer than a commit may take are a reason to ask the brokers at once.
    private static let commitDelay: Milliseconds = .seconds(2)
    /// The longest time for one question: the worker's end waits for it.
    private static let questionTimeout = Milliseconds.seconds(2)
    /// The time between two looks at the group's members.
    private static let memberInterval = Milliseconds.seconds(30)
    /// The number of rounds over which the lag's growth is measured.
    private static let rounds = 7

    private let admin: Admin
    /// Asks for the ends of partitions, uncommitted records included.
    private let uncommitted: Admin
    /// For the clients that ask single brokers.
    private let properties: ClientProperties
    private let requiredTopics: [String]
    /// What the settings want of the topics.
    private let wishes: TopicWishes
    /// The topics that publishers write to, in the order of the settings.
    private let requestTopics: [String]
    /// The lanes' group.
    private let group: String
    /// The names of the lanes' transactions; none without transactions.
    private let transactionalIDs: [String]
    /// The push services, in the order of the lanes' counters.
    private let pushServices: [String]
    /// The topics' limits.
    private let limits: RecordLimits
    /// The ends of partitions, where lanes look them up.
    private let reach: PartitionReach
    private let troubles: TroubleLog
    private let report = Guarded(ClusterReport())
    /// The topics at the latest answer.
    private let topics = Guarded([ClusterMetadata.Topic]())
    /// Where each broker was when the cluster named it last: of one that is gone it says the number alone.
    private let places = Guarded([Int32: ClusterMetadata.Broker]())
    /// What the client said between two rounds: a failed login appears only there, once.
    private let errorsAtRest = Guarded([ClientNotice]())
    private let end: Wakeup
    private let isStopping = Guarded(false)

    init(
        admin: Admin, properties: ClientProperties, requiredTopics: [String], wishes: TopicWishes,
        requestTopics: [String], group: String, transactionalIDs: [String], pushServices: [String],
        limits: RecordLimits, reach: PartitionReach, troubles: TroubleLog
    ) throws {
        self.admin = admin
        uncommitted = try Admin(properties: properties + [("isolation.level", "read_uncommitted")])
        self.properties = properties
        self.requiredTopics = requiredTopics
        self.wishes = wishes
        self.requestTopics = requestTopics
        self.group = group
        self.transactionalIDs = transactionalIDs
        self.pushServices = pushServices
        self.limits = limits
        self.reach = reach
        self.troubles = troubles
        end = try Wakeup()
    }

    /// The latest report.
    var latest: ClusterReport { report.withLock { $0 } }

    /// Notes that a broker answered, and which brokers it named.
    func noteAnswer(_ brokers: [ClusterMetadata.Broker]) {
        note(brokers)
        report.withLock { report in
            report.isReachable = true
            report.isSilent = false
            report.error = nil
        }
    }

    private func note(_ brokers: [ClusterMetadata.Broker]) {
        places.withLock { places in for broker in brokers { places[broker.id] = broker } }
    }

    /// Notes that no broker answered.
    ///
    /// - Parameters:
    ///   - error: the outcome of the question.
    ///   - notices: the client's latest notices. A failed login appears only there, once.
    func noteSilence(_ error: KafkaError, _ notices: [ClientNotice]) {
        let login = notices.compactMap(\.error).last(where: \.isOfLogin)
        report.withLock { report in
            report.isReachable = false
            report.isSilent = true
            let former = report.error.flatMap { $0.isOfLogin ? $0 : nil }
            report.error = login ?? former ?? error
        }
    }

    /// Ends ``run(reports:)``; from any thread.
    func stop() {
        isStopping.withLock { $0 = true }
        end.signal()
    }

    /// The thread's work.
    ///
    /// - Parameters:
    ///   - reports: gives the lanes' newest reports.
    ///   - tell: receives the topics' numbers of partitions, each time the brokers have answered.
    ///   - doubt: receives the partitions that have more records but fetch none.
    ///   - overtake: receives the delays' partitions that are not fetched, and of which records were deleted that are still to
    ///     be taken.
    func run(
        reports: () -> [LaneReport], tell: ([String: Int]) -> Void, doubt: ([TopicPartition]) -> Void,
        overtake: ([TopicPartition]) -> Void
    ) {
        var audit = PublisherAudit()
        var trend = LagTrend(rounds: Self.rounds)
        var services = ServiceTrend()
        var statistics = StatisticsSum()
        var shortage = BrokerShortage()
        var standstill = StandstillWatch()
        var transactions = OpenTransactionWatch(servers: properties["bootstrap.servers"] ?? "")
        var coordinator = CoordinatorWatch()
        var hasSettled = false
        var nextMembers = MonotonicTime.distantPast
        while !isStopping.withLock({ $0 }) {
            let lanes = reports()
            statistics.add(lanes)
            let counts = ask(about: lanes, &shortage, &transactions)
            let faulty = audit.look(
                at: lanes, topics: requestTopics, partitionCounts: counts, now: SystemClock.moment())
            if !faulty.isEmpty { troubles.publishers(faulty, now: SystemClock.monotonic()) }
            tell(counts)
            // Where none answers, the next round tells more than further questions.
            let isSilent = latest.isSilent
            if !isSilent { lookForObstacles(to: lanes, &coordinator) }
            // An embedded broker, and one that denies this user the answer, are not asked again.
            if limits.isKnown, !isSilent, latest.silentBrokers.isEmpty, !isStopping.withLock({ $0 }) {
                _ = limits.ask(admin, about: requiredTopics, timeout: Self.questionTimeout)
                lookForDrift()
            }
            let known = latest
            let now = SystemClock.monotonic()
            let newest = reports()
            let (still, silent) = standstill.look(at: newest, ends: known.stableEnds, now: now)
            if !silent.isEmpty { doubt(silent) }
            let overtaken = newest.flatMap { lane in lane.partitions.filter { known.isOvertaken($0, in: lane) } }
            if !overtaken.isEmpty { overtake(overtaken.map(\.partition)) }
            let partitions = newest.flatMap(\.partitions)
            trend.add(newest, known, at: now)
            report.withLock { report in
                report.faultyRecords = audit.found
                report.lagPerSecond = trend.perSecond
                report.backlog.note(partitions.filter { $0.delay == nil }, ends: report.ends, at: now)
                report.standingStill = still
                report.consumers = statistics.consumers
                report.producers = statistics.producers
            }
            let isComplete = !partitions.isEmpty && partitions.allSatisfy { known.ends[$0.partition] != nil }
            if isComplete, !hasSettled {
                hasSettled = true
                ProgramPages.release()
            }
            let isMember = newest.contains { $0.isReady && !$0.hasEnded }
            if isMember, !isSilent, now >= nextMembers, known.silentBrokers.isEmpty, !isStopping.withLock({ $0 }) {
                nextMembers = now.advanced(by: Self.memberInterval)
                lookAtMembers()
            }
            let isWell = isComplete && known.isReachable == true
            let interval =
                !isWell || shortage.isCounting
                ? Self.shortInterval
                : known.silentBrokers.isEmpty ? Self.interval : Self.silenceInterval
            rest(interval, reports, &services)
        }
    }

    /// Waits for the next round, which comes early when a broker has closed its connection, or outcomes wait for too long;
    /// looks at the lanes' calls meanwhile.
    private func rest(_ interval: Milliseconds, _ reports: () -> [LaneReport], _ services: inout ServiceTrend) {
        var (rest, left) = (interval > Self.shortInterval ? Self.glance : interval, interval)
        while left > .zero, !isStopping.withLock({ $0 }) {
            let troubles = services.look(at: reports(), names: pushServices, now: SystemClock.monotonic())
            report.withLock { $0.services = troubles }
            _ = end.wait(for: rest.duration)
            left = left - rest
            rest = min(Self.glance, left)
            // An idle connection is none: each broker is asked more often than it closes those.
            let errors = admin.takeNotices().notices.filter { notice in
                notice.error.map { $0.kind == .unreachable || $0.isOfLogin } ?? false
            }
            errorsAtRest.withLock { $0 += errors }
            if !errors.isEmpty || areLate(reports()) { return }
        }
    }

    private func areLate(_ lanes: [LaneReport]) -> Bool {
        let now = SystemClock.monotonic()
        return lanes.contains { lane in
            guard !lane.hasEnded, let since = lane.outcomesWaitSince else { return false }
            return now.time(since: since) > lane.commitInterval + Self.commitDelay
        }
    }

    /// The clients that ask in one round.
    private struct Round {
        var admin: Admin
        var uncommitted: Admin
        var metadata: ClusterMetadata
        /// Those that are known not to answer.
        var silent: [ClusterMetadata.Broker] = []
    }

    /// Asks for the topics, and finds the clients for the questions that follow.
    ///
    /// A client (librdkafka's `rd_kafka_broker_weight_usable`) sends its questions to the broker that it asked last, also
    /// when that hangs and others answer. Then each broker is asked by itself, and another client goes on with those that
    /// answer.
    private func round(_ names: [String]) throws(KafkaError) -> Round {
        do throws(KafkaError) {
            return Round(
                admin: admin, uncommitted: uncommitted,
                metadata: try admin.metadata(topics: names, timeout: Self.questionTimeout))
        } catch {
            let known = places.withLock { $0.values.sorted { $0.id < $1.id } }
            guard error.kind == .unreachable, known.count > 1, !isStopping.withLock({ $0 }) else { throw error }
            let silent = BrokerProbe.silent(among: known, properties: properties, timeout: Self.questionTimeout)
            let others = known.filter { !silent.contains($0) }
            guard !others.isEmpty, !isStopping.withLock({ $0 }) else { throw error }
            let own =
                properties.without(["bootstrap.servers", "statistics.interval.ms"]).unnoted + [
                    ("bootstrap.servers", others.map(\.address).joined(separator: ","))
                ]
            let admin = try Admin(properties: own)
            return Round(
                admin: admin, uncommitted: try Admin(properties: own + [("isolation.level", "read_uncommitted")]),
                metadata: try admin.metadata(topics: names, timeout: Self.questionTimeout), silent: silent)
        }
    }

    /// - Returns: the number of partitions of each topic, as far as the brokers answered now.
    private func ask(
        about lanes: [LaneReport], _ shortage: inout BrokerShortage, _ transactions: inout OpenTransactionWatch
    ) -> [String: Int] {
        // Otherwise they pile up.
        defer {
            errorsAtRest.withLock { $0 = [] }
            (_, _) = (admin.takeNotices(), uncommitted.takeNotices())
        }
        let partitions = lanes.flatMap(\.partitions).map(\.partition)
        var heard = SystemClock.monotonic()
        do throws(KafkaError) {
            let round = try round(Set(requiredTopics + partitions.map(\.topic)).sorted())
            heard = SystemClock.monotonic()
            let topics = round.metadata.topics
            self.topics.withLock { $0 = topics }
            noteAnswer(round.metadata.brokers)
            let moved = admin.takeMovedBrokers()
            if !moved.isEmpty { troubles.moved(moved) }
            report.withLock { report in
                report.missingTopics = topics.filter { $0.error != nil && $0.partitions.isEmpty }.map(\.name)
                report.leaderless = topics.flatMap { topic in
                    topic.leaderlessPartitions.map { TopicPartition(topic: topic.name, partition: $0) }
                }
            }
            let delayed = lanes.flatMap(\.partitions).filter { $0.delay != nil }.map(\.partition)
            let (answering, stable, written) = askEnds(of: Set(partitions), delayed: Set(delayed), round)
            // A lane's own transaction may be open for as long as its commit is due, and three times that when it was killed.
            let own = 3 * (lanes.map(\.commitInterval).max() ?? .zero)
            let open = transactions.look(
                stable: stable, ends: written, now: SystemClock.moment(), patience: OpenTransaction.patience + own)
            transactions.keep(Set(partitions))
            report.withLock { $0.openTransactions = open }
            let silent = silentBrokers(round, answering: answering)
            let counts = topics.partitionCounts
            guard !isStopping.withLock({ $0 }) else { return counts }
            let missing = Set(silent.map(\.id))
            // What one of them said before is no answer by now.
            if !missing.isEmpty, missing.isSuperset(of: round.metadata.brokers.map(\.id)) {
                throw KafkaError(code: KafkaError.Code.allBrokersDown)
            }
            let unusable = shortage.look(
                at: topics, silent: missing, copies: limits.copies, now: SystemClock.monotonic())
            func led(_ isMeant: (ClusterMetadata.Partition) -> Bool) -> [TopicPartition] {
                topics.flatMap { topic in
                    topic.partitions.filter { $0.leader != nil && isMeant($0) }
                        .map { TopicPartition(topic: topic.name, partition: $0.id) }
                }
            }
            let silentlyLed = led { $0.leader.map(missing.contains) == true }
            let lacking = led { $0.inSyncReplicaCount < $0.replicas.count || !missing.isDisjoint(with: $0.replicas) }
            let coordinated = silent.isEmpty ? [] : coordinated(by: missing, round.admin)
            report.withLock {
                ($0.silentBrokers, $0.unusable) = (silent, unusable)
                $0.brokerCount = Set(round.metadata.brokers.map(\.id)).union(missing).count
                ($0.silentlyLed, $0.silentlyCoordinated) = (silentlyLed, coordinated)
                ($0.unreadable, $0.underReplicated) = (unusable.filter(silentlyLed.contains), lacking)
            }
            return counts
        } catch {
            let notices = errorsAtRest.withLock { $0 } + admin.takeNotices().notices
            let isOfLogin = error.isOfLogin || notices.contains { $0.error?.isOfLogin == true }
            let isLong = shortage.hearNothing(since: heard, now: SystemClock.monotonic())
            if isLong || isOfLogin || latest.isReachable != true {
                noteSilence(error, notices)
            } else {
                report.withLock { ($0.isSilent, $0.error) = (true, error) }
            }
            return [:]
        }
    }

    /// Whether these brokers coordinate the lanes' group, or transactions of theirs; where they may not see that, it is not
    /// told.
    private func coordinated(by silent: Set<Int32>, _ admin: Admin) -> [GroupObstacle.Topic] {
        [(GroupObstacle.Topic.groups, [group]), (.transactions, transactionalIDs)].compactMap { topic, names in
            guard !names.isEmpty, !isStopping.withLock({ $0 }),
                let found = try? admin.metadata(topics: [topic.rawValue], timeout: Self.questionTimeout).topics.first
            else { return nil }
            return names.contains { found.coordinator(of: $0).map(silent.contains) == true } ? topic : nil
        }
    }

    /// Compares the topics with the settings, by what was just told of them; logs what differs once.
    private func lookForDrift() {
        var existing: [String: TopicState] = [:]
        for topic in topics.withLock({ $0 }) where topic.error == nil {
            existing[topic.name] = limits.configuration(of: topic.name).map { TopicState(topic, $0) }
        }
        let drift = TopicPlan(wishes, existing: existing).drift(on: properties["bootstrap.servers"] ?? "")
        let former = report.withLock { report in
            defer { report.drift = drift }
            return report.drift
        }
        if let drift, drift.what != former?.what { troubles.drift(drift) }
    }

    /// Looks at the group's members; a broker that does not answer, such as the embedded one, leaves them unknown.
    private func lookAtMembers() {
        guard !admin.isOfEmbeddedBroker(timeout: .zero),
            let description = try? admin.describeGroup(group, timeout: Self.questionTimeout)
        else { return report.withLock { $0.strangers = nil } }
        let strangers = description.strangers(besides: properties["client.id"])
        report.withLock { $0.strangers = strangers }
        guard let words = strangers.words(in: group) else { return }
        troubles.note([(.group("\(words): \([GroupDescription.Stranger].remedy)"), 1)], now: SystemClock.monotonic())
    }

    /// Finds the obstacles that keep lanes out of their group, and logs each once and then sparsely.
    private func lookForObstacles(to lanes: [LaneReport], _ coordinator: inout CoordinatorWatch) {
        let now = SystemClock.monotonic()
        let missing = coordinator.look(at: lanes, now: now).flatMap { topic in
            (try? admin.metadata(topics: [topic.rawValue], timeout: Self.questionTimeout)).flatMap {
                GroupObstacle(topic, in: $0)
            }
        }
        report.withLock { $0.coordinatorObstacle = missing }
        let obstacles = Set(([missing] + lanes.map(\.groupObstacle)).compactMap { $0?.sentence })
        troubles.note(obstacles.map { (.group($0), 1) }, now: now)
    }

    /// Asks each leader for the ends of the lanes' partitions, or of another one where they have none.
    ///
    /// A leader's missing answer leaves the former one; an embedded broker never answers.
    ///
    /// - Parameter delayed: those of retry topics, which a lane does not fetch for a while: where they begin is asked, too.
    /// - Returns: the leaders that answered, with their present answers: the readable end and the log's end.
    private func askEnds(
        of wanted: Set<TopicPartition>, delayed: Set<TopicPartition>, _ round: Round
    ) -> (answering: Set<Int32>, stable: [TopicPartition: Int64], written: [TopicPartition: Int64]) {
        let asOf = SystemClock.wall()
        var led: [Int32: [TopicPartition]] = [:]
        for topic in round.metadata.topics {
            for partition in topic.partitions {
                guard let leader = partition.leader, !round.silent.contains(where: { $0.id == leader }) else {
                    continue
                }
                led[leader, default: []].append(TopicPartition(topic: topic.name, partition: partition.id))
            }
        }
        var answering: Set<Int32> = []
        var (stable, written): ([TopicPartition: Int64], [TopicPartition: Int64]) = ([:], [:])
        var begins: [TopicPartition: Int64] = [:]
        for (leader, partitions) in led.sorted(by: { $0.key < $1.key }) where !isStopping.withLock({ $0 }) {
            let asked = partitions.filter { wanted.contains($0) }
            let answer = try? round.admin.ends(
                of: asked.isEmpty ? Array(partitions.prefix(1)) : asked,
                timeout: Self.questionTimeout)
            guard let answer else { continue }
            answering.insert(leader)
            guard !asked.isEmpty else { continue }
            stable.merge(answer) { $1 }
            // The former stable end is never beyond it.
            if let answer = try? round.uncommitted.ends(of: asked, timeout: Self.questionTimeout) {
                written.merge(answer) { $1 }
            }
            let places = asked.filter(delayed.contains)
            if !places.isEmpty,
                let answer = try? round.admin.beginnings(of: places, timeout: Self.questionTimeout)
            {
                begins.merge(answer) { $1 }
            }
        }
        reach.note(written, of: wanted, now: SystemClock.monotonic())
        report.withLock { report in
            if wanted.allSatisfy({ written[$0] != nil }) { report.endsAsOf = asOf }
            report.delayBegins = begins
            report.ends = report.ends.filter { wanted.contains($0.key) }.merging(written) { $1 }
            report.stableEnds = report.stableEnds.filter { wanted.contains($0.key) }.merging(stable) { $1 }
        }
        return (answering, stable, written)
    }

    /// The brokers with copies of these topics that do not answer; one that the cluster has not named since the start is
    /// known by its number alone.
    private func silentBrokers(_ round: Round, answering: Set<Int32>) -> [ClusterMetadata.Broker] {
        let brokers = round.metadata.brokers
        let known = Set(round.silent.map(\.id))
        let holders = Set(round.metadata.topics.flatMap(\.partitions).flatMap(\.replicas)).subtracting(answering)
        let named = brokers.filter { holders.contains($0.id) && !known.contains($0.id) }
        let places = places.withLock { $0 }
        let gone = holders.intersection(known).union(holders.subtracting(brokers.map(\.id))).map { id in
            places[id] ?? ClusterMetadata.Broker(id: id, host: "", port: 0)
        }
        guard !named.isEmpty, !isStopping.withLock({ $0 }) else { return gone.sorted { $0.id < $1.id } }
        let silent = BrokerProbe.silent(
            among: named, properties: properties, timeout: Self.questionTimeout)
        return (gone + silent).sorted { $0.id < $1.id }
    }
}

extension [ClusterMetadata.Topic] {
    /// The number of partitions of each existing topic.
    var partitionCounts: [String: Int] {
        Dictionary(filter { $0.error == nil && !$0.partitions.isEmpty }.map { ($0.name, $0.partitions.count) }) { $1 }
    }
}

/// The sum of all lanes' client statistics: counts continue when a client is recreated and begins at 0.
struct StatisticsSum {
    private(set) var consumers = ClientStatistics()
    private(set) var producers = ClientStatistics()
    private var consumerOf: [Int: ClientStatistics] = [:]
    private var producerOf: [Int: ClientStatistics] = [:]
    private var seen: [Int: Int] = [:]

    mutating func add(_ lanes: [LaneReport]) {
        for lane in lanes where seen[lane.number] != lane.statistics.number {
            seen[lane.number] = lane.statistics.number
            if let news = ClientStatistics(json: lane.statistics.consumer) {
                consumers.addCounts(of: news, since: consumerOf.updateValue(news, forKey: lane.number))
            }
            if let news = ClientStatistics(json: lane.statistics.producer) {
                producers.addCounts(of: news, since: producerOf.updateValue(news, forKey: lane.number))
            }
        }
        consumers.setLevels(of: consumerOf.values)
        producers.setLevels(of: producerOf.values)
    }
}

extension ClientStatistics {
    private static var counts: [any WritableKeyPath<Self, Int> & Sendable] {
        [\.requests, \.requestErrors, \.requestRetries, \.disconnects, \.bytesSent, \.bytesReceived]
    }

    /// Adds the counts since `former`; a smaller number started from 0 again.
    fileprivate mutating func addCounts(of news: Self, since former: Self?) {
        for count in Self.counts {
            let before = former?[keyPath: count] ?? 0
            let now = news[keyPath: count]
            self[keyPath: count] += now >= before ? now - before : now
        }
    }

    fileprivate mutating func setLevels(of clients: some Sequence<Self>) {
        (recordsQueued, bytesFetchedAhead, brokersUp, brokersDown, slowestRoundTrip) = (0, 0, 0, 0, 0)
        for client in clients {
            recordsQueued += client.recordsQueued
            bytesFetchedAhead += client.bytesFetchedAhead
            brokersUp += client.brokersUp
            brokersDown += client.brokersDown
            slowestRoundTrip = max(slowestRoundTrip, client.slowestRoundTrip)
        }
    }
}
