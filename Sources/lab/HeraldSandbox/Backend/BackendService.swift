import FoundationEssentials
import HeraldHTTP
import HeraldThreads
import HeraldTime

/// The reference backend's handling of a request: authentication, misbehaviour, then the proper answer.
final class BackendService: Sendable {
    /// All mutable state, behind one lock.
    let state: Guarded<BackendState>
    private let callLog: CallLogFile?
    /// The store of devices and notifications; `nil` keeps them in memory.
    private let hub: HubBackend?
    /// Whether requests with a foreign host name are refused (DNS rebinding).
    private let isLocal: Bool

    init(state: BackendState, callLog: CallLogFile?, hub: HubBackend?, isLocal: Bool) {
        self.isLocal = isLocal
        self.state = Guarded(state)
        self.callLog = callLog
        self.hub = hub
    }

    /// Ends the work outside the server's threads.
    func stop() { hub?.stop() }

    /// Answers a request, or does not when a rule says so.
    func answer(to request: HTTPRequest) -> HTTPAnswer {
        if isLocal, request.headers["Host"] != nil, !request.namesThisMachine {
            return .respond(.text("ask for 127.0.0.1, [::1] or localhost\n", status: 403))
        }
        let route = BackendRoute(request)
        let action = BackendAction(request, route)
        guard let caller = BasicCredentials.caller(authorization: request.headers["Authorization"]) else {
            let reply = BackendReply.failure(403, "Basic authentication is needed; the password is the user name")
            return ending(MisbehaviourRules.Verdict(), recorded(request, action, route, nil, reply), request)
        }
        if let hub, action.isForHub { return answer(to: request, route, action, caller, hub) }
        let (verdict, reply) = state.withLock { state in
            let verdict = judgement(of: request, route, in: &state)
            var reply = Self.misbehaving(verdict)
            if verdict.isProper || verdict.isCarriedOut {
                let proper = route.reply(to: request, action, caller: caller, state: &state)
                if verdict.isProper { reply = proper }
            }
            return (verdict, recorded(request, action, route, caller, reply, in: &state))
        }
        return ending(verdict, reply, request)
    }

    /// Answers a request carried out on the hub, by its threads, so that no thread of the server waits.
    private func answer(
        to request: HTTPRequest, _ route: BackendRoute, _ action: BackendAction, _ caller: String, _ hub: HubBackend
    ) -> HTTPAnswer {
        let verdict = state.withLock { state in judgement(of: request, route, in: &state) }
        guard verdict.isProper else {
            if verdict.isCarriedOut { hub.carryOut(action, for: caller) { _ in } }
            return ending(verdict, recorded(request, action, route, caller, Self.misbehaving(verdict)), request)
        }
        return .respondWhenReady { [self] responder in
            hub.carryOut(action, for: caller) { [self] proper in
                // The call is recorded before its answer, as without a hub.
                let response = (recorded(request, action, route, caller, proper) ?? proper).response(for: request)
                if let held = verdict.held {
                    held.hold(response, for: responder)
                } else {
                    responder.respond(response, after: verdict.latency.duration)
                }
            }
        }
    }

    private func judgement(
        of request: HTTPRequest, _ route: BackendRoute, in state: inout BackendState
    ) -> MisbehaviourRules.Verdict {
        guard route.isAPI else { return MisbehaviourRules.Verdict() }
        return state.rules.verdict(on: misbehaviourCall(request), at: SystemClock.monotonic())
    }

    private func ending(
        _ verdict: MisbehaviourRules.Verdict, _ reply: BackendReply?, _ request: HTTPRequest
    ) -> HTTPAnswer {
        guard let reply else {
            return verdict.effect == .hang ? .hang : .hangUp(after: verdict.latency.duration)
        }
        let response = reply.response(for: request)
        if let held = verdict.held { return held.answer(response) }
        guard verdict.latency > .zero else { return .respond(response) }
        return .respondLater(response, after: verdict.latency.duration)
    }

    private func recorded(
        _ request: HTTPRequest, _ action: BackendAction, _ route: BackendRoute, _ caller: String?,
        _ reply: BackendReply?
    ) -> BackendReply? {
        state.withLock { state in recorded(request, action, route, caller, reply, in: &state) }
    }

    /// The reply, after recording the call if the request is one; `nil` stays `nil`.
    private func recorded(
        _ request: HTTPRequest, _ action: BackendAction, _ route: BackendRoute, _ caller: String?,
        _ reply: BackendReply?, in state: inout BackendState
    ) -> BackendReply? {
        guard route == .notifications, request.method == "POST" else { return reply }
        return record(request, action, caller, reply?.status, in: &state)
            ? reply : .failure(500, "the call log cannot be written")
    }

    private func misbehaviourCall(_ request: HTTPRequest) -> MisbehaviourRules.Call {
        MisbehaviourRules.Call(
            path: request.target.path, user: request.target.values(of: "to_tag").first,
            pns: request.target.values(of: "pns").first, idempotencyKey: request.headers["Idempotency-Key"])
    }

    private func record(
        _ request: HTTPRequest, _ action: BackendAction, _ caller: String?, _ status: Int?,
        in state: inout BackendState
    ) -> Bool {
        let call = state.record(
            RecordedCall(
                number: 0, receivedAt: SystemClock.wall(), idempotencyKey: request.headers["Idempotency-Key"],
                pns: request.target.values(of: "pns").first, user: request.target.values(of: "to_tag").first,
                message: action.message, caller: caller, traceparent: request.headers["traceparent"], status: status))
        return callLog?.write(call.jsonLine + [UInt8(ascii: "\n")]) ?? true
    }

    /// The reply of a verdict with a status; `nil` for one without an answer.
    private static func misbehaving(_ verdict: MisbehaviourRules.Verdict) -> BackendReply? {
        guard case .respond(let status) = verdict.effect else { return nil }
        var reply = BackendReply.failure(status, "the reference backend was told to answer \(status)")
        if let retryAfter = verdict.retryAfter(at: SystemClock.wall()) {
            reply.headers.append(name: "Retry-After", value: retryAfter)
        }
        return reply
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
