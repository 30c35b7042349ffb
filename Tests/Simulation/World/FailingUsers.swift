import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTelemetry
import HeraldTime
import HeraldWorker

/// What is wrong with the topic of a delay.
package enum DelayFault: Sendable {
    /// It refuses two records of a transaction: its `max.message.bytes` has room for one.
    case refusesBatches
    /// It was deleted, as the lane hears a moment after its first record for it.
    case isMissing
}

/// A lane between topics that keep its records, and a backend that answers some users the same for ever.
final class FailingUsers: PlainIO {
    typealias Record = PlainRecord
    typealias Member = Int

    /// The prefix of failing users' names.
    static let mark = "bad-"
    /// The duration of a call (milliseconds).
    private static let latency: Int64 = 20
    private static let firstRetryTopic = 2
    private let names: [String]

    /// It knows these users, and has to be released in the end.
    private var lane: Lane<FailingUsers>?
    private let failure: CallResult
    private let failsFrom: Int64
    private let latencies: [(from: Int64, latency: Int64)]
    /// The exclusive processing time of a call (milliseconds), and the moment until which the backend is busy.
    private let work: Int64
    private var busyUntil: Int64 = 0
    private var time = Simulation.start
    private var topics: [[PlainRecord]]
    private var taken: [Int]
    /// The fetched offset of each source, and the paused sources.
    private var fetched: [Int]
    private var paused: Set<Int> = []
    /// Sources whose records were taken out of their queue.
    private var retained: Set<Int> = []
    /// The bytes that the client has fetched in its life.
    private(set) var fetchedBytes = 0
    /// The records of the open transaction, and the commits under way.
    private let isAtomic: Bool
    private var transaction: [(id: ProductionID, value: [UInt8], headers: HeaderList, topic: Int)] = []
    /// What is wrong with the first delay's topic.
    private let delayFault: DelayFault?
    /// The commit that waits for records of a topic that is missing, and the end of its transaction (milliseconds).
    private var waiting: (sequence: UInt64, until: Int64)?
    private static let transactionTimeout: Int64 = 10_000
    /// When the lane hears that the topic is missing (milliseconds).
    private var toldAt: Int64?
    private static let newsTake: Int64 = 100
    /// The end of the abort under way (milliseconds).
    private var aborted: Int64?
    private static let abortTakes: Int64 = 200
    private var commits = Agenda<UInt64>()
    /// The connections of the calls; their ends are the same each time.
    private var connections: SharedConnections
    private var chance = Chance(seed: 1, for: "bystanders.connections")
    private var calls = Agenda<(user: String, token: CallToken, result: CallResult)>()
    private var inbox = Inbox()
    private var acknowledgements: [ProductionID] = []
    private var ended: [(user: String, token: CallToken, result: CallResult)] = []
    private var published: [String: Int64] = [:]
    /// From publication to the first answer that took the message (milliseconds).
    private(set) var delays: [String: Int64] = [:]
    /// The offset of the latest called event of each user.
    private var latest: [String: Int64] = [:]
    /// The number of events called first after a later one of their user.
    private(set) var overtaken = 0
    /// The number of answered calls of marked users.
    private(set) var markedAnswers = 0
    /// The number of records in the delay topics.
    private(set) var deferrals = 0
    /// The campaign of the marked users' events, which the lane knows; `nil` without one.
    private let campaign: String?
    /// The moment at which the lane hears that it is paused, some time after its request.
    private var pausedFrom: Int64?
    private static let pauseTakes: Int64 = 1_000
    /// The number of outages.
    private(set) var outages = 0
    /// Whether the lane asked to pause the campaign.
    private(set) var hasAskedForPause = false

    /// - Parameters:
    ///   - failure: the answer to failing users.
    ///   - failsFrom: the beginning of the failures (milliseconds).
    ///   - latencies: the latencies from given times on (milliseconds).
    ///   - capacity: the number of calls a second that are processed.
    ///   - connectionLosses: the share of connections, in millionths, that end with all calls on them.
    init(
        answer failure: CallResult, from failsFrom: Int64, latencies: [(from: Int64, latency: Int64)], capacity: Int64?,
        connectionLosses: Int, maxInFlight: Int, delays: [String], isAtomic: Bool, delayFault: DelayFault?,
        campaign: String?
    ) {
        connections = SharedConnections(losses: connectionLosses)
        self.failure = failure
        self.campaign = campaign
        self.failsFrom = failsFrom
        self.latencies = latencies
        work = capacity.map { 1_000 / $0 } ?? 0
        var configuration = EngineConfiguration(decoder: RecordDecoder())
        configuration.retryDelays = delays.compactMap { DelayName($0) }
        configuration.retry = RetryPolicy(
            immediate: 1, delays: configuration.retryDelays.map(\.length))
        names = ["notifications", "notifications.bulk"] + delays.map { "notifications.retry.\($0)" }
        topics = Array(repeating: [], count: names.count)
        taken = Array(repeating: 0, count: names.count)
        fetched = taken
        configuration.maxInFlight = maxInFlight
        self.isAtomic = isAtomic
        self.delayFault = delayFault
        configuration.isAtomic = isAtomic
        lane = Lane(
            number: 0, configuration: configuration, requestWeights: Scenario.requestWeights, io: self, logger: .silent,
            intervals: .usual)
        tellCampaign(.running)
        turn()
    }

