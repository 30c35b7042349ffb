public import HeraldEvents
public import HeraldHTTP
internal import HeraldText
public import HeraldTime

/// The backend's calls, driven by a loop's thread: writes requests into a ``ConnectionPool`` and reads its answers.
///
/// The caller hands over the events of `owner`, calls ``tick(_:)`` when ``nextDeadline`` passes and ``flush(now:)``
/// before it waits, and drains the answers. Everything happens on one thread; a call that is answered with a 2xx
/// allocates nothing over HTTP/1.1.
public final class BackendCalls {
    // What every call touches is the loop's thread's alone and never reached twice at once, as in a lane.
    @exclusivity(unchecked) private var pool: ConnectionPool
    let timeout: Milliseconds
    private var writer: RequestWriter
    @exclusivity(unchecked) private var target: any Target
    /// Tells these calls apart from those of others with the same tokens.
    private let session = UInt64.random(in: 0...(.max))
    private var redaction: Redaction
    @exclusivity(unchecked) private var scratch: [UInt8] = []
    private let configuration: BackendConfiguration
    private var filesRevision = 0
    /// Calls that were not made, to be handed out with those that ended.
    @exclusivity(unchecked) private var unmade: [(token: UInt64, call: EndedCall)] = []
    /// No pause is longer, whatever an answer asks for.
    private let retryAfterLimit: Milliseconds
    @exclusivity(unchecked) private var statuses: StatusTable
    /// The value of a Retry-After that is neither a number of seconds nor a date.
    private var ignoredRetryAfter: String?

    /// Calls to the configured backend over connections of this loop.
    ///
    /// - Parameters:
    ///   - owner: the owner in the tokens of these calls' events.
    ///   - retryAfterLimit: the longest pause that an answer may ask for.
    public init(
        loop: EventLoop, owner: UInt8, configuration: BackendConfiguration, retryAfterLimit: Milliseconds = .max
    ) {
        statuses = configuration.statuses
        self.retryAfterLimit = retryAfterLimit
        pool = ConnectionPool(loop: loop, owner: owner, options: configuration.connections)
        timeout = configuration.timeout
        self.configuration = configuration
        let authorization = configuration.credentials.authorization
        writer = RequestWriter(authority: configuration.address.authority, authorization: authorization)
        target = configuration.target.showing(authorization, of: configuration, session: session)
        redaction = Redaction(authorization: authorization)
    }

    /// Calls with these credentials, and over connections made with these files, from the next call on; those under way
    /// keep theirs.
    public func use(_ access: BackendAccess, now: MonotonicTime) {
        let authorization = access.authorization?.reveal()
        writer = RequestWriter(authority: configuration.address.authority, authorization: authorization)
        target = target.showing(authorization, of: configuration, session: session)
        redaction.learn(authorization)
        guard access.filesRevision != filesRevision else { return }
        filesRevision = access.filesRevision
        pool.renewConnections(proxy: access.proxy, tls: access.tls, now: now)
    }

    /// The meanings of statuses in answers from now on.
    public func use(_ statuses: StatusTable) { self.statuses = statuses }

    /// Raises the limit of connections, which never shrinks.
    public func raise(connectionLimit: Int) { pool.raise(limit: connectionLimit) }

    /// The number of calls that have not ended.
    public var count: Int { pool.callCount }
    /// The number of connections made and kept.
    public var connectionCount: Int { pool.connectionCount }
    /// The number of shared ones, over HTTP/2.
    public var sharedConnectionCount: Int { pool.sharedConnectionCount }
    /// The time at which ``tick(_:)`` is due next, if at all.
    ///
    /// At once when calls ended that were never made: nothing else says so.
    public var nextDeadline: MonotonicTime? { unmade.isEmpty ? pool.nextDeadline : .distantPast }

    /// The deadline of a call that begins now.
    public func deadline(now: MonotonicTime) -> MonotonicTime { now.advanced(by: timeout) }

    /// Sends an event to one push service.
    ///
    /// - Parameters:
    ///   - value: of the event's record.
    ///   - deadline: covers everything; see ``deadline(now:)``.
    public func send(
        _ call: borrowing TargetCall, of event: borrowing DecodedEvent, value: RawSpan, deadline: MonotonicTime,
        now: MonotonicTime
    ) {
        scratch.removeAll(keepingCapacity: true)
        let token = call.token
        let ended = target.write(call, of: event, value: value, scratch: &scratch) { write in
            pool.begin(token: token, deadline: deadline, now: now, write: write)
        }
        if let ended { unmade.append((token, EndedCall(ended, sentAt: now, durationNanoseconds: 0))) }
    }

    /// Sends any other request; the body of its answer is kept.
    func request(
        token: UInt64, deadline: MonotonicTime, now: MonotonicTime, method: String, target: String, json: String?
    ) {
        pool.begin(token: token, deadline: deadline, now: now, keepsBody: true) { output in
            writer.append(method: method, target: target, json: json, to: &output)
        }
    }

