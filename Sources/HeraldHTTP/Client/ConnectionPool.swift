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
    /// How many connections are made at the same time.
    static let connectingLimit = 32
    private static let receiveBufferSize = 16 * 1_024
    /// When the process has no descriptor left, none is asked for again within so long (milliseconds).
    private static let scarcityPause: Int64 = 100

    let loop: EventLoop
    let owner: UInt8
    let options: ConnectionOptions
    let connector: Connector
    let receiveBuffer: UnsafeMutableRawBufferPointer

    var calls = CallTable()
    private var connections: [Connection?]
    /// What each slot's connection is doing.
    var states: [ConnectionState]
    /// Slots of the connections without a call, the last used one last.
    var idle: [Int32] = []
    private var freeSlots: [Int32]
    private var connectingCount = 0
    /// No connection is made before this, because the process had no descriptor left.
    private var noneBefore: MonotonicTime?

    /// The calls that ended since ``removeCompletions()``, in the order of their ends.
    public private(set) var completions: [Completion] = []
    private var texts: [UInt8] = []

    /// A pool without connections; they are made when calls need them.
    ///
    /// - Parameter owner: the owner in the tokens of this pool's events, different from that of every other part that
    ///   uses the loop.
    public init(loop: EventLoop, owner: UInt8, options: ConnectionOptions) {
        self.loop = loop
        self.owner = owner
        self.options = options
        connector = Connector(loop: loop, owner: owner, options: options)
        connections = Array(repeating: nil, count: options.limit)
        states = Array(repeating: ConnectionState(), count: options.limit)
        freeSlots = (0..<Int32(options.limit)).reversed()
        idle.reserveCapacity(options.limit)
        receiveBuffer = .allocate(byteCount: Self.receiveBufferSize, alignment: 1)
    }

    deinit {
        connector.closeAll()
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
        }
        dispatch(now)
    }

    /// When ``tick(_:)`` is due next, if at all.
    public var nextDeadline: MonotonicTime? {
        let earliest = calls.earliest
        guard earliest != CallTable.none else { return connector.nextDeadline }
        var deadline = calls[earliest].deadline
        if let noneBefore, calls.waitingCount > 0 { deadline = min(deadline, noneBefore) }
        return connector.nextDeadline.map { min($0, deadline) } ?? deadline
    }

    /// Ends the calls whose deadline has passed, and does what else is due.
    public mutating func tick(_ now: MonotonicTime) {
        connector.tick(now)
        takeConnectOutcomes(now)
        while calls.earliest != CallTable.none, calls[calls.earliest].deadline <= now {
            let call = calls.earliest
            if let connection = connection(of: call) {
                let isWritten = states[Int(connection.slot)].written == calls[call].request.count
                drop(connection)
                fail(call, .timeout, isWritten ? "no complete answer in time" : "request not taken in time", now: now)
            } else {
                fail(call, .timeout, "no connection in time", now: now)
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
        for slot in connections.indices { connections[slot] = nil }
        idle.removeAll(keepingCapacity: true)
        connector.closeAll()
        connectingCount = 0
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

    /// Closes a connection; its call, if any, is the caller's to end.
    mutating func drop(_ connection: Connection) {
        if states[Int(connection.slot)].call == CallTable.none, let place = idle.lastIndex(of: connection.slot) {
            idle.remove(at: place)
        }
        connections[Int(connection.slot)] = nil
        connector.close(slot: Int(connection.slot))
        freeSlots.append(connection.slot)
    }

    /// Makes the connections that waiting calls need.
    mutating func connectIfNeeded(_ now: MonotonicTime) {
        if let noneBefore {
            guard now >= noneBefore else { return }
            self.noneBefore = nil
        }
        while calls.waitingCount > connectingCount, connectingCount < Self.connectingLimit, let slot = freeSlots.last {
            if let failure = connector.start(slot: Int(slot)) {
                connectFailed(failure, now: now)
                if noneBefore != nil { return }
            } else {
                freeSlots.removeLast()
                connectingCount += 1
            }
        }
    }

    private mutating func takeConnectOutcomes(_ now: MonotonicTime) {
        while let outcome = connector.nextOutcome() {
            connectingCount -= 1
            switch outcome {
            case .connected(let slot): connected(Int32(slot), now: now)
            case .failed(let slot, let failure):
                freeSlots.append(Int32(slot))
                connectFailed(failure, now: now)
            }
        }
    }

    private mutating func connected(_ slot: Int32, now: MonotonicTime) {
        guard let transport = connector.transport(slot: Int(slot)) else { return }
        let token = PoolToken(kind: .connection, number: Int(slot)).eventToken(owner: owner)
        do {
            try loop.add(transport.socket, token: token, interest: .edges)
        } catch {
            connector.close(slot: Int(slot))
            freeSlots.append(slot)
            return connectFailed(Failure(kind: .connectFailed, detail: error.description), now: now)
        }
        connections[Int(slot)] = Connection(slot: slot, transport: transport)
        states[Int(slot)] = ConnectionState()
        idle.append(slot)
        dispatch(now)
        states[Int(slot)].isPooled = true
    }

    /// One attempt that failed is one call that failed.
    ///
    /// An attempt that took too long is not: calls have their own deadlines, and a younger call may still get through.
    /// Nor is one for which this process had no descriptor: the call waits for one of the connections that there are.
    private mutating func connectFailed(_ failure: Failure, now: MonotonicTime) {
        guard FileDescriptorLimit.hasRoom else {
            noneBefore = now.advanced(byMilliseconds: Self.scarcityPause)
            return
        }
        guard failure.kind != .timeout, calls.waitingCount > 0 else { return }
        fail(calls.longestWaiting, failure.kind, failure.detail, now: now)
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
