import HeraldHTTP
import HeraldThreads
import HeraldTime

/// What the reference backend does with a request: who may, whether it misbehaves, and the way to the right answer.
final class BackendService: Sendable {
    /// Everything that changes, behind the one lock.
    let state: Guarded<BackendState>
    private let callLog: CallLogFile?

    init(state: BackendState, callLog: CallLogFile?) {
        self.state = Guarded(state)
        self.callLog = callLog
    }

    /// Answers a request, or not, when it is told to misbehave.
    func answer(to request: HTTPRequest) -> HTTPAnswer {
        let route = BackendRoute(request)
        let caller = BasicCredentials.caller(authorization: request.headers["Authorization"])
        let call = caller == nil || !route.isAPI ? nil : misbehaviourCall(request)
        let (verdict, reply) = state.withLock { state in
            let verdict =
                call.map { state.rules.verdict(on: $0, at: SystemClock.monotonic()) } ?? MisbehaviourRules.Verdict()
            var reply = Self.misbehaving(verdict)
            if verdict.effect == nil || verdict.isCarriedOut {
                let proper = self.reply(to: request, route, caller: caller, state: &state)
                if verdict.effect == nil { reply = proper }
            }
            if route == .notifications, request.method == "POST", !record(request, caller, reply?.status, in: &state) {
                reply = .failure(500, "the call log cannot be written")
            }
            return (verdict, reply)
        }
        guard let reply else {
            return verdict.effect == .hang ? .hang : .hangUp(after: .milliseconds(verdict.latencyMilliseconds))
        }
        let response = reply.response(for: request)
        guard verdict.latencyMilliseconds > 0 else { return .respond(response) }
        return .respondLater(response, after: .milliseconds(verdict.latencyMilliseconds))
    }

    private func reply(
        to request: HTTPRequest, _ route: BackendRoute, caller: String?, state: inout BackendState
    ) -> BackendReply {
        guard let caller else { return .failure(403, "Basic authentication is needed; the password is the user name") }
        return route.reply(to: request, caller: caller, state: &state)
    }

    private func misbehaviourCall(_ request: HTTPRequest) -> MisbehaviourRules.Call {
        MisbehaviourRules.Call(
            path: request.target.path, user: request.target.values(of: "to_tag").first,
            pns: request.target.values(of: "pns").first, idempotencyKey: request.headers["Idempotency-Key"])
    }

    private func record(
        _ request: HTTPRequest, _ caller: String?, _ status: Int?, in state: inout BackendState
    ) -> Bool {
        let call = state.record(
            RecordedCall(
                number: 0, receivedAt: SystemClock.wall(), idempotencyKey: request.headers["Idempotency-Key"],
                pns: request.target.values(of: "pns").first, user: request.target.values(of: "to_tag").first,
                caller: caller, traceparent: request.headers["traceparent"], status: status))
        return callLog?.write(call) ?? true
    }

    /// The reply of a verdict with a status, `nil` for one without an answer.
    private static func misbehaving(_ verdict: MisbehaviourRules.Verdict) -> BackendReply? {
        guard case .respond(let status) = verdict.effect else { return nil }
        var reply = BackendReply.failure(status, "the reference backend was told to answer \(status)")
        if let retryAfter = verdict.retryAfter {
            reply.headers.append(name: "Retry-After", value: Self.retryAfter(retryAfter))
        }
        return reply
    }

    /// The value of a header `Retry-After`: `date+30` becomes the date 30 seconds from now, the rest stays as it is.
    private static func retryAfter(_ value: String) -> String {
        guard value.hasPrefix("date+"), let seconds = Int64(value.dropFirst(5)) else { return value }
        let milliseconds = seconds.multipliedReportingOverflow(by: 1_000).partialValue
        return HTTPDate.text(SystemClock.wall().advanced(byMilliseconds: milliseconds))
    }
}
