import HeraldThreads
public import HeraldTime

/// Calls over a bounded number of kept connections to one origin, driven by a loop's thread.
///
/// The caller bounds the calls, hands over the events whose token has this pool's owner, calls ``tick(_:)`` when
/// ``nextDeadline`` passes, and reads ``completions``. Redirects are answers like any other; nothing is decompressed.
/// Everything happens on one thread, and nothing blocks.
///
/// Not copyable, and no class: whoever keeps it in one is checked for exclusive access once for each method, instead of
/// once for each of the pool's variables.
public struct ConnectionPool: ~Copyable {
    private static let receiveBufferSize = 16 * 1_024

    let loop: EventLoop
    let owner: UInt8
    var options: ConnectionOptions
    let connector: Connector
    let receiveBuffer: UnsafeMutableRawBufferPointer

    var calls = CallTable()
    private var connections: [Connection?]
    /// What each slot's connection is doing.
    var states: [ConnectionState]
    /// Slots of the connections without a call, the last used one last.
    var idle: [Int32] = []
    var freeSlots: [Int32]
    var connectingCount = 0
    /// No connection is made before this, because the process had no descriptor left.
    var noneBefore: MonotonicTime?
    /// The addresses of the origin's host.
    var book: AddressCache
    var resolver: NameResolver?
    let lookUp: NameResolver.LookUp
    /// Calls wait until the name may be looked up again.
    var nextLookUp: MonotonicTime?
    /// When connections without a call are looked through for old ones.
    var nextSweep: MonotonicTime?

    /// The calls that ended since ``removeCompletions()``, in the order of their ends.
    public private(set) var completions: [Completion] = []
    private var texts: [UInt8] = []

    /// A pool without connections; they are made when calls need them.
    ///
    /// - Parameter owner: the owner in the tokens of this pool's events, different from that of every other part that
    ///   uses the loop.
    public init(loop: EventLoop, owner: UInt8, options: ConnectionOptions) {
        self.init(loop: loop, owner: owner, options: options, lookUp: NameResolver.lookUp)
    }

    /// A pool that looks names up in its own way.
    init(loop: EventLoop, owner: UInt8, options: ConnectionOptions, lookUp: @escaping NameResolver.LookUp) {
        self.loop = loop
        self.owner = owner
        self.options = options
        connector = Connector(loop: loop, owner: owner, options: options)
        self.lookUp = lookUp
        book = NameResolver.literal(options.host).map { AddressCache(fixed: $0) } ?? AddressCache()
        connections = Array(repeating: nil, count: options.limit)
        states = Array(repeating: ConnectionState(), count: options.limit)
        freeSlots = (0..<Int32(options.limit)).reversed()
        idle.reserveCapacity(options.limit)
        receiveBuffer = .allocate(byteCount: Self.receiveBufferSize, alignment: 1)
    }

    deinit {
        connector.closeAll()
        if let resolver { loop.remove(resolver.descriptor) }
        receiveBuffer.deallocate()
    }

    /// How many calls have begun and not ended.
    public var callCount: Int { calls.count }
    /// How many calls wait for a connection.
    public var waitingCount: Int { calls.waitingCount }
    /// How many connections are made and kept.
    public var connectionCount: Int { options.limit - freeSlots.count - connectingCount }
    /// How many connections wait for work.
    public var idleCount: Int { idle.count }

    /// Begins a call: it is written at once when a connection is free, and else when one is.
    ///
    /// - Parameters:
    ///   - token: the caller's number for the call; comes back in its completion.
    ///   - deadline: covers waiting for a connection, connecting, the request and the answer together.
    ///   - keepsBody: whether the body of a 2xx answer is wanted too.
    ///   - write: appends the request's bytes to the (empty) array.
    public mutating func begin(
        token: UInt64, deadline: MonotonicTime, now: MonotonicTime, keepsBody: Bool = false,
        write: (inout [UInt8]) -> Void
    ) {
        let call = calls.take(token: token, deadline: deadline, now: now, keepsBody: keepsBody)
        write(&calls[call].request)
        calls.waitLast(call)
        dispatch(now)
    }

    /// Deals with an event whose token has this pool's owner.
    public mutating func handle(_ event: ReadyEvent, now: MonotonicTime) {
        guard let token = PoolToken(event.token) else { return }
        switch token.kind {
        case .connecting:
            connector.socketReady(token, event: event)
            takeConnectOutcomes(now)
        case .connection:
            guard token.number < connections.count, let connection = connections[token.number] else { return }
            connectionReady(connection, event: event, now: now)
        case .resolver: takeLookUp(now)
        }
        dispatch(now)
    }

