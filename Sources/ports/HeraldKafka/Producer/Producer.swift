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

/// Writes records and tells of each, by its token, whether the broker has it.
///
/// One thread makes topics, produces and takes deliveries. The transactional calls block and may be made on one other
/// thread at the same time, hence `@unchecked Sendable`: while ``commitTransaction(timeout:)`` or
/// ``abortTransaction(timeout:)`` run there, this one must go on calling ``deliveries(_:)``, or they never end.
public final class Producer: @unchecked Sendable {
    let handle: ClientHandle
    private let main: OpaquePointer?
    private var notified: Wakeup?
    private var topics: [String: ProducerTopic] = [:]
    /// The arguments of a produce call, all but the last few fields set once.
    private let arguments: UnsafeMutablePointer<rd_kafka_vu_t>
    /// A record was given up that a broker may have.
    ///
    /// The sequence numbers of client and broker may differ then: see ``beginTransaction()``. Written by the thread
    /// that takes deliveries, read when an abort has returned, which waits for them.
    private let gaveUpSentRecord = Atomic(false)

    private enum Argument {
        static let topic = 0
        static let flags = 1
        static let partition = 2
        static let key = 3
        static let value = 4
        static let opaque = 5
        /// The last two, because they are left out when there are none.
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

    /// Copies one record into the client's queue, never blocking; ``deliveries(_:)`` tells how it ended.
    ///
    /// - Parameters:
    ///   - partition: `nil` lets the partitioner choose by the key.
    ///   - timestamp: milliseconds since the Unix epoch; `nil` for now.
    ///   - value: `nil` is a null value (a tombstone).
    ///   - headers: taken over and freed in any case.
    ///   - token: comes back with the delivery.
    /// - Returns: why the record was refused, and then no delivery follows; `nil` when it is in the queue. In a
    ///   transaction a refused record does *not* fail the commit: the caller has to see to it.
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

    /// `_QUEUE_FULL`, `MSG_SIZE_TOO_LARGE`, `_UNKNOWN_PARTITION`, `_UNKNOWN_TOPIC`, `_STATE` (no transaction), `_FATAL`,
    /// `_FENCED` can come back.
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

    /// Empty bytes keep an address, or they would be null.
    private static func memory(_ bytes: UnsafeRawBufferPointer?) -> rd_kafka_vu_s.__Unnamed_union_u.__Unnamed_struct_mem
    {
        guard let bytes else { return .init(ptr: nil, size: 0) }
        return .init(
            ptr: UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? ProducerHeaders.nothing), size: bytes.count)
    }

    /// Hands over every delivery that has come: the record's token, and why the broker may not have it (`nil`: it has).
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func deliveries(_ body: (UInt64, KafkaError?) -> Void) -> Int {
        serve(wait: .zero) { message, error in body(Self.token(of: message), error) }
    }

    /// The same with the place that each record got, blocking up to this long while none has come: for tools.
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

    /// Signals the wake-up when deliveries come after there were none; see ``MessageQueue/notify(_:)``.
    public func notify(_ wakeup: Wakeup) {
        main?.signal(wakeup)
        notified = wakeup
    }

    /// How many records wait for the broker's answer, or for ``deliveries(_:)`` to be called.
    public var outstanding: Int { Int(rd_kafka_outq_len(handle.client)) }

    /// Blocks, sends what is queued without lingering and serves deliveries until none is outstanding.
    ///
    /// - Throws: `_TIMED_OUT` when records are still outstanding after this time; they go on being sent.
    public func flush(
        timeout: Milliseconds, _ body: (UInt64, KafkaError?) -> Void = { _, _ in }
    ) throws(KafkaError) {
        let end = ContinuousClock.now + timeout.duration
        while outstanding > 0 {
            guard ContinuousClock.now < end else {
                throw KafkaError(
                    code: KafkaError.Code.timedOut, message: "\(outstanding) records are not acknowledged yet")
            }
            // Ends the lingering; counts records whose delivery was not taken yet, so it cannot tell the end.
            _ = rd_kafka_flush(handle.client, 1)
            _ = serve(wait: .milliseconds(10)) { message, error in body(Self.token(of: message), error) }
        }
    }

    /// Gives up what is queued or on its way: deliveries with `_PURGE_QUEUE` or `_PURGE_INFLIGHT` follow.
    public func purge() {
        // INVALID_ARG and NOT_IMPLEMENTED (for consumers) are impossible.
        _ = rd_kafka_purge(handle.client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
    }

    /// Why no transaction can begin, if something of a former one may still take effect.
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

    /// How many of this producer's own claims of its `transactional.id` were sent that no broker has answered.
    ///
    /// Each of them may arrive late and fence the one that holds the name then, also this producer.
    public var unansweredClaims: Int { handle.callbacks.controlRequests.unansweredClaims }

    /// The producer's fatal error, if any: recreate the client then.
    public func fatalError() -> KafkaError? { handle.fatalError() }

    /// Log lines and errors since the last call, and how many more were dropped.
    public func takeNotices() -> (notices: [ClientNotice], dropped: Int) { handle.callbacks.notices.take() }

    /// What librdkafka has written of this client since the last call (`statistics.interval.ms`), for
    /// ``ClientStatistics/init(json:)``.
    public func takeStatistics() -> [UInt8]? { handle.takeStatistics() }

    /// How long brokers have made this client wait since the last call.
    public func takeThrottleTime() -> ThrottleTime { handle.takeThrottleTime() }

    /// Gives up all that is outstanding (``flush(timeout:_:)`` it before) and releases the topics.
    ///
    /// The client is destroyed when this object and its ``ProducerTopic``s are released.
    public func close() {
        purge()
        topics.removeAll()
    }
}

/// How one record ended, and where it is: what ``Producer/reports(wait:_:)`` hands over.
public struct DeliveryReport: Sendable, Equatable {
    /// What was given to the produce call.
    public var token: UInt64
    /// The record's partition; -1 when it has none.
    public var partition: Int32
    /// The record's offset; negative when it is not known.
    public var offset: Int64
    /// Why the broker may not have the record, or `nil`: it has.
    public var error: KafkaError?
    /// Whether a broker has or may have the record: with an error, its request went out and got no answer.
    public var wasSent: Bool
}