    /// Deals with an event whose token has this owner.
    public func handle(_ event: ReadyEvent, now: MonotonicTime) {
        pool.handle(event, now: now)
    }

    /// Ends the calls whose deadline has passed, and does what else is due.
    public func tick(_ now: MonotonicTime) {
        pool.tick(now)
    }

    /// Whether ``flush(now:)`` may have something to do.
    public var hasUnwritten: Bool { pool.hasUnwritten }

    /// Writes what is left of calls; to be called before each wait of the loop.
    ///
    /// Returns false when calls may have ended by that, and the loop should not wait.
    public func flush(now: MonotonicTime) -> Bool { pool.flush(now: now) }

    /// Hands out the calls that ended, in the order of their ends, each with its token; those that end meanwhile too.
    public func drain(_ body: (UInt64, inout EndedCall) -> Void) {
        drainWithBodies { token, call, _ in body(token, &call) }
    }

    /// As ``drain(_:)``, with the bodies that were kept.
    func drainWithBodies(_ body: (UInt64, inout EndedCall, Completion.Text) -> Void) {
        if !unmade.isEmpty { drainUnmade(body) }
        var index = 0
        while index < pool.completions.count {
            let completion = pool.completions[index]
            index += 1
            var call = EndedCall(
                result(completion), isHTTP2: completion.isHTTP2, sentAt: completion.sentAt,
                durationNanoseconds: completion.durationNanoseconds)
            body(completion.token, &call, completion.body)
        }
        pool.removeCompletions()
    }

    private func drainUnmade(_ body: (UInt64, inout EndedCall, Completion.Text) -> Void) {
        let ended = unmade
        unmade.removeAll()
        for (token, var call) in ended { body(token, &call, .none) }
    }

    /// The value of a drained Retry-After that was ignored since the last time; `nil` without one.
    public func takeIgnoredRetryAfter() -> String? {
        defer { ignoredRetryAfter = nil }
        return ignoredRetryAfter
    }

    /// A copy of a body, while it is drained.
    func bytes(of body: Completion.Text) -> [UInt8] {
        pool.withText(body) { bytes in bytes.withUnsafeBytes { Array($0) } }
    }

    func cancel(token: UInt64, now: MonotonicTime) {
        pool.cancel(token: token, now: now)
    }

    /// Forgets all calls, without an answer, and closes the connections.
    public func close() {
        pool.close()
    }

    private func result(_ completion: Completion) -> CallResult {
        let duration = Milliseconds.milliseconds(completion.durationNanoseconds / 1_000_000)
        if let failure = completion.failure {
            let detail = pool.withText(completion.body) { OneLine.text($0, hiding: redaction) } ?? failure.rawValue
            return CallResult(
                failure: CallFailure(failure), detail: target.detail(detail, ofCall: completion.token),
                duration: duration,
                mayHaveArrived: completion.isSent)
        }
        let retryAfter = completion.retryAfter.isEmpty ? nil : retryAfter(completion)
        if completion.status < 300 {
            return CallResult(
                status: completion.status, retryAfter: retryAfter, detail: messageID(completion), duration: duration,
                statuses: statuses)
        }
        let detail =
            completion.body.isEmpty
            ? nil : pool.withText(completion.body) { ErrorBody.line($0, hiding: redaction) }
        let read = target.verdict(on: completion.status, hasRetryAfter: retryAfter != nil, detail: detail)
        return CallResult(
            status: completion.status, retryAfter: retryAfter, detail: target.detail(detail, ofCall: completion.token),
            duration: duration, read: read, statuses: statuses)
    }

    /// The wait requested by Retry-After; a date counts from the answer's own Date, because clocks differ.
    private func retryAfter(_ completion: Completion) -> Milliseconds? {
        guard let field = pool.withText(completion.retryAfter, { OneLine.text($0) }) else { return nil }
        let sent = pool.withText(completion.date) { OneLine.text($0) }.flatMap { HTTPDate.parse($0) }
        let wait = RetryAfter.wait(field, now: sent ?? SystemClock.wall(), limit: retryAfterLimit)
        if wait == nil { ignoredRetryAfter = field }
        return wait
    }

    private func messageID(_ completion: Completion) -> String? {
        guard !completion.location.isEmpty else { return nil }
        return pool.withText(completion.location) { OneLine.text($0) }.flatMap { target.messageID(in: $0) }
    }
}

extension CallFailure {
    /// The HTTP client's failure, in the contract's terms.
    init(_ kind: FailureKind) {
        switch kind {
        case .connectionRefused, .connectFailed: self = .refused
        case .proxyRefused: self = .proxyRefused
        case .connectionReset: self = .reset
        case .timeout: self = .timeout
        case .brokenHTTP: self = .brokenHTTP
        case .tls: self = .tls
        case .nameNotFound: self = .nameNotFound
        }
    }
}
