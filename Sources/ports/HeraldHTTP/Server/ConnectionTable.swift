internal import HeraldTime

/// Which connections are open, which peers have them, and until when each must have sent its request: pure, with the
/// time told.
///
/// | a connection | has until |
/// |---|---|
/// | sends its request, head and body | ``Limits/requestTimeout`` after it was opened |
/// | waits for its next request, and sends it | the same after the idle time-out |
/// | gets an answer | as long as a slow client needs for its bytes |
/// | is worked for, or reads a stream | no end |
struct ConnectionTable {
    struct Limits {
        var connections: Int
        /// Of these, as many may be one network's; 0: no limit.
        var ofNetwork: Int
        /// Of these, so many are only for networks with few connections.
        var reserved: Int
        var idleTimeout: Milliseconds
        var requestTimeout: Milliseconds
    }

    private struct Connection {
        var network: HTTPPeer
        var deadline: MonotonicTime?
    }

    /// A client that reads more slowly than this is not served to the end.
    private static let slowestBytesPerSecond: Int64 = 16_384
    /// A network with fewer connections gets reserved places: a probe or a scrape has one.
    private static let few = 8

    private let limits: Limits
    private var connections: [Int32: Connection] = [:]
    private var counts: [HTTPPeer: Int] = [:]

    init(_ limits: Limits) { self.limits = limits }

    var isEmpty: Bool { connections.isEmpty }

    func accepts(_ peer: HTTPPeer) -> Bool {
        let count = counts[peer.network] ?? 0
        guard limits.ofNetwork == 0 || count < limits.ofNetwork else { return false }
        return connections.count < limits.connections - limits.reserved || count < Self.few
    }

    mutating func open(_ socket: Int32, from peer: HTTPPeer, now: MonotonicTime) {
        connections[socket] = Connection(network: peer.network, deadline: now.advanced(by: limits.requestTimeout))
        counts[peer.network, default: 0] += 1
    }

    mutating func close(_ socket: Int32) {
        guard let connection = connections.removeValue(forKey: socket) else { return }
        let count = (counts[connection.network] ?? 1) - 1
        counts[connection.network] = count > 0 ? count : nil
    }

    /// The request is complete: now it is the server's turn.
    mutating func hasRequest(_ socket: Int32) { connections[socket]?.deadline = nil }

    mutating func answers(_ socket: Int32, byteCount: Int, now: MonotonicTime) {
        let span = .seconds(Int64(byteCount) / Self.slowestBytesPerSecond) + limits.requestTimeout
        connections[socket]?.deadline = now.advanced(by: span)
    }

    /// The answer is sent; another request may come.
    mutating func isDone(_ socket: Int32, now: MonotonicTime) {
        let span = limits.idleTimeout + limits.requestTimeout
        connections[socket]?.deadline = now.advanced(by: span)
    }

    /// The sockets whose deadline has passed; each is named once.
    mutating func takeOverdue(now: MonotonicTime) -> [Int32] {
        let overdue = connections.filter { $0.value.deadline.map { $0 <= now } ?? false }.keys.sorted()
        for socket in overdue { connections[socket]?.deadline = nil }
        return overdue
    }
}
