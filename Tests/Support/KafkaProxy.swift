import Dispatch
import Glibc
import HeraldThreads
import Synchronization

/// Stands between clients and a broker, holds requests back and loses answers, like a network that breaks at the worst
/// moment.
///
/// A held request has left its client and has not reached the broker. A request whose answer is lost has reached it,
/// and its client sees the connection end. With a late request, the client sees the connection end, and the broker gets
/// the request when a test says so.
public final class KafkaProxy: Sendable {
    /// A request of Kafka's protocol, by its number there.
    public enum Request: Int16, Sendable {
        case produce = 0
        case initProducerID = 22
        case addPartitions = 24
        case addOffsets = 25
        case endTransaction = 26
        case commitOffsets = 28
    }

    private struct State {
        var target = 0
        var toLose: [Int16: Int] = [:]
        var lost: [Int16: Int] = [:]
        var delayMicroseconds: UInt32 = 0
        var connections: [Int32: Connection] = [:]
        var toHold: Set<Int16> = []
        var held: [HeldRequest] = []
        var toDelay: [Int16: Int] = [:]
        var late: [HeldRequest] = []
        var answeredLate = 0
    }

    /// A request that waits for a decision.
    private final class HeldRequest: Sendable {
        private let isDecided = DispatchSemaphore(value: 0)
        private let isDelivered = Mutex(false)

        /// Whether to deliver it; blocks its connection's thread until that is decided.
        func wait() -> Bool {
            isDecided.wait()
            return isDelivered.withLock { $0 }
        }

        func decide(isDelivered delivered: Bool) {
            isDelivered.withLock { $0 = delivered }
            isDecided.signal()
        }
    }

    /// Both ends of one connection, and the answers on it that will be lost.
    private final class Connection: Sendable {
        let client: Int32
        let broker: Int32
        let doomed = Mutex<[Int32: Int16]>([:])
        /// The number of the late request, until it is answered.
        let late = Mutex<Int32?>(nil)
        var isOwedLateAnswer: Bool { late.withLock { $0 != nil } }
        let hasNoMoreAnswers = DispatchSemaphore(value: 0)
        /// Closed descriptors' numbers belong to others.
        private let isClosed = Mutex(false)

        init(client: Int32, broker: Int32) {
            self.client = client
            self.broker = broker
        }

        func hangUp() { shutDown([client, broker]) }

        func close() {
            isClosed.withLock {
                $0 = true
                Glibc.close(client)
                Glibc.close(broker)
            }
        }

        private func shutDown(_ descriptors: [Int32]) {
            isClosed.withLock { isClosed in
                guard !isClosed else { return }
                for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
        }

        /// Blocks until the broker has answered the late request.
        func awaitLateAnswer() {
            if isOwedLateAnswer { hasNoMoreAnswers.wait() }
        }

        func leaveClient() { shutDown([client]) }
    }

    /// The port that clients connect to.
    public let port: Int
    private let listener: Int32
    private let state = Mutex(State())

