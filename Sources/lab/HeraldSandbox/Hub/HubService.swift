import FoundationEssentials
import HeraldHTTP
import HeraldHub
import HeraldText
import HeraldThreads
import HeraldTime

/// The emulated hub's handling of a request: authorization, misbehaviour, then the proper answer.
///
/// Tokens and bodies are read outside the lock.
final class HubService: Sendable {
    let state: Guarded<HubState>
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
        var segments = request.target.segments
        if segments.last == "" { segments.removeLast() }
        let origin = "https://\(request.headers["Host"] ?? "localhost")"
        let containerURL = "\(origin)/sandbox/feedback"
        if segments.first == "sandbox" {
            let control = HubControl(request: request, containerURL: containerURL, signature: feedbackSignature)
            let answer = state.withLock { state in
                state.sendDue(time)
                return control.response(at: Array(segments.dropFirst()), state: &state)
            }
            if let answer { return .respond(answer) }
        }
        let route = HubRoute(segments.first?.lowercased() == hub.lowercased() ? Array(segments.dropFirst()) : [])
        let context = HubState.Context(
            hubURL: "\(origin)/\(hub)",
            feedbackURL: "\(containerURL)?sv=2018-03-28&sr=c&sp=rl&sig=\(feedbackSignature)", time: time,
            now: SystemClock.monotonic())
        let (verdict, reply) = decide(request, route, path: "/" + segments.dropFirst().joined(separator: "/"), context)
        let trackingID = request.headers[TrackingID.header] ?? UUID().uuidString.lowercased()
        return verdict.answer(reply?.response(trackingID: trackingID, time: HubTime.text(time)))
    }

    private func decide(
        _ request: HTTPRequest, _ route: HubRoute, path: String, _ context: HubState.Context
    ) -> (MisbehaviourRules.Verdict, Reply?) {
        let reading = reading(of: request, route, context)
        let operation = try? reading.get()
        var record = route.sendKind(request.target).map {
            HubSend(request, $0, operation?.notification, at: context.time)
        }
        let call = MisbehaviourRules.Call(
            path: path, user: record?.user, pns: record?.format, idempotencyKey: record?.identity)
        return state.withLock { state in
            state.sendDue(context.time)
            let verdict =
                operation == nil ? MisbehaviourRules.Verdict() : state.rules.verdict(on: call, at: context.now)
            var reply = Reply(verdict, at: WallTime(milliseconds: context.time), by: "The emulated hub")
            if verdict.isProper || verdict.isCarriedOut {
                let proper =
                    switch reading {
                    case .success(let operation): operation.work(&state, &record, context)
                    case .failure(let refusal): refusal
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

    /// The request's operation, or the refusal; checks token, right, address and body, in this order.
    private func reading(
        of request: HTTPRequest, _ route: HubRoute, _ context: HubState.Context
    ) -> Result<HubOperation, Reply> {
        let access = access.withLock { $0 }
        return access.rights(of: request, now: context.time / 1_000).flatMap { rights in
            guard route != .unknown else {
                return .failure(.failure(404, "The messaging entity \(request.target.path) could not be found"))
            }
            guard let wanted = route.rights(request) else { return .failure(.notAllowed(request)) }
            // The recorded answer of the service: no body.
            guard !wanted.isDisjoint(with: rights) else { return .failure(Reply(status: 403)) }
            do throws(InvalidArgument) {
                return .success(try HubOperation(route, request, at: context.time))
            } catch {
                return .failure(.failure(400, error.description))
            }
        }
    }
}
