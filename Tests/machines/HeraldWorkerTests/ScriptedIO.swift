import HeraldBackend
import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

@testable import HeraldWorker

/// The world of a lane under test: answers as the test tells it to, and notes the lane's actions.
final class ScriptedIO: LaneIO {
    typealias Member = Int

    // Inputs of the lane.
    var now = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 1_700_000_000_000))
    var messages: [LaneMessage] = []
    private var unansweredBatch: (TopicPartition, RangeQuestion)?
    var rebalances: [Rebalance] = []
    var queues: [[ScriptedRecord]] = []
    var unforwarded: [ScriptedRecord] = []
    var endedCalls: [(CallToken, EndedCall)] = []
    var acknowledged: [(ProductionID, KafkaError?)] = []
    var endedCommits: [(UInt64, KafkaError?)] = []
    /// The results of the next offers to the producer.
    var produceAnswers: [ProduceAnswer] = []
    var transactionError: KafkaError?
    var consumerFailure: KafkaError?
    var producerFailure: KafkaError?
    var isClosed = false
    var generation = 1

    /// The receiver of calls and source of answers, when they are real.
    var backend: BackendCalls?

    // Actions of the lane.
    /// The lane's actions since the last look, in order.
    private var doings: [String] = []
    private(set) var calls: [CallToken] = []
    /// The `traceparent` of each call.
    private(set) var traceparents: [String] = []
    private(set) var productions: [ProductionID] = []
    /// The headers of each produced record.
    private(set) var producedHeaders: [[String: String]] = []
    private(set) var reports: [LaneReport] = []
    /// The former report is being read.
    var isReading = false

    /// Takes the noted actions.
    func takeDoings() -> [String] {
        defer { doings = [] }
        return doings
    }

    private func note(_ doing: String) { doings.append(doing) }

    private func text(_ bytes: RawSpan) -> String { bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    private func text(_ bytes: RawSpan?) -> String {
        guard let bytes else { return "none" }
        return text(bytes)
    }

    private func text(_ positions: [CommitPosition]) -> String {
        positions.map { "\($0.partition)@\($0.offset)" }.joined(separator: " ")
    }

    // MARK: Time, chance, messages

    var nextDeadline: MonotonicTime? { nil }
    func entropy() -> UInt64 { 0 }

    func drainMessages() -> [LaneMessage] {
        defer { messages = [] }
        return messages
    }

    // MARK: The group

    func subscribe() { note("subscribe") }

    func takeRebalance() -> Rebalance? { rebalances.isEmpty ? nil : rebalances.removeFirst() }

    func findStarts(of partitions: [TopicPartition], assignment: Int, after pause: Milliseconds) {
        note("find starts of \(partitions) for assignment \(assignment) after \(pause.count)")
    }

    func assign(_ positions: [(TopicPartition, offset: Int64)]) {
        note("assign \(positions.map { "\($0.0)@\($0.offset)" }.joined(separator: " "))")
    }

    func unassign() { note("unassign") }

    func member() -> Int? { generation }
    var clusterID: String? { nil }

    func commit(_ sequence: UInt64, _ positions: [CommitPosition]) -> KafkaError? {
        note("commit \(sequence): \(text(positions))")
        return nil
    }

    func commitOutcomes(_ body: (UInt64, KafkaError?) -> Void) {
        let ended = endedCommits
        endedCommits = []
        for (sequence, error) in ended { body(sequence, error) }
    }

    func consumerError() -> KafkaError? { consumerFailure }

    // MARK: Records

    func openQueues(_ count: Int) { queues = Array(repeating: [], count: count) }

    func forward(_ partition: TopicPartition, to queue: Int) { note("forward \(partition) to \(queue)") }

    func next(from queue: Int) -> ScriptedRecord? { queues[queue].isEmpty ? nil : queues[queue].removeFirst() }

    func nextUnforwarded() -> ScriptedRecord? { unforwarded.isEmpty ? nil : unforwarded.removeFirst() }

    func filledQueues(all: Bool, _ body: (Int) -> Void) {
        for queue in queues.indices where !queues[queue].isEmpty { body(queue) }
    }

    var queueCounts: [Int] { queues.map(\.count) }
    var fetchedBytes: Int { 0 }
    func retainQueue(_ queue: Int) { note("retain queue \(queue)") }
    func dropRetained(_ queue: Int) { note("drop what was retained of \(queue)") }
    func seek(_ partition: TopicPartition, to offset: Int64) { note("seek \(partition) to \(offset)") }
    func pause(_ partition: TopicPartition) { note("pause \(partition)") }
    func resume(_ partition: TopicPartition) { note("resume \(partition)") }

    func readCaps(of homes: [Int32], assignment: Int) { note("read caps of \(homes) for assignment \(assignment)") }

    func findRange(of partition: TopicPartition, _ question: RangeQuestion, after pause: Milliseconds) {
        let later = pause == .zero ? "" : ", after \(pause.count)"
        note("find range of \(partition), reading \(question.reading), offset \(question.wanted)\(later)")
    }

    func readBatch(of partition: TopicPartition, _ question: RangeQuestion) {
        note("read batch of \(partition), reading \(question.reading), offset \(question.wanted)")
        unansweredBatch = (partition, question)
    }

    /// Has the other client report what it found.
    func answerBatch(_ reading: BatchReading) {
        guard let (partition, question) = unansweredBatch else { preconditionFailure("no batch was asked for") }
        messages.append(.batch(partition, question, .success(reading)))
        unansweredBatch = nil
    }

    func emptyRecord(of partition: TopicPartition, at offset: Int64) -> ScriptedRecord {
        ScriptedRecord(partition.topic, partition.partition, offset, value: "")
    }

    // MARK: The producer

    func prepareProducer() { note("prepare the producer") }
    func renewProducer() { note("renew the producer") }

    func produce(
        _ id: ProductionID, _ production: Production, key: RawSpan?, value: RawSpan?, headers: HeaderList?
    ) -> ProduceAnswer {
        productions.append(id)
        let names = (0..<(headers?.count ?? 0)).compactMap { index -> String? in
            headers.map { text($0.name(at: index)) }
        }
        producedHeaders.append(
            Dictionary(
                (0..<(headers?.count ?? 0)).compactMap { index in
                    headers.map { (text($0.name(at: index)), text($0.value(at: index))) }
                }, uniquingKeysWith: { "\($0)|\($1)" }))
        let kind =
            switch production.content {
            case .result: "result"
            case .copy(let copy): if case .retry = copy.destination { "retry" } else { "deadLetter" }
            case .caps(let partition): "caps of \(partition)"
            }
        note("produce \(kind), key \(text(key)), headers \(names.sorted())")
        return produceAnswers.isEmpty ? .accepted : produceAnswers.removeFirst()
    }

    func deliveries(_ body: (ProductionID, KafkaError?) -> Void) {
        let reports = acknowledged
        acknowledged = []
        for (id, error) in reports { body(id, error) }
    }

    func producerError() -> KafkaError? { producerFailure }

    func beginTransaction() throws(KafkaError) {
        note("begin a transaction")
        if let transactionError { throw transactionError }
    }

    func commitTransaction(_ sequence: UInt64, _ positions: [CommitPosition], by member: Int?) {
        note("commit transaction \(sequence) for generation \(member ?? 0): \(text(positions))")
    }

    func abortTransaction() { note("abort") }

    func giveUpRecords() { note("give up the records that were not sent") }

    func resolveCommit(_ sequence: UInt64, _ positions: [CommitPosition]) {
        note("resolve commit \(sequence): \(text(positions))")
    }

    // MARK: The backend

    func call(
        _ token: CallToken, now: Moment, event: borrowing DecodedEvent, value: RawSpan, traceparent: [UInt8]
    ) {
        calls.append(token)
        if let backend {
            return backend.send(
                TargetCall(token: token.rawValue, pushService: Array("apns".utf8), now: now.wall), of: event,
                value: value, deadline: now.monotonic, now: now.monotonic)
        }
        let inherited = event.traceparent.isPresent ? text(event.bytes(of: event.traceparent, value: value)) : "none"
        traceparents.append(traceparent.isEmpty ? inherited : text(traceparent.span.bytes))
        let (user, message) = (event.bytes(of: event.user, value: value), event.bytes(of: event.message, value: value))
        let id = event.bytes(of: event.replayKey.isPresent ? event.replayKey : event.id, value: value)
        note("call service \(token.service) for \(text(user)): \(text(message)), id \(text(id))")
    }

    func answers(_ body: (CallToken, inout EndedCall) -> Void) {
        backend?.drain { token, call in body(CallToken(rawValue: token), &call) }
        let ended = endedCalls
        endedCalls = []
        for (token, var call) in ended { body(token, &call) }
    }

    func use(_ settings: LaneSettings) { note("up to \(settings.connectionLimit) connections") }
    func redact(_ detail: String, hiding hidden: RawSpan, named name: String) -> String {
        "\(detail) without \(name) '\(text(hidden))'"
    }

    func credentialsRefused(sentAt: MonotonicTime, isInOutage: Bool) {
        note("credentials refused at \(sentAt.nanoseconds / 1_000_000), holding: \(isInOutage)")
    }

    func renewCredentials() { note("renew credentials") }

    // MARK: The log

    func announce(_ notice: Notice, outage: Outage?) { note("announce \(notice)") }
    func announceTroubles(_ counters: Counters, since before: Counters, now: MonotonicTime) {}

    func pauseCampaign(_ failures: CampaignFailures) {
        note("pause \(failures.campaign): \(failures.failed) of \(failures.of)")
    }

    func leave(_ report: LaneReport) -> Bool {
        if !isReading { reports.append(report) }
        return !isReading
    }

    func isBroken(_ what: StaticString) { note("BROKEN: \(what)") }

    // MARK: The end

    func beginClosing() {
        note("begin to leave")
        isClosed = true
    }

    func wait(timeout: Milliseconds) -> LaneEvents {
        now.monotonic = now.monotonic.advanced(by: timeout)
        now.wall = now.wall.advanced(by: timeout)
        return [.consumer, .producer, .messages]
    }

    func close(_ report: LaneReport) {
        note("close")
        reports.append(report)
    }
}