    func letGo() { lane = nil }

    func publish(_ user: String, to topic: Int, ofCampaign isOfCampaign: Bool = false) {
        published[user] = time
        let more = isOfCampaign ? campaign.map { #","source":"herald-campaign","campaign":"\#($0)""# } ?? "" : ""
        let value = #"{"user":"\#(user)","message":"m","pns":["apns"]\#(more)}"#
        append(Array(value.utf8), HeaderList(), to: topic)
    }

    private func append(_ value: [UInt8], _ headers: HeaderList, to topic: Int) {
        let record = PlainRecord(
            topic: names[topic], offset: Int64(topics[topic].count), value: value, headers: headers,
            timestampMilliseconds: time)
        topics[topic].append(record)
    }

    /// Fetches a broker's records of 10 ms, up to the client's limit for a queue.
    private func fetch() {
        for queue in topics.indices where !paused.contains(queue) && fetched[queue] - taken[queue] < 44_000 {
            let end = min(topics[queue].count, fetched[queue] + 6_000)
            guard end > fetched[queue] else { continue }
            for record in topics[queue][fetched[queue]..<end] {
                fetchedBytes += record.value.count + record.headers.byteCount
            }
            fetched[queue] = end
            inbox.events.insert(.consumer)
        }
    }

    func run(for milliseconds: Int64) {
        for _ in 0..<milliseconds / 10 {
            time += 10
            // The broker has the records produced before, and no sooner.
            inbox.acknowledgements += acknowledgements.map { ($0, nil) }
            acknowledgements = []
            inbox.events.insert(.producer)
            while let sequence = commits.next(until: time) { committed(sequence) }
            if let at = aborted, at <= time {
                aborted = nil
                tell(.transaction(.aborted(nil, .acknowledged)))
            }
            if let at = toldAt, at <= time {
                toldAt = .max
                tell(.missingTopics([names[Self.firstRetryTopic]]))
            }
            if let until = waiting?.until, until <= time { giveUpRecords() }
            if let from = pausedFrom, from <= time {
                pausedFrom = nil
                tellCampaign(.paused)
            }
            fetch()
            turn()
            while let call = calls.next(until: time) {
                ended.append(call)
                turn()
            }
        }
    }

    private func tellCampaign(_ state: CampaignControl.State) {
        guard let campaign else { return }
        tell(.campaign(campaign, CampaignControl(state: state, at: now.wall, by: "")))
    }

    private func turn() {
        guard let lane else { return }
        repeat {
            let events = inbox.events
            inbox.events = []
            lane.turn(events, after: .milliseconds(10))
        } while lane.mayHaveMore || !inbox.events.isEmpty
    }

    // MARK: What the lane drives

    var now: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: (time - Simulation.start) * 1_000_000),
            wall: WallTime(milliseconds: time))
    }

    func entropy() -> UInt64 { 0 }

    func drainMessages() -> [LaneMessage] {
        defer { inbox.messages = [] }
        return inbox.messages
    }

    func subscribe() {
        inbox.rebalances = [.assign(names.map { TopicPartition(topic: $0, partition: 0) })]
        inbox.events.insert(.consumer)
    }

    func takeRebalance() -> Rebalance? { inbox.rebalances.popLast() }

    func findStarts(of partitions: [TopicPartition], assignment: Int, after pause: Milliseconds) {
        let starts = partitions.map { StartPosition(committed: CommitPosition(partition: $0, offset: 0)) }
        tell(.starts(assignment: assignment, .success(starts)))
    }

    func member() -> Int? { nil }
    var clusterID: String? { nil }

    func commit(_ sequence: UInt64, _ positions: [CommitPosition]) -> KafkaError? {
        inbox.commits.append((sequence, .acknowledged))
        inbox.events.insert(.consumer)
        return nil
    }

    func commitOutcomes(_ body: (UInt64, KafkaError?) -> Void) {
        let commits = inbox.commits
        inbox.commits = []
        for commit in commits { body(commit.sequence, nil) }
    }

    func next(from queue: Int) -> PlainRecord? {
        guard taken[queue] < fetched[queue] else { return nil }
        defer { taken[queue] += 1 }
        return topics[queue][taken[queue]]
    }

    func filledQueues(all: Bool, _ body: (Int) -> Void) {
        for queue in topics.indices where taken[queue] < fetched[queue] { body(queue) }
    }

    var queueCounts: [Int] { topics.indices.map { fetched[$0] - taken[$0] } }

    func retainQueue(_ queue: Int) { retained.insert(queue) }

    func dropRetained(_ queue: Int) {
        retained.remove(queue)
        fetched[queue] = taken[queue]
    }

    func seek(_ partition: TopicPartition, to offset: Int64) {
        guard let topic = names.firstIndex(of: partition.topic) else { return }
        taken[topic] = Int(offset)
        fetched[topic] = Int(offset)
    }

    func pause(_ partition: TopicPartition) {
        guard let topic = names.firstIndex(of: partition.topic) else { return }
        paused.insert(topic)
        if !retained.contains(topic) { fetched[topic] = taken[topic] }
    }

    func resume(_ partition: TopicPartition) {
        guard let topic = names.firstIndex(of: partition.topic) else { return }
        paused.remove(topic)
        retained.remove(topic)
    }

    func prepareProducer() { tell(.transaction(.ready(lateClaims: 0))) }

    func beginTransaction() { transaction = [] }

    func commitTransaction(_ sequence: UInt64, _ positions: [CommitPosition], by member: Int?) {
        // A few requests, and the last of the records.
        commits.add(sequence, at: time + 20 + Int64(transaction.count / 100))
    }

    func abortTransaction() {
        transaction = []
        aborted = time + Self.abortTakes
    }

    func giveUpRecords() {
        guard let (sequence, _) = waiting else { return }
        waiting = nil
        refuse(transaction.map(\.id), KafkaError(code: KafkaError.Code.purgedInQueue), failing: sequence)
    }

    private func refuse(_ records: [ProductionID], _ error: KafkaError, failing sequence: UInt64) {
        inbox.acknowledgements += records.map { ($0, error) }
        inbox.events.insert(.producer)
        tell(.transaction(.committed(sequence: sequence, KafkaError(code: KafkaError.Code.state), .abortable)))
    }

    private func committed(_ sequence: UInt64) {
        let first = transaction.filter { $0.topic == Self.firstRetryTopic }
        switch delayFault {
        case .refusesBatches where first.count > 1:
            return refuse(first.map(\.id), KafkaError(code: KafkaError.Code.messageSizeTooLarge), failing: sequence)
        case .isMissing where !first.isEmpty:
            // The coordinator does not add its partitions, and the client asks it again and again.
            waiting = (sequence, time + Self.transactionTimeout)
            toldAt = toldAt ?? time + Self.newsTake
            return
        case .refusesBatches, .isMissing, nil: break
        }
        for record in transaction { append(record.value, record.headers, to: record.topic) }
        transaction = []
        tell(.transaction(.committed(sequence: sequence, nil, .acknowledged)))
    }

    private func tell(_ message: LaneMessage) {
        inbox.messages.append(message)
        inbox.events.insert(.messages)
    }

    /// Adds retries to their topics; acknowledges and forgets everything else.
    func produce(
        _ id: ProductionID, _ production: Production, key: RawSpan?, value: RawSpan?, headers: HeaderList?
    ) -> ProduceAnswer {
        if case .retry(let delay, _, _) = production.copy?.destination, let value, let headers {
            let (bytes, topic) = (value.withUnsafeBytes { Array($0) }, Self.firstRetryTopic + delay)
            if isAtomic { transaction.append((id, bytes, headers, topic)) } else { append(bytes, headers, to: topic) }
            deferrals += 1
        }
        if !isAtomic { acknowledgements.append(id) }
        return .accepted
    }

    func deliveries(_ body: (ProductionID, KafkaError?) -> Void) {
        let acknowledgements = inbox.acknowledgements
        inbox.acknowledgements = []
        for (id, error) in acknowledgements { body(id, error) }
    }

    func call(
        _ token: CallToken, now: Moment, event: borrowing DecodedEvent, value: RawSpan, traceparent: [UInt8]
    ) {
        let user = event.bytes(of: event.user, value: value).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let fails = user.hasPrefix(Self.mark) && time >= Simulation.start + failsFrom
        if event.attempts == 0, failure.status == 200 {
            if latest[user] ?? -1 > event.originOffset { overtaken += 1 }
            latest[user] = event.originOffset
        }
        var result = fails ? failure : CallResult(status: 200)
        busyUntil = max(busyUntil, time) + work
        var took = busyUntil - time + (fails ? latencyOfFailure : Self.latency)
        (result, took) = connections.carry(token, result, after: took, now: time, chance: &chance)
        result.duration = .milliseconds(took)
        calls.add((user, token, result), at: time + took)
    }

    private var latencyOfFailure: Int64 {
        let usual = failure.status == 0 ? SimulatedBackend.timeout : Self.latency
        return latencies.last { time >= Simulation.start + $0.from }?.latency ?? usual
    }

    func answers(_ body: (CallToken, inout EndedCall) -> Void) {
        let answers = ended
        ended = []
        for (user, token, result) in answers {
            connections.release(token)
            if user.hasPrefix(Self.mark) { markedAnswers += 1 }
            if result.status == 200, delays[user] == nil { delays[user] = time - published[user, default: time] }
            var call = EndedCall(result, at: now.monotonic)
            body(token, &call)
        }
    }

    func announce(_ notice: Notice, outage: Outage?) {
        if case .outageBegan = notice { outages += 1 }
    }

    func pauseCampaign(_ failures: CampaignFailures) {
        hasAskedForPause = true
        pausedFrom = time + Self.pauseTakes
    }

    func renewCredentials() {
        tell(.credentialsRenewed)
    }
}
