internal import CRDKafka
internal import Glibc
internal import HeraldThreads
internal import HeraldTime

/// Owns a `rd_kafka_t` and the state that its callbacks write.
///
/// Every object that refers to the client (queues, topics, group metadata) holds this one, so the client is destroyed
/// last; the last release waits for librdkafka's threads to end (``ClientEnd``). librdkafka's functions may be called
/// from any thread, hence `Sendable`; only `rebalances` belongs to the thread that polls the consumer.
final class ClientHandle: @unchecked Sendable {
    static let errorTextCapacity = 512

    /// The state that callbacks reach through the client's opaque pointer.
    final class Callbacks {
        let notices = NoticeBuffer()
        /// The newest statistics, as librdkafka wrote them, until they are taken.
        let statistics = Guarded<[UInt8]?>(nil)
        let fetches = FetchMeter()
        /// The time that broker quotas made the client wait, until it is taken.
        let throttling = Guarded(ThrottleTime())
        let controlRequests = ControlRequestMeter()
        /// Touched only by the polling thread.
        var rebalances: [Rebalance] = []
        let properties: ClientProperties
        let directory: BrokerDirectory?
        /// Whether a revoke is answered at once, because no thread polls any more.
        var answersAtOnce = false

        init(_ properties: ClientProperties) {
            self.properties = properties
            directory = BrokerDirectory.of(properties)
        }

        /// Notes an error of this client; `_FATAL` stands for another error, which is looked up.
        func note(_ code: Int32, _ reason: String?, of client: OpaquePointer) {
            var error = KafkaError(code: code, message: reason)
            if code == KafkaError.Code.fatal, let cause = ClientHandle.fatalError(of: client) { error = cause }
            error = error.explained(saslMechanism: properties.saslMechanism)
            notices.add(ClientNotice(level: error.isFatal ? 2 : 3, text: error.description, error: error))
        }

        func note(statistics text: UnsafePointer<CChar>?, _ size: Int) {
            let bytes = Array(UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : size))
            statistics.withLock { $0 = bytes }
        }
    }

    let client: OpaquePointer
    let callbacks: Callbacks

    /// Makes the client; librdkafka's threads start here.
    init(_ type: rd_kafka_type_t, _ configuration: ClientConfiguration) throws(KafkaError) {
        let callbacks = Callbacks(configuration.properties)
        let pointer = configuration.pointer
        rd_kafka_conf_set_opaque(pointer, Unmanaged.passUnretained(callbacks).toOpaque())
        rd_kafka_conf_set_log_cb(pointer) { client, level, facility, text in
            guard let client, let callbacks = ClientHandle.callbacks(rd_kafka_opaque(client)) else { return }
            let facility = facility.map { String(cString: $0) } ?? ""
            let text = text.map { String(cString: $0) } ?? ""
            callbacks.notices.add(ClientNotice(level: Int(level), text: "\(facility): \(text)", error: nil))
        }
        rd_kafka_conf_set_error_cb(pointer) { client, code, reason, opaque in
            guard let client, let callbacks = ClientHandle.callbacks(opaque) else { return }
            callbacks.note(code, reason.map { String(cString: $0) }, of: client)
        }
        if callbacks.directory != nil {
            rd_kafka_conf_set_connect_cb(pointer) { socket, address, size, place, opaque in
                guard let address, let place, let directory = ClientHandle.callbacks(opaque)?.directory else {
                    return EINVAL
                }
                return directory.connect(socket, address, socklen_t(size), place: String(cString: place))
            }
        }
        let isTransactional = configuration.names.contains("transactional.id")
        if isTransactional { callbacks.controlRequests.watch(pointer) }
        rd_kafka_conf_set_throttle_cb(pointer) { _, name, id, milliseconds, opaque in
            guard milliseconds > 0 else { return }
            let broker = "\(id) (\(name.map { String(cString: $0) } ?? ""))"
            ClientHandle.callbacks(opaque)?.throttling.withLock {
                $0.note(.milliseconds(Int64(milliseconds)), by: broker)
            }
        }
        if type == RD_KAFKA_CONSUMER {
            callbacks.fetches.watch(pointer)
            // A producer's statistics arrive as events.
            rd_kafka_conf_set_stats_cb(pointer) { _, text, size, opaque in
                ClientHandle.callbacks(opaque)?.note(statistics: text, size)
                return 0
            }
            rd_kafka_conf_set_rebalance_cb(pointer) { client, code, partitions, opaque in
                guard let client, let callbacks = ClientHandle.callbacks(opaque) else { return }
                ClientHandle.rebalanced(client, code, partitions, callbacks)
            }
        }
        var text = [CChar](repeating: 0, count: Self.errorTextCapacity)
        guard let client = rd_kafka_new(type, pointer, &text, text.count) else {
            // rd_kafka_new has freed the interceptors, which the configuration still points to.
            if type == RD_KAFKA_CONSUMER || isTransactional { configuration.keepForever() }
            throw KafkaError(code: rd_kafka_last_error().rawValue, message: Self.string(text))
        }
        configuration.relinquish()
        self.client = client
        self.callbacks = callbacks
        try callbacks.properties.login?.add(client, callbacks.notices)
    }

    deinit {
        callbacks.properties.login?.remove(client)
        ClientEnd(client, callbacks).destroy()
    }

    func noteAnswer() { callbacks.properties.answers?.note() }

    /// The statistics since the last call, for ``ClientStatistics/init(json:)``.
    func takeStatistics() -> [UInt8]? {
        callbacks.statistics.withLock { statistics in
            defer { statistics = nil }
            return statistics
        }
    }

    func takeThrottleTime() -> ThrottleTime {
        callbacks.throttling.withLock { time in
            defer { time = ThrottleTime() }
            return time
        }
    }

    func fatalError() -> KafkaError? { Self.fatalError(of: client) }

    fileprivate static func fatalError(of client: OpaquePointer) -> KafkaError? {
        var text = [CChar](repeating: 0, count: errorTextCapacity)
        let code = rd_kafka_fatal_error(client, &text, text.count)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return KafkaError(code: code.rawValue, message: string(text), isFatal: true)
    }

    static func callbacks(_ opaque: UnsafeMutableRawPointer?) -> Callbacks? {
        opaque.map { Unmanaged<Callbacks>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func rebalanced(
        _ client: OpaquePointer, _ code: rd_kafka_resp_err_t,
        _ partitions: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?, _ callbacks: Callbacks
    ) {
        let list = TopicPartitionList.elements(of: partitions).map(\.topicPartition)
        if callbacks.answersAtOnce {
            note(rd_kafka_assign(client, nil).rawValue, of: client, to: callbacks)
        } else if code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            callbacks.rebalances.append(.assign(list))
        } else {
            if code != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS {
                note(code.rawValue, of: client, to: callbacks)
            }
            callbacks.rebalances.append(.revoke(list, lost: rd_kafka_assignment_lost(client) != 0))
        }
    }

    private static func note(_ code: Int32, of client: OpaquePointer, to callbacks: Callbacks) {
        if code != 0 { callbacks.note(code, nil, of: client) }
    }

    static func string(_ buffer: [CChar]) -> String {
        buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}