/// A record of a test, or an error in its place; counts its releases.
final class ScriptedRecord: LaneRecord, RetainedRecord {
    let topic: String
    let partition: Int32
    let offset: Int64
    let error: KafkaError?
    private let key: [UInt8]?
    private let value: [UInt8]?
    private let headers: [(name: String, value: String)]
    private(set) var releases = 0
    private(set) var isKept = false

    init(
        _ topic: String, _ partition: Int32 = 0, _ offset: Int64, key: String? = nil, value: String? = nil,
        error: Int32? = nil, headers: [(name: String, value: String)] = []
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.key = key.map { Array($0.utf8) }
        self.value = value.map { Array($0.utf8) }
        self.error = error.map { KafkaError(code: $0) }
        self.headers = headers
    }

    /// An event for one user.
    convenience init(
        _ topic: String, at offset: Int64, user: String, services: [String] = ["apns"],
        headers: [(name: String, value: String)] = []
    ) {
        let names = services.map { "\"\($0)\"" }.joined(separator: ",")
        self.init(
            topic, 0, offset, key: user,
            value: #"{"user":"\#(user)","message":"hello","id":"\#(user)-\#(offset)","pns":[\#(names)]}"#,
            headers: headers)
    }

    var isError: Bool { error != nil }
    var timestampMilliseconds: Int64 { 1_700_000_000_000 }
    func topicName() -> String { topic }

    func withKey<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R {
        guard let key else { return try body(nil) }
        return try body(key.span.bytes)
    }

    func withValue<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R {
        guard let value else { return try body(nil) }
        return try body(value.span.bytes)
    }

    func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void) {
        for header in headers { body(header.name.utf8.span.bytes, header.value.utf8.span.bytes) }
    }

    var retained: ScriptedRecord { self }
    func keep() { isKept = true }
    func release() { releases += 1 }
}
