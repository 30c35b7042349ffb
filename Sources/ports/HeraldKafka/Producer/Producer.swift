internal import CRDKafka
internal import Glibc
public import HeraldThreads
public import HeraldTime
internal import Synchronization

/// A topic that a ``Producer`` writes to.
public final class ProducerTopic {
    let handle: TopicHandle
    /// Its name.
    public let name: String

    init(_ name: String, _ handle: TopicHandle) {
        self.name = name
        self.handle = handle
    }
}

/// Writes records and reports for each, by its token, whether the broker has it.
///
/// One thread makes topics, produces and takes deliveries. The transactional calls block and may run on one other
/// thread at the same time, hence `@unchecked Sendable`: while ``commitTransaction(timeout:)`` or
/// ``abortTransaction(timeout:)`` runs there, this thread must go on calling ``deliveries(_:)``, or it never ends.
public final class Producer: @unchecked Sendable {
    let handle: ClientHandle
    private let main: OpaquePointer?
    private var notified: Wakeup?
    private var topics: [String: ProducerTopic] = [:]
    /// The arguments of a produce call, all but the last few fields set once.
    private let arguments: UnsafeMutablePointer<rd_kafka_vu_t>
    /// Whether a record was given up that a broker may have.
    ///
    /// The sequence numbers of client and broker may then differ: see ``beginTransaction()``. The thread that takes
    /// deliveries writes it; it is read after an abort, which waits for the deliveries.
    private let gaveUpSentRecord = Atomic(false)

    private enum Argument {
        static let topic = 0
        static let flags = 1
        static let partition = 2
        static let key = 3
        static let value = 4
        static let opaque = 5
        /// The last two, so that they can be omitted.
        static let headers = 6
        static let timestamp = 7
        static let count = 8
    }

    /// Makes the client.
    ///
    /// - Parameter properties: librdkafka's properties (`acks`, `enable.idempotence`, `transactional.id` …).
    ///   `partitioner` is `murmur2_random` unless given: a key goes where Java's producer would put it.
    /// - Throws: an error that names the wrong property.
    public init(properties: ClientProperties) throws(KafkaError) {
        let configuration = ClientConfiguration()
        try configuration.set(properties: properties, defaults: [("partitioner", "murmur2_random")])
        rd_kafka_conf_set_events(configuration.pointer, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_STATS)
        handle = try ClientHandle(RD_KAFKA_PRODUCER, configuration)
        main = rd_kafka_queue_get_main(handle.client)
        arguments = .allocate(capacity: Argument.count)
        arguments.initialize(repeating: rd_kafka_vu_t(), count: Argument.count)
        arguments[Argument.topic].vtype = RD_KAFKA_VTYPE_RKT
        arguments[Argument.flags].vtype = RD_KAFKA_VTYPE_MSGFLAGS
        arguments[Argument.flags].u.i = RD_KAFKA_MSG_F_COPY
        arguments[Argument.partition].vtype = RD_KAFKA_VTYPE_PARTITION
        arguments[Argument.key].vtype = RD_KAFKA_VTYPE_KEY
        arguments[Argument.value].vtype = RD_KAFKA_VTYPE_VALUE
        arguments[Argument.opaque].vtype = RD_KAFKA_VTYPE_OPAQUE
        arguments[Argument.headers].vtype = RD_KAFKA_VTYPE_HEADERS
        arguments[Argument.timestamp].vtype = RD_KAFKA_VTYPE_TIMESTAMP
    }

    deinit {
        arguments.deallocate()
        main?.signal(nil)
        rd_kafka_queue_destroy(main)
    }

    /// The topic of this name, made once and kept as long as the producer.
    public func topic(_ name: String) throws(KafkaError) -> ProducerTopic {
        if let known = topics[name] { return known }
        let made = ProducerTopic(name, try TopicHandle(name, of: handle))
        topics[name] = made
        return made
    }

