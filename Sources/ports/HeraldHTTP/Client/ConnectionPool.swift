internal import HeraldThreads
public import HeraldTime

/// Calls over a bounded number of kept connections to one origin, driven by a loop's thread.
///
/// The caller bounds the calls, passes on the events whose token has this pool's owner, calls ``tick(_:)`` when
/// ``nextDeadline`` passes, and reads ``completions``. Redirects are answers like any other; nothing is decompressed.
/// Everything happens on one thread, and nothing blocks.
///
/// The decisions are ``PoolState``'s; the pool owns the sockets and carries out its actions.
///
/// It is not copyable, and no class: a class that keeps it is checked for exclusive access once for each method,
/// instead of once for each of the pool's variables.
public struct ConnectionPool: ~Copyable {
    /// A connection that is made.
    ///
    /// It is immutable, so that using it costs no check for exclusive access.
    final class Connection {
        let transport: Transport
        let reader: AnswerReader

        init(transport: Transport, keepsLocation: Bool) {
            self.transport = transport
            reader = AnswerReader(keepsLocation: keepsLocation)
        }
    }

    private static let receiveBufferSize = 16 * 1_024

    private let loop: EventLoop
    private let owner: UInt8
    private let host: String
    let keepsLocation: Bool
    let isEncrypted: Bool
    let connector: Connector
    private var resolver: NameResolver?
    private let lookUp: NameResolver.LookUp
    var randomness = SystemRandomNumberGenerator()
    let receiveBuffer: UnsafeMutableRawBufferPointer
    var memo = ResponseMemo()
    private var connections: [Connection?]
    /// The sessions of shared ones, by slot too.
    var sessions: [HTTP2Session?]
    var dirtySlots: [Int] = []
    var state: PoolState
    let versions: HTTPVersions
    /// The time until which only HTTP/1.1 is offered, because the other side requires it.
    var http1Until: MonotonicTime?
    /// The duration of that.
    ///
    /// A backend behind a balancer may be replaced by one that supports HTTP/2, and asking costs one repeated call; for
    /// each new connection that would be too much.
    static let fallbackTime: Milliseconds = .minutes(10)

    /// A pool without connections; they are made when calls need them.
    ///
    /// - Parameter owner: the owner in the tokens of this pool's events, different from that of every other part that
    ///   uses the loop.
    public init(loop: EventLoop, owner: UInt8, options: ConnectionOptions) {
        self.init(loop: loop, owner: owner, options: options, lookUp: NameResolver.lookUp)
    }

    init(loop: EventLoop, owner: UInt8, options: ConnectionOptions, lookUp: @escaping NameResolver.LookUp) {
        self.loop = loop
        self.owner = owner
        host = options.host
        keepsLocation = options.keepsLocation
        isEncrypted = options.isEncrypted
        versions = options.versionsThatCanBe
        self.lookUp = lookUp
        connector = Connector(loop: loop, owner: owner, options: options)
        connections = Array(repeating: nil, count: options.limit)
        sessions = Array(repeating: nil, count: options.limit)
        receiveBuffer = .allocate(byteCount: Self.receiveBufferSize, alignment: 1)
        state = PoolState(
            host: host, address: NameResolver.literal(host), limit: options.limit, resolvesHost: options.proxy == nil,
            versions: versions, greetingTimeout: options.connectTimeout)
    }

    deinit {
        connector.closeAll()
        if let resolver { loop.remove(resolver.descriptor) }
        receiveBuffer.deallocate()
    }

    /// The number of calls that have not ended.
    public var callCount: Int { state.calls.count }
    /// The number of calls that wait for a connection.
    public var waitingCount: Int { state.calls.waitingCount }
    /// The number of connections made and kept.
    public var connectionCount: Int { state.connectionCount }
    /// The number of shared ones, over HTTP/2.
    public var sharedConnectionCount: Int { state.sharedCount }
    /// The number of connections that wait for work.
    public var idleCount: Int { state.idle.count }
    /// The time at which ``tick(_:)`` is due next, if at all.
    public var nextDeadline: MonotonicTime? { state.nextDeadline(or: connector.nextDeadline) }
    /// The calls that ended since ``removeCompletions()``, in the order of their ends.
    public var completions: [Completion] { _read { yield state.completions.all } }

    /// Raises the limit of connections, which never shrinks.
    public mutating func raise(limit: Int) {
        guard limit > connections.count else { return }
        connections += Array(repeating: nil, count: limit - connections.count)
        sessions += Array(repeating: nil, count: limit - sessions.count)
        connector.raise(limit: limit)
        state.raise(limit: limit)
    }

    /// Begins a call: its request is written as soon as a connection is free.
    ///
    /// - Parameters:
    ///   - token: the caller's number for the call; it returns in its completion.
    ///   - deadline: the end of waiting for a connection, connecting, the request and the answer together.
    ///   - keepsBody: whether the body of a 2xx answer is wanted too.
    ///   - write: appends the request's bytes to the (empty) array.
    public mutating func begin(
        token: UInt64, deadline: MonotonicTime, now: MonotonicTime, keepsBody: Bool = false,
        write: (inout [UInt8]) -> Void
    ) {
        state.begin(token: token, deadline: deadline, now: now, keepsBody: keepsBody, write: write)
        carryOutActions(now)
    }

