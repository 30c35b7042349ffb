internal import HeraldEvents
internal import HeraldHTTP
internal import HeraldThreads
internal import HeraldTime

/// The thread behind a ``BackendClient``: a loop and the same ``BackendCalls`` that a lane drives.
///
/// Other threads leave commands in an inbox and wake the loop; everything else belongs to the thread (``ClientCalls``).
final class ClientThread: Sendable {
    struct Reply: Sendable {
        var result: CallResult
        var body: [UInt8]
    }

    enum Request: Sendable {
        /// - Parameter value: what the event's content is in.
        case notification(pushService: String, DecodedEvent, value: [UInt8])
        case other(method: String, target: String, json: String?)
    }

    typealias Waiter = CheckedContinuation<Reply, any Error>

    enum Command: Sendable {
        case begin(UInt64, Request, Waiter)
        case cancel(UInt64)
        case news(AccessNews)
        /// The renewal that a refused call waited for has ended.
        case renewed(UInt64)
    }

    private struct Inbox {
        var commands: [Command] = []
        var isClosed = false
        var hasEnded = false
        var closers: [CheckedContinuation<Void, Never>] = []
        var lastToken: UInt64 = 0
    }

    private static let wakeupOwner: UInt8 = 1
    private static let callsOwner: UInt8 = 2

    private let configuration: BackendConfiguration
    private let credentials: CredentialSource
    private let wakeup: Wakeup
    private let inbox = Guarded(Inbox())

    init(_ configuration: BackendConfiguration, _ credentials: CredentialSource) throws(SystemError) {
        self.configuration = configuration
        self.credentials = credentials
        wakeup = try Wakeup()
    }

    /// Starts the thread, which keeps this object until it ends.
    func start() throws(SystemError) {
        _ = try OwnThread(name: "herald-backend") { self.run() }
        credentials.listen { [weak self] news in self?.post(.news(news)) }
    }

    // MARK: Any thread

    /// Sends a request and waits for its answer; a cancelled task's call is given up.
    func call(_ request: Request) async throws -> Reply {
        let token = inbox.withLock { inbox in
            inbox.lastToken += 1
            return inbox.lastToken
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                if !post(.begin(token, request, waiter)) { waiter.resume(throwing: BackendClientError.closed) }
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { post(.cancel(token)) }
            }
        } onCancel: {
            post(.cancel(token))
        }
    }

    /// Ends the thread: calls that wait fail with ``BackendClientError/closed``.
    func close() {
        inbox.withLock { $0.isClosed = true }
        wakeup.signal()
    }

    func ended() async {
        await withCheckedContinuation { closer in
            let hasEnded = inbox.withLock { inbox in
                if !inbox.hasEnded { inbox.closers.append(closer) }
                return inbox.hasEnded
            }
            if hasEnded { closer.resume() }
        }
    }

    @discardableResult
    private func post(_ command: Command) -> Bool {
        let isTaken = inbox.withLock { inbox in
            if inbox.isClosed { return false }
            inbox.commands.append(command)
            return true
        }
        if isTaken { wakeup.signal() }
        return isTaken
    }

    // MARK: The thread itself

    private func run() {
        do throws(SystemError) {
            let loop = try EventLoop()
            try loop.add(wakeup.descriptor, token: EventToken(owner: Self.wakeupOwner), interest: .readableEdges)
            let calls = BackendCalls(loop: loop, owner: Self.callsOwner, configuration: configuration)
            var table = ClientCalls(calls, credentials) { token in
                self.post(.renewed(token))
            }
            serve(loop, calls, &table)
            calls.close()
            table.end(with: BackendClientError.closed)
            end(with: BackendClientError.closed)
        } catch {
            inbox.withLock { $0.isClosed = true }
            end(with: error)
        }
    }

    private func serve(_ loop: EventLoop, _ calls: BackendCalls, _ table: inout ClientCalls) {
        var now = SystemClock.monotonic()
        while true {
            let mayWait = calls.flush(now: now)
            let timeout = mayWait ? EventLoop.timeout(until: calls.nextDeadline, now: now) : .zero
            let count = loop.wait(timeout: timeout)
            now = SystemClock.monotonic()
            for index in 0..<count {
                let event = loop[index]
                if event.token.owner == Self.callsOwner {
                    calls.handle(event, now: now)
                } else {
                    wakeup.drain()
                }
            }
            let (commands, isClosed) = inbox.withLock { inbox in
                defer { inbox.commands.removeAll() }
                return (inbox.commands, inbox.isClosed)
            }
            for command in commands { table.carryOut(command, now: now) }
            if let deadline = calls.nextDeadline, deadline <= now { calls.tick(now) }
            table.receiveAnswers(now: now)
            if isClosed { return }
        }
    }

    private func end(with error: any Error) {
        let (commands, closers) = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer {
                inbox.commands.removeAll()
                inbox.closers.removeAll()
            }
            return (inbox.commands, inbox.closers)
        }
        for case .begin(_, _, let waiter) in commands { waiter.resume(throwing: error) }
        for closer in closers { closer.resume() }
    }
}