    /// Listens on a free port.
    public init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = KafkaWire.address(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(descriptor, raw, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, raw, &size) == 0
            }
        }
        guard isListening else { throw ChildProcess.Failure(description: "the proxy can't listen on loopback") }
        port = Int(UInt16(bigEndian: address.sin_port))
        listener = descriptor
        _ = try OwnThread(name: "kafka-proxy") { [self] in acceptAll() }
    }

    func setTarget(port: Int) { state.withLock { $0.target = port } }

    /// Leads nowhere from now on; returns another one that leads to the former target.
    func moved() throws -> KafkaProxy {
        let other = try KafkaProxy()
        state.withLock { state in
            other.setTarget(port: state.target)
            state.target = 0
            for connection in state.connections.values { connection.hangUp() }
        }
        return other
    }

    /// For the property `bootstrap.servers`.
    public var bootstrapServers: String { "127.0.0.1:\(port)" }

    /// Loses the answers to the next requests of this kind, and the connections with them.
    public func loseAnswers(to request: Request, count: Int = 1) {
        state.withLock { $0.toLose[request.rawValue, default: 0] += count }
    }

    /// The number of answers to this kind of request that were lost so far.
    public func lostAnswers(to request: Request) -> Int { state.withLock { $0.lost[request.rawValue] ?? 0 } }

    /// Holds requests of this kind back from now on, and all later ones on their connections.
    public func hold(_ request: Request) {
        _ = state.withLock { $0.toHold.insert(request.rawValue) }
    }

    /// The number of held requests.
    public var heldCount: Int { state.withLock { $0.held.count } }

    /// Delivers the requests held now; later ones are held as before.
    public func release() {
        for request in takeHeld() { request.decide(isDelivered: true) }
    }

    /// Delivers the held requests and stops holding any.
    public func letGo() {
        state.withLock { $0.toHold = [] }
        release()
    }

    /// Loses the held requests with their connections, and stops holding any.
    public func drop() {
        state.withLock { $0.toHold = [] }
        for request in takeHeld() { request.decide(isDelivered: false) }
    }

    private func takeHeld() -> [HeldRequest] {
        state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
    }

    /// Ends the client's connection at each of the next requests of this kind; ``deliverLate()`` delivers them.
    public func makeLate(_ request: Request, count: Int = 1) {
        state.withLock { $0.toDelay[request.rawValue, default: 0] += count }
    }

    /// The number of late requests that have not reached the broker.
    public var lateCount: Int { state.withLock { $0.late.count } }

    /// The number of late requests that the broker has answered.
    public var answeredLateCount: Int { state.withLock { $0.answeredLate } }

    /// Delivers the late requests.
    public func deliverLate() {
        let late = state.withLock { state in
            defer { state.late = [] }
            return state.late
        }
        for request in late { request.decide(isDelivered: true) }
    }

    /// Delays every answer by this much.
    public func delayAnswers(milliseconds: Int) {
        state.withLock { $0.delayMicroseconds = UInt32(milliseconds) * 1_000 }
    }

    /// Ends every connection; later ones are not affected.
    func reset() {
        drop()
        deliverLate()
        let open = state.withLock { state in
            state.toLose = [:]
            state.lost = [:]
            state.toDelay = [:]
            state.answeredLate = 0
            state.delayMicroseconds = 0
            return Array(state.connections.values)
        }
        for connection in open { connection.hangUp() }
    }

    private func acceptAll() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { break }
            guard let broker = KafkaWire.connect(port: state.withLock({ $0.target })) else {
                close(client)
                continue
            }
            for descriptor in [client, broker] {
                var on: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            }
            serve(Connection(client: client, broker: broker))
        }
        close(listener)
    }

    private func serve(_ connection: Connection) {
        state.withLock { $0.connections[connection.client] = connection }
        _ = try? OwnThread(name: "proxy-answers") { [self] in
            let requests = try? OwnThread(name: "proxy-requests") { [self] in
                forward(from: connection.client, to: connection.broker) { notes($0, connection) }
                connection.awaitLateAnswer()
                connection.hangUp()
            }
            forward(from: connection.broker, to: connection.client) { passes($0, connection) }
            // Requests from before the client left are answered first.
            while connection.isOwedLateAnswer, let answer = readFrame(from: connection.broker) {
                _ = passes(answer, connection)
            }
            connection.hasNoMoreAnswers.signal()
            connection.hangUp()
            requests?.join()
            _ = state.withLock { $0.connections.removeValue(forKey: connection.client) }
            connection.close()
        }
    }

    /// Notes a request: its kind, version, and the number that its answer will carry.
    private func notes(_ frame: [UInt8], _ connection: Connection) -> Bool {
        let kind = Int16(bitPattern: UInt16(frame[4]) << 8 | UInt16(frame[5]))
        let isDoomed = state.withLock { state in
            guard let left = state.toLose[kind], left > 0 else { return false }
            state.toLose[kind] = left - 1
            return true
        }
        if isDoomed { connection.doomed.withLock { $0[KafkaWire.number(frame, at: 8)] = kind } }
        let held = state.withLock { state -> HeldRequest? in
            guard state.toHold.contains(kind) else { return nil }
            let held = HeldRequest()
            state.held.append(held)
            return held
        }
        if let held { return held.wait() }
        return isDelivered(kind, number: KafkaWire.number(frame, at: 8), connection)
    }

    /// Whether a request reaches the broker now; a late one waits here, without its client.
    private func isDelivered(_ kind: Int16, number: Int32, _ connection: Connection) -> Bool {
        let late = state.withLock { state -> HeldRequest? in
            guard let left = state.toDelay[kind], left > 0 else { return nil }
            state.toDelay[kind] = left - 1
            let late = HeldRequest()
            state.late.append(late)
            return late
        }
        guard let late else { return true }
        connection.late.withLock { $0 = number }
        connection.leaveClient()
        return late.wait()
    }

    /// Whether an answer gets through.
    private func passes(_ frame: [UInt8], _ connection: Connection) -> Bool {
        let delay = state.withLock { $0.delayMicroseconds }
        if delay > 0 { usleep(delay) }
        let isLate = connection.late.withLock { $0 == KafkaWire.number(frame, at: 4) }
        if isLate {
            connection.late.withLock { $0 = nil }
            state.withLock { $0.answeredLate += 1 }
        }
        guard let kind = connection.doomed.withLock({ $0.removeValue(forKey: KafkaWire.number(frame, at: 4)) }) else {
            return true
        }
        state.withLock { $0.lost[kind, default: 0] += 1 }
        return false
    }

    /// Forwards whole frames until an end is closed or `passes` returns false.
    private func forward(from source: Int32, to target: Int32, _ passes: ([UInt8]) -> Bool) {
        while let frame = readFrame(from: source) {
            guard passes(frame), KafkaWire.write(frame, to: target) else { return }
        }
    }

    /// A whole request or answer; `nil` when the other end is closed.
    private func readFrame(from source: Int32) -> [UInt8]? {
        guard let size = KafkaWire.read(4, from: source) else { return nil }
        let count = Int(KafkaWire.number(size, at: 0))
        guard count >= 8, let rest = KafkaWire.read(count, from: source) else { return nil }
        return size + rest
    }
}