    /// Forgets a call, without a completion.
    ///
    /// Returns false when no call has this token.
    @discardableResult
    public mutating func cancel(token: UInt64, now: MonotonicTime) -> Bool {
        defer { carryOutActions(now) }
        return state.cancel(token: token)
    }

    /// Receives an event whose token has this pool's owner.
    public mutating func handle(_ event: ReadyEvent, now: MonotonicTime) {
        guard let token = PoolToken(event.token) else { return }
        switch token.kind {
        case .connecting:
            connector.socketReady(token, event: event)
            receiveConnectOutcomes(now)
        case .connection:
            guard token.number < connections.count else { return }
            connectionReady(token.number, event: event, now: now)
        case .resolver:
            // Without a descriptor the system's resolver finds nothing either.
            if let answer = resolver?.takeAnswer() {
                state.lookedUp(answer, isLocal: !FileDescriptorLimit.hasRoom, now: now)
            }
        }
        carryOutActions(now)
    }

    /// Ends the calls whose deadline has passed, and does other due work.
    public mutating func tick(_ now: MonotonicTime) {
        connector.tick(now)
        receiveConnectOutcomes(now)
        learnHowFar(now)
        state.tick(now)
        carryOutActions(now)
    }

    /// Makes new connections with these files and this proxy; a connection with a call ends with it.
    ///
    /// - Parameter proxy: the proxy, perhaps with other credentials; a pool without a proxy never gets one.
    public mutating func renewConnections(proxy: ProxyAddress?, tls: TLSFiles, now: MonotonicTime) {
        connector.use(proxy: proxy, tls: tls)
        state.renew(now)
        carryOutActions(now)
    }

    /// Forgets all calls without a completion, and closes the connections.
    ///
    /// The pool can be used again.
    public mutating func close() {
        state.closeAll()
        while let chore = state.nextChore() { carryOut(chore, .distantPast) }
    }

    /// Calls `body` with the bytes of a completion's text.
    public func withText<Value>(_ text: Completion.Text, _ body: (RawSpan) -> Value) -> Value {
        state.completions.withText(text, body)
    }

    /// Forgets the completions and their texts, after they were read.
    public mutating func removeCompletions() {
        state.completions.removeAll()
    }

    // MARK: Carrying out

    func connection(_ slot: Int) -> Connection? { connections[slot] }

    mutating func carryOutActions(_ now: MonotonicTime) {
        while state.mayAct, let action = state.nextAction(now, using: &randomness) { carryOut(action, now) }
    }

    private mutating func carryOut(_ action: PoolState.Action, _ now: MonotonicTime) {
        switch action {
        case .connect(let slot):
            offerAgain(now)
            let failure = connector.start(slot: slot, address: state.address(slot))
            if let failure { connectFailed(slot, failure, now: now) }
        case .send(let slot, let ifSilent, let keepsBody):
            sendRequest(slot, ifSilent: ifSilent, keepsBody: keepsBody, now: now)
        case .submit(let slot, let call): submit(call, slot, now: now)
        case .abandon(let slot, let call): abandon(call, slot)
        case .ask(let slot): ask(slot)
        case .giveUp(let slot): loseSession(slot, state.isGreeting(slot) ? .noGreeting : .silent, now: now)
        case .close(let slot): close(slot)
        case .lookUp: startLookUp(now)
        }
    }

    private mutating func close(_ slot: Int) {
        connections[slot] = nil
        sessions[slot] = nil
        connector.close(slot: slot)
    }

    private mutating func receiveConnectOutcomes(_ now: MonotonicTime) {
        while let outcome = connector.nextOutcome() {
            switch outcome {
            case .connected(let slot): connected(slot, now: now)
            case .failed(let slot, let failure): connectFailed(slot, failure, now: now)
            }
            // A call that has found its connection must not fail with the next outcome.
            carryOutActions(now)
        }
    }

    private mutating func connected(_ slot: Int, now: MonotonicTime) {
        guard let transport = connector.transport(slot: slot) else { return }
        guard let speaksHTTP2 = transport.speaksHTTP2 else { return connectFailed(slot, .noHTTP2, now: now) }
        let token = PoolToken(kind: .connection, number: slot).eventToken(owner: owner)
        do {
            try loop.add(transport.socket, token: token, interest: .edges)
        } catch {
            let failure = Failure(kind: .connectFailed, detail: error.description, isLocal: true)
            return connectFailed(slot, failure, now: now)
        }
        if speaksHTTP2 { return beginSession(slot, now: now) }
        connections[slot] = Connection(transport: transport, keepsLocation: keepsLocation)
        state.connected(slot, now: now, using: &randomness)
    }

    mutating func connectFailed(_ slot: Int, _ failure: Failure, now: MonotonicTime) {
        var failure = failure
        if !FileDescriptorLimit.hasRoom { failure.isLocal = true }
        state.connectFailed(slot, failure, now: now, using: &randomness)
    }

    private mutating func startLookUp(_ now: MonotonicTime) {
        do throws(SystemError) {
            if resolver == nil {
                let made = try NameResolver(host: host, lookUp: lookUp)
                let token = PoolToken(kind: .resolver, number: 0).eventToken(owner: owner)
                try loop.add(made.descriptor, token: token, interest: .readable)
                resolver = made
            }
            try resolver?.start()
        } catch {
            // No descriptor or thread left.
            state.lookedUp(.failed(isGone: false, reason: error.description), isLocal: true, now: now)
        }
    }
}
