import FoundationEssentials
import HeraldHTTP
import HeraldText
import HeraldThreads
import HeraldTime

/// The emulated hub's handling of a request: authorization, misbehaviour, then the proper answer.
///
/// Tokens and bodies are read outside the lock.
final class HubService: Sendable {
    /// All mutable state, behind one lock.
    let state: Guarded<HubState>
    /// The path below the hub to which rules without a path apply.
    static let defaultPath = "/messages"
    private let hub: String
    private let access: Guarded<HubAccess>
    private let callLog: CallLogFile?
    /// The signature that opens the feedback container.
    private let feedbackSignature = "\(UInt64.random(in: 0...(.max)))"

    init(hub: String, access: HubAccess, state: HubState, callLog: CallLogFile?) {
        self.hub = hub
        self.access = Guarded(access)
        self.callLog = callLog
        self.state = Guarded(state)
    }

    /// Replaces a rule's key; tokens of the old one are refused from the next request on.
    func replaceKey(ofRule name: String, with key: Secret) {
        access.withLock { $0.replaceKey(ofRule: name, with: key) }
    }

    /// Answers a request, or does not when a rule says so.
    func answer(to request: HTTPRequest) -> HTTPAnswer {
        let time = SystemClock.wall().milliseconds
        let trackingID = request.headers["TrackingId"] ?? UUID().uuidString.lowercased()
        var segments = request.target.segments
        if segments.last == "" { segments.removeLast() }
        let origin = "https://\(request.headers["Host"] ?? "localhost")"
        let containerURL = "\(origin)/sandbox/feedback"
        if let control = HubControl(segments) {
            return state.withLock { state in
                state.sendDue(time)
                return .respond(
                    control.response(
                        to: request, containerURL: containerURL, signature: feedbackSignature, state: &state))
            }
        }
        let route = HubRoute(segments.first?.lowercased() == hub.lowercased() ? Array(segments.dropFirst()) : [])
        let context = HubState.Context(
            hubURL: "\(origin)/\(hub)",
            feedbackURL: "\(containerURL)?sv=2018-03-28&sr=c&sp=rl&sig=\(feedbackSignature)", time: time,
            now: SystemClock.monotonic())
        let (verdict, reply) = decide(request, route, path: "/" + segments.dropFirst().joined(separator: "/"), context)
        guard let reply else {
            return verdict.effect == .hang ? .hang : .hangUp(after: verdict.latency.duration)
        }
        let response = reply.response(trackingID: trackingID, time: HubTime.text(time))
        if let held = verdict.held { return held.answer(response) }
        guard verdict.latency > .zero else { return .respond(response) }
        return .respondLater(response, after: verdict.latency.duration)
    }

    private func decide(
        _ request: HTTPRequest, _ route: HubRoute, path: String, _ context: HubState.Context
    ) -> (MisbehaviourRules.Verdict, HubReply?) {
        let reading = reading(of: request, route, context)
        var record = route.sendKind(request.target).map { HubSend(request, $0, reading, at: context.time) }
        let call = MisbehaviourRules.Call(path: path, record)
        return state.withLock { state in
            state.sendDue(context.time)
            var verdict = MisbehaviourRules.Verdict()
            if case .operation = reading { verdict = state.rules.verdict(on: call, at: context.now) }
            var reply = HubReply.misbehaving(verdict, at: context.time)
            if verdict.isProper || verdict.isCarriedOut {
                let proper =
                    switch reading {
                    case .operation(let operation): state.reply(to: operation, record: &record, context)
                    case .refused(let refusal): refusal
                    }
                if verdict.isProper { reply = proper }
            }
            record?.status = reply?.status
            if let record {
                let send = state.sends.append(record)
                if let callLog, !callLog.write(send.jsonLine) {
                    reply = .failure(500, "The call log cannot be written")
                }
            }
            return (verdict, reply)
        }
    }

    /// The request's operation, or the reason for refusing it; checks token, right, address and body, in this order.
    private func reading(of request: HTTPRequest, _ route: HubRoute, _ context: HubState.Context) -> HubReading {
        let rights: Set<HubRight>
        let access = access.withLock { $0 }
        switch access.verdict(on: request, now: context.time / 1_000) {
        case .refused(let reply): return .refused(reply)
        case .rights(let given): rights = given
        }
        guard route != .unknown else {
            return .refused(.failure(404, "The messaging entity \(request.target.path) could not be found"))
        }
        guard let wanted = route.rights(request) else {
            return .refused(.failure(405, "\(request.method) is not possible at \(request.target.path)"))
        }
        // The recorded answer of the service: no body.
        guard !wanted.isDisjoint(with: rights) else { return .refused(HubReply(status: 403)) }
        do throws(InvalidArgument) {
            return .operation(try HubOperation(route, request, at: context.time))
        } catch {
            return .refused(.failure(400, error.description))
        }
    }
}
