import FoundationEssentials
import HeraldHTTP
import HeraldThreads
import HeraldTime

/// The reference backend's handling of a request: authentication, misbehaviour, then the proper answer.
final class BackendService: Sendable {
    let state: Guarded<BackendState>
    private let callLog: CallLogFile?
    /// The store of devices and notifications; `nil` keeps them in memory.
    private let hub: HubBackend?
    /// What users said last, and the thread that asks.
    private let words: (words: any UserWords, thread: WorkerThreads)?
    /// Whether requests with a foreign host name are refused (DNS rebinding).
    private let isLocal: Bool

    init(state: BackendState, callLog: CallLogFile?, hub: HubBackend?, words: (any UserWords)?, isLocal: Bool)
        throws(SystemError)
    {
        self.isLocal = isLocal
        self.words = if let words { (words, try WorkerThreads(name: "preferences", count: 1)) } else { nil }
        self.state = Guarded(state)
        self.callLog = callLog
        self.hub = hub
    }

    func stop() {
        hub?.stop()
        words?.thread.stop()
    }

    /// Answers a request, or does not when a rule says so.
    func answer(to request: HTTPRequest) -> HTTPAnswer {
        if isLocal, request.headers["Host"] != nil, !request.namesThisMachine {
            return .respond(.text("ask for 127.0.0.1, [::1] or localhost\n", status: 403))
        }
        let now = SystemClock.wall()
        let action = BackendAction(request)
        let caller = BasicCredentials.caller(authorization: request.headers["Authorization"])
        if case .preferences(let user) = action, let words, caller != nil {
            guard request.isFromLoopback else { return .respond(Reply.notFromHere.response(for: request)) }
            return .respondWhenReady { responder in
                let isTaken = words.thread.run {
                    let reply = words.words.reply(to: request.method, of: user, request.body) ?? .notAllowed(request)
                    responder.respond(reply.response(for: request))
                }
                guard !isTaken else { return }
                responder.respond(Reply.failure(503, "too many requests wait").response(for: request))
            }
        }
        return state.withLock { state -> HTTPAnswer in
            guard let caller else {
                let refusal = Reply.failure(403, "Basic authentication is needed; the password is the user name")
                let reply = recorded(refusal, request, action, nil, now, in: &state)
                return .respond((reply ?? refusal).response(for: request))
            }
            let verdict = judgement(of: request, action, in: &state)
            var reply = Reply(verdict, at: now, by: "the reference backend")
            if let hub, action.isForHub {
                if verdict.isProper { return answer(to: request, action, caller, hub, verdict) }
                if verdict.isCarriedOut { hub.carryOut(action, for: caller) { _ in } }
            } else if verdict.isProper || verdict.isCarriedOut {
                let proper = state.reply(to: request, action, caller: caller, at: now)
                if verdict.isProper { reply = proper }
            }
            return verdict.answer(
                recorded(reply, request, action, caller, now, in: &state)?.response(for: request))
        }
    }

    /// Answers a request carried out on the hub, by its threads, so that no thread of the server waits.
    private func answer(
        to request: HTTPRequest, _ action: BackendAction, _ caller: String, _ hub: HubBackend,
        _ verdict: MisbehaviourRules.Verdict
    ) -> HTTPAnswer {
        .respondWhenReady { [self] responder in
            hub.carryOut(action, for: caller) { [self] proper in
                // The call is recorded before its answer, as without a hub.
                let reply = state.withLock { recorded(proper, request, action, caller, SystemClock.wall(), in: &$0) }
                let response = (reply ?? proper).response(for: request)
                if let held = verdict.held {
                    held.hold(response, for: responder)
                } else {
                    responder.respond(response, after: verdict.latency.duration)
                }
            }
        }
    }

    private func judgement(
        of request: HTTPRequest, _ action: BackendAction, in state: inout BackendState
    ) -> MisbehaviourRules.Verdict {
        guard action.mayMisbehave else { return MisbehaviourRules.Verdict() }
        let call = MisbehaviourRules.Call(
            path: request.target.path, user: request.target.values(of: "to_tag").first,
            pns: request.target.values(of: "pns").first, idempotencyKey: request.headers["Idempotency-Key"])
        return state.rules.verdict(on: call, at: SystemClock.monotonic())
    }

    /// The reply, after recording the call if the request is one; `nil` stays `nil`.
    private func recorded(
        _ reply: Reply?, _ request: HTTPRequest, _ action: BackendAction, _ caller: String?, _ now: WallTime,
        in state: inout BackendState
    ) -> Reply? {
        guard BackendAction.isNotification(request) else { return reply }
        let call = state.record(
            RecordedCall(
                number: 0, receivedAt: now, idempotencyKey: request.headers["Idempotency-Key"],
                pns: request.target.values(of: "pns").first, user: request.target.values(of: "to_tag").first,
                message: action.message?.text, content: action.message?.content ?? [], caller: caller,
                traceparent: request.headers["traceparent"],
                status: reply?.status))
        guard let callLog, !callLog.write(call.jsonLine) else { return reply }
        return .failure(500, "the call log cannot be written")
    }
}

/// The tutorial's authentication: HTTP Basic with the user name as password.
enum BasicCredentials {
    /// The caller proven by the `Authorization` header; `nil` when it is missing or wrong.
    static func caller(authorization: String?) -> String? {
        guard let authorization else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Data(base64Encoded: String(parts[1])),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // Compared as bytes: Swift's `==` treats different spellings of one character as equal.
        guard pair.count == 2, !pair[0].isEmpty, pair[0].utf8.elementsEqual(pair[1].utf8) else { return nil }
        return String(pair[0])
    }
}
