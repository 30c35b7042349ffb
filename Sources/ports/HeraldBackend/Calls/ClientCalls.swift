internal import HeraldEvents
internal import HeraldHTTP
internal import HeraldTime

/// The calls of a ``ClientThread``, on its thread: which of them are made, and which wait for credentials.
struct ClientCalls {
    private struct Call {
        var request: ClientThread.Request
        var waiter: ClientThread.Waiter
        /// Set with the first attempt.
        var deadline: MonotonicTime?
        /// Of the credentials that the last attempt showed.
        var revision = 0
        /// Refused credentials were renewed for it; that happens once.
        var isRepeated = false
    }

    private let calls: BackendCalls
    private let credentials: CredentialSource
    private let renewed: @Sendable (UInt64) -> Void
    private var table: [UInt64: Call] = [:]
    private var access: BackendAccess?
    private var trouble: TokenTrouble?
    private var waiting: [UInt64] = []
    /// Calls that were refused and wait for the renewal, with their answer should nothing be new.
    private var refused: [UInt64: ClientThread.Reply] = [:]

    /// - Parameter renewed: called on any thread when the renewal that a call waited for has ended.
    init(
        _ calls: BackendCalls, _ credentials: CredentialSource, renewed: @escaping @Sendable (UInt64) -> Void
    ) {
        self.renewed = renewed
        self.calls = calls
        self.credentials = credentials
    }

    mutating func carryOut(_ command: ClientThread.Command, now: MonotonicTime) {
        switch command {
        case .begin(let token, let request, let waiter):
            table[token] = Call(request: request, waiter: waiter)
            begin(token, now: now)
        case .cancel(let token):
            guard let call = table.removeValue(forKey: token) else { return }
            calls.cancel(token: token, now: now)
            waiting.removeAll { $0 == token }
            refused[token] = nil
            call.waiter.resume(throwing: CancellationError())
        case .news(let news): receive(news, now: now)
        case .renewed(let token):
            guard let reply = refused.removeValue(forKey: token), let call = table[token] else { return }
            if let access, access.revision > call.revision { begin(token, now: now) } else { finish(token, reply) }
        }
    }

    /// Gives every answer that has come to its caller.
    mutating func receiveAnswers(now: MonotonicTime) {
        var replies: [(UInt64, ClientThread.Reply)] = []
        calls.drainWithBodies { token, call, body in
            replies.append((token, ClientThread.Reply(result: call.result, body: calls.bytes(of: body))))
        }
        for (token, reply) in replies { receive(reply, token) }
    }

    mutating func end(with error: any Error) {
        for call in table.values { call.waiter.resume(throwing: error) }
        table.removeAll()
    }

    private mutating func receive(_ reply: ClientThread.Reply, _ token: UInt64) {
        guard let call = table[token] else { return }
        if reply.result.verdict == .credentials, !call.isRepeated {
            table[token]?.isRepeated = true
            refused[token] = reply
            credentials.renew(refused: call.revision) { [renewed] in renewed(token) }
        } else {
            finish(token, reply)
        }
    }

    private mutating func receive(_ news: AccessNews, now: MonotonicTime) {
        switch news {
        case .access(let fresh):
            access = fresh
            trouble = nil
            calls.use(fresh, now: now)
            for token in waiting { begin(token, now: now) }
            waiting.removeAll()
        case .unavailable(let reason):
            access = nil
            trouble = reason
            for token in waiting { fail(token, reason) }
            waiting.removeAll()
        }
    }

    private mutating func begin(_ token: UInt64, now: MonotonicTime) {
        if let trouble { return fail(token, trouble) }
        guard let access else { return waiting.append(token) }
        guard let request = table[token]?.request else { return }
        let deadline = table[token]?.deadline ?? calls.deadline(now: now)
        table[token]?.deadline = deadline
        table[token]?.revision = access.revision
        switch request {
        case .notification(let pushService, let event, let value):
            calls.send(
                TargetCall(token: token, pushService: Array(pushService.utf8), now: SystemClock.wall()),
                of: event, value: value.span.bytes, deadline: deadline, now: now)
        case .other(let method, let target, let json):
            calls.request(token: token, deadline: deadline, now: now, method: method, target: target, json: json)
        }
    }

    private mutating func finish(_ token: UInt64, _ reply: ClientThread.Reply) {
        table.removeValue(forKey: token)?.waiter.resume(returning: reply)
    }

    private mutating func fail(_ token: UInt64, _ trouble: TokenTrouble) {
        table.removeValue(forKey: token)?.waiter.resume(throwing: BackendClientError.noToken(trouble))
    }
}
