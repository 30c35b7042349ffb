internal import HeraldTime

/// Which connections are open, which peers have them, and until when each must have sent its request: pure, with the
/// time told.
///
/// | a connection | has until |
/// |---|---|
/// | shows which version of HTTP it speaks | the idle time-out, or ``Limits/requestTimeout`` if that is sooner |
/// | sends its request, head and body | ``Limits/requestTimeout`` after it was opened |
/// | waits for its next request, and sends it | the same after the idle time-out |
/// | gets an answer | as long as a slow client needs for its bytes |
/// | is worked for, or reads a stream | no end |
/// | speaks HTTP/2 | no end here: its session looks after its streams |
struct ConnectionTable {
    struct Limits {
        /// Connections at a time.
        var connections: Int
        /// Of these, as many may be one network's; 0: no limit.
        var ofNetwork: Int
        /// Of these, so many are only for networks with few connections.
        var reserved: Int
        var idleTimeout: Milliseconds
        var requestTimeout: Milliseconds

        /// A client that reads more slowly than this is not served to the end.
        private static let slowestBytesPerSecond: Int64 = 16_384

        /// Until when an answer of so many bytes has to be taken.
        func deadline(ofAnswer byteCount: Int, now: MonotonicTime) -> MonotonicTime {
            now.advanced(by: .seconds(Int64(byteCount) / Self.slowestBytesPerSecond) + requestTimeout)
        }
    }

    private struct Connection {
        var network: HTTPPeer
        var deadline: MonotonicTime?
    }

    /// A network with fewer connections gets reserved places: a probe or a scrape has one.
    private static let few = 8

    private let limits: Limits
    private var connections: [Int32: Connection] = [:]
    private var counts: [HTTPPeer: Int] = [:]
    /// How many are on their way from one thread to another: they have their place, and no number by which to close them.
    private var passing = 0

    init(_ limits: Limits) { self.limits = limits }

    var isEmpty: Bool { connections.isEmpty }
    var isFull: Bool { taken >= limits.connections }
    private var taken: Int { connections.count + passing }

    /// Whether one more connection from there is taken.
    func accepts(_ peer: HTTPPeer) -> Bool {
        let count = counts[peer.network] ?? 0
        guard limits.ofNetwork == 0 || count < limits.ofNetwork else { return false }
        return taken < limits.connections - limits.reserved || count < Self.few
    }

    mutating func open(_ socket: Int32, from peer: HTTPPeer, now: MonotonicTime) {
        add(socket, from: peer, deadline: now.advanced(by: limits.requestTimeout))
    }

    /// A connection was opened by a client that has not said anything yet.
    mutating func arrived(_ socket: Int32, from peer: HTTPPeer, now: MonotonicTime) {
        let span = min(limits.idleTimeout, limits.requestTimeout)
        add(socket, from: peer, deadline: now.advanced(by: span))
    }

    /// A connection goes to another thread, where it is ``taken(_:from:now:)`` or ``dropped(from:)``: until then it keeps
    /// its place.
    mutating func handOver(_ socket: Int32) {
        if connections.removeValue(forKey: socket) != nil { passing += 1 }
    }

    /// A connection that was handed over has come, and sends its request.
    mutating func taken(_ socket: Int32, from peer: HTTPPeer, now: MonotonicTime) {
        dropped(from: peer)
        open(socket, from: peer, now: now)
    }

    /// A connection that was handed over is not served.
    mutating func dropped(from peer: HTTPPeer) {
        passing -= 1
        discount(peer.network)
    }

    private mutating func add(_ socket: Int32, from peer: HTTPPeer, deadline: MonotonicTime) {
        connections[socket] = Connection(network: peer.network, deadline: deadline)
        counts[peer.network, default: 0] += 1
    }

    mutating func close(_ socket: Int32) {
        guard let connection = connections.removeValue(forKey: socket) else { return }
        discount(connection.network)
    }

    private mutating func discount(_ network: HTTPPeer) {
        let count = (counts[network] ?? 1) - 1
        counts[network] = count > 0 ? count : nil
    }

    /// The request is complete: now it is the server's turn.
    mutating func hasRequest(_ socket: Int32) { connections[socket]?.deadline = nil }

    /// An answer of so many bytes goes out.
    mutating func answers(_ socket: Int32, byteCount: Int, now: MonotonicTime) {
        connections[socket]?.deadline = limits.deadline(ofAnswer: byteCount, now: now)
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