    /// Copies one record into the client's queue without blocking; ``deliveries(_:)`` reports the outcome.
    ///
    /// - Parameters:
    ///   - partition: `nil` lets the partitioner choose by the key.
    ///   - timestamp: Milliseconds since the Unix epoch; `nil` for the current time.
    ///   - value: `nil` is a null value (a tombstone).
    ///   - headers: Taken over and freed in any case.
    ///   - token: Comes back with the delivery.
    /// - Returns: The reason for refusing the record, in which case no delivery follows; `nil` when it is queued. A
    ///   refused record does *not* fail the commit of a transaction: the caller has to handle it.
    public func produce(
        topic: ProducerTopic, partition: Int32? = nil, timestamp: Int64? = nil, key: RawSpan?, value: RawSpan?,
        headers: consuming ProducerHeaders? = nil, token: UInt64
    ) -> KafkaError? {
        arguments[Argument.topic].u.rkt = topic.handle.pointer
        arguments[Argument.partition].u.i32 = partition ?? RD_KAFKA_PARTITION_UA
        arguments[Argument.opaque].u.ptr = UnsafeMutableRawPointer(bitPattern: UInt(token))
        if let timestamp { arguments[Argument.timestamp].u.i64 = timestamp }
        let most = timestamp == nil ? Argument.timestamp : Argument.count
        guard let headers else {
            arguments[Argument.headers].u.headers = nil
            return send(key, value, argumentCount: timestamp == nil ? Argument.headers : most)
        }
        arguments[Argument.headers].u.headers = headers.raw
        if let error = send(key, value, argumentCount: most) { return error }
        headers.relinquish()
        return nil
    }

    /// Possible errors: `_QUEUE_FULL`, `MSG_SIZE_TOO_LARGE`, `_UNKNOWN_PARTITION`, `_UNKNOWN_TOPIC`, `_STATE` (no
    /// transaction), `_FATAL`, `_FENCED`.
    private func send(_ key: RawSpan?, _ value: RawSpan?, argumentCount: Int) -> KafkaError? {
        Self.lend(key) { key in
            Self.lend(value) { value in
                arguments[Argument.key].u.mem = Self.memory(key)
                arguments[Argument.value].u.mem = Self.memory(value)
                return KafkaError(consuming: rd_kafka_produceva(handle.client, arguments, argumentCount))
            }
        }
    }

    private static func lend<R>(_ span: RawSpan?, _ body: (UnsafeRawBufferPointer?) -> R) -> R {
        guard let span else { return body(nil) }
        return span.withUnsafeBytes { body($0) }
    }