    /// When ``tick(_:)`` is due next, if at all.
    public var nextDeadline: MonotonicTime? {
        var deadline = connector.nextDeadline
        func consider(_ moment: MonotonicTime?) {
            if let moment { deadline = deadline.map { min($0, moment) } ?? moment }
        }
        consider(nextSweep)
        if calls.earliest != CallTable.none { consider(calls[calls.earliest].deadline) }
        if calls.waitingCount > 0 {
            consider(noneBefore)
            consider(nextLookUp)
        }
        return deadline
    }

    /// Ends the calls whose deadline has passed, and does what else is due.
    public mutating func tick(_ now: MonotonicTime) {
        connector.tick(now)
        takeConnectOutcomes(now)
        sweep(now)
        if let due = nextLookUp, due <= now { nextLookUp = nil }
        while calls.earliest != CallTable.none, calls[calls.earliest].deadline <= now {
            let call = calls.earliest
            if let connection = connection(of: call) {
                let isWritten = states[Int(connection.slot)].written == calls[call].request.count
                drop(connection)
                fail(call, .timeout, isWritten ? "no complete answer in time" : "request not taken in time", now: now)
            } else {
                fail(call, .timeout, noConnectionInTime, now: now)
            }
        }
        dispatch(now)
    }

    /// Forgets a call: it has no completion.
    ///
    /// Returns false when there is none with this token.
    @discardableResult
    public mutating func cancel(token: UInt64, now: MonotonicTime) -> Bool {
        let call = calls.find(token: token)
        guard call != CallTable.none else { return false }
        if let connection = connection(of: call) { drop(connection) }
        calls.release(call)
        dispatch(now)
        return true
    }

    /// Ends everything: calls are forgotten without a completion, connections closed.
    ///
    /// The pool can be used again.
    public mutating func close() {
        while calls.earliest != CallTable.none { calls.release(calls.earliest) }
        for slot in connections.indices {
            if let address = states[slot].address { book.released(address) }
            states[slot] = ConnectionState()
            connections[slot] = nil
        }
        idle.removeAll(keepingCapacity: true)
        connector.closeAll()
        connectingCount = 0
        nextSweep = nil
        freeSlots = (0..<Int32(options.limit)).reversed()
    }

    /// Gives the bytes of a completion's text to read.
    public func withText<Value>(_ text: Completion.Text, _ body: (RawSpan) -> Value) -> Value {
        texts.withUnsafeBytes { all in
            body(UnsafeRawBufferPointer(rebasing: all[text.start..<text.start + text.count]).bytes)
        }
    }

    /// Forgets the completions and their texts, after they were read.
    public mutating func removeCompletions() {
        completions.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
    }

    // MARK: Connections

    func connection(of call: Int32) -> Connection? {
        let slot = calls[call].connection
        return slot == CallTable.none ? nil : connection(in: slot)
    }

    func connection(in slot: Int32) -> Connection? { connections[Int(slot)] }

    /// Has a connection that was made.
    mutating func keep(_ connection: Connection) { connections[Int(connection.slot)] = connection }

    /// Closes a connection; its call, if any, is the caller's to end.
    mutating func drop(_ connection: Connection) {
        if states[Int(connection.slot)].call == CallTable.none, let place = idle.lastIndex(of: connection.slot) {
            idle.remove(at: place)
        }
        connections[Int(connection.slot)] = nil
        if let address = states[Int(connection.slot)].address { book.released(address) }
        states[Int(connection.slot)].address = nil
        connector.close(slot: Int(connection.slot))
        freeSlots.append(connection.slot)
    }

    // MARK: Ends of calls

    mutating func fail(_ call: Int32, _ kind: FailureKind, _ detail: String, now: MonotonicTime) {
        let start = texts.count
        texts.append(contentsOf: detail.utf8)
        complete(
            call, status: 0, failure: kind, retryAfter: Completion.Text(start: 0, count: 0),
            body: Completion.Text(start: start, count: texts.count - start), now: now)
    }

    mutating func succeed(_ call: Int32, _ reader: AnswerReader, now: MonotonicTime) {
        complete(
            call, status: Int(reader.status), failure: nil, retryAfter: keep(reader.retryAfter),
            body: keep(reader.body), now: now)
    }

    private mutating func keep(_ bytes: [UInt8]) -> Completion.Text {
        let start = texts.count
        if !bytes.isEmpty { texts.append(contentsOf: bytes) }
        return Completion.Text(start: start, count: bytes.count)
    }

    private mutating func complete(
        _ call: Int32, status: Int, failure: FailureKind?, retryAfter: Completion.Text,
        body: Completion.Text, now: MonotonicTime
    ) {
        let sentAt = calls[call].sentAt
        completions.append(
            Completion(
                token: calls[call].token, status: status, failure: failure, sentAt: sentAt,
                durationNanoseconds: now.nanoseconds - sentAt.nanoseconds, retryAfter: retryAfter,
                body: body))
        calls.release(call)
    }
}