    /// Empty bytes keep an address, because librdkafka takes a missing one for null.
    private static func memory(_ bytes: UnsafeRawBufferPointer?) -> rd_kafka_vu_s.__Unnamed_union_u.__Unnamed_struct_mem
    {
        guard let bytes else { return .init(ptr: nil, size: 0) }
        return .init(
            ptr: UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? ProducerHeaders.nothing), size: bytes.count)
    }

    /// Hands over each delivery that has arrived: the record's token, and its error (`nil`: the broker has the record).
    ///
    /// - Returns: Their number.
    @discardableResult
    public func deliveries(_ body: (UInt64, KafkaError?) -> Void) -> Int {
        serve(wait: .zero) { message, error in body(Self.token(of: message), error) }
    }

    /// The same with each record's partition and offset, blocking up to this long for the first: for tools.
    @discardableResult
    public func reports(wait: Milliseconds, _ body: (DeliveryReport) -> Void) -> Int {
        serve(wait: wait) { message, error in
            body(
                DeliveryReport(
                    token: Self.token(of: message), partition: message.pointee.partition,
                    offset: message.pointee.offset, error: error,
                    wasSent: rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED))
        }
    }

    private static func token(of message: UnsafePointer<rd_kafka_message_t>) -> UInt64 {
        UInt64(UInt(bitPattern: message.pointee._private))
    }

    private func serve(
        wait: Milliseconds, _ body: (UnsafePointer<rd_kafka_message_t>, KafkaError?) -> Void
    ) -> Int {
        var count = 0
        var wait = wait
        while let event = rd_kafka_queue_poll(main, Int32(clamping: wait)) {
            wait = .zero
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_DR:
                while let message = rd_kafka_event_message_next(event) {
                    count += 1
                    let error = KafkaError(message.pointee.err)
                    if error != nil, rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED {
                        gaveUpSentRecord.store(true, ordering: .relaxed)
                    }
                    body(message, error)
                }
            case RD_KAFKA_EVENT_ERROR:
                let text = rd_kafka_event_error_string(event).map { String(cString: $0) }
                handle.callbacks.note(rd_kafka_event_error(event).rawValue, text, of: handle.client)
            case RD_KAFKA_EVENT_STATS:
                let text = rd_kafka_event_stats(event)
                handle.callbacks.note(statistics: text, text.map { strlen($0) } ?? 0)
            default:
                break
            }
            rd_kafka_event_destroy(event)
        }
        return count
    }

    /// Signals the wake-up when the first delivery arrives after none; see ``MessageQueue/notify(_:)``.
    public func notify(_ wakeup: Wakeup) {
        main?.signal(wakeup)
        notified = wakeup
    }

    /// The number of records that await the broker's answer, or a call of ``deliveries(_:)``.
    public var outstanding: Int { Int(rd_kafka_outq_len(handle.client)) }

    /// Sends queued records without lingering and serves deliveries until none is outstanding; blocks.
    ///
    /// - Throws: `_TIMED_OUT` when records are still outstanding after this time; sending them continues.
    public func flush(
        timeout: Milliseconds, _ body: (UInt64, KafkaError?) -> Void = { _, _ in }
    ) throws(KafkaError) {
        let end = ContinuousClock.now + timeout.duration
        while outstanding > 0 {
            guard ContinuousClock.now < end else {
                throw KafkaError(
                    code: KafkaError.Code.timedOut, message: "\(outstanding) records are not acknowledged yet")
            }
            // Ends the lingering; it also counts records whose delivery was not taken yet, so it cannot detect the end.
            _ = rd_kafka_flush(handle.client, 1)
            _ = serve(wait: .milliseconds(10)) { message, error in body(Self.token(of: message), error) }
        }
    }

    /// Gives up queued and unacknowledged records: deliveries with `_PURGE_QUEUE` or `_PURGE_INFLIGHT` follow.
    public func purge() {
        // INVALID_ARG and NOT_IMPLEMENTED (for consumers) are impossible.
        _ = rd_kafka_purge(handle.client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
    }

    /// Gives up queued records, which no broker has been sent: deliveries with `_PURGE_QUEUE` follow.
    ///
    /// It does not wait for that.
    public func purgeQueue() {
        _ = rd_kafka_purge(handle.client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_NON_BLOCKING)
    }

    /// The reason against beginning a transaction: part of a former one may still take effect.
    var leftover: KafkaError? {
        let message: String
        if gaveUpSentRecord.load(ordering: .relaxed) {
            message = "a broker may have a record of the aborted transaction, whose number the next one would get"
        } else if handle.callbacks.controlRequests.mayArriveLate {
            message = "a request of the transaction before was not answered, and may yet arrive in the next one"
        } else {
            return nil
        }
        return KafkaError(code: KafkaError.Code.inconsistent, message: message, isFatal: true)
    }

    /// The number of this producer's claims of its `transactional.id` that no broker has answered.
    ///
    /// Each may arrive late and fence the current holder, which may be this producer.
    public var unansweredClaims: Int { handle.callbacks.controlRequests.unansweredClaims }

    /// The producer's fatal error, if any; recreate the client then.
    public func fatalError() -> KafkaError? { handle.fatalError() }

    /// Log lines and errors since the last call, and the number dropped.
    public func takeNotices() -> (notices: [ClientNotice], dropped: Int) { handle.callbacks.notices.take() }

    /// librdkafka's statistics of this client since the last call (`statistics.interval.ms`), for
    /// ``ClientStatistics/init(json:)``.
    public func takeStatistics() -> [UInt8]? { handle.takeStatistics() }

    /// The time that brokers made this client wait since the last call.
    public func takeThrottleTime() -> ThrottleTime { handle.takeThrottleTime() }

    /// Gives up all outstanding records (call ``flush(timeout:_:)`` first) and releases the topics.
    ///
    /// The client is destroyed when this object and its ``ProducerTopic``s are released.
    public func close() {
        purge()
        topics.removeAll()
    }
}

/// The outcome and place of one record, from ``Producer/reports(wait:_:)``.
public struct DeliveryReport: Sendable, Equatable {
    /// The token given to the produce call.
    public var token: UInt64
    /// The record's partition; -1 when it has none.
    public var partition: Int32
    /// The record's offset; negative when unknown.
    public var offset: Int64
    /// The reason that the broker may lack the record; `nil`: it has it.
    public var error: KafkaError?
    /// Whether a broker has or may have the record: with an error, its request went out and got no answer.
    public var wasSent: Bool
}
