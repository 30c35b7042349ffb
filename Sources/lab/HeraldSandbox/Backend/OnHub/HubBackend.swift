import HeraldEvents
import HeraldHTTP
package import HeraldHub
import HeraldText
import HeraldThreads
import HeraldTime

/// The reference backend on a notification hub: the tutorial's controllers, with their statuses.
///
/// A registration can be repeated without harm, and is when the hub says "later". A notification is sent once per
/// request. One too large for its push service gets 413, and "later" is passed on: 429 or 503 with the hub's
/// `Retry-After`. Every other failure gets 500: a client that repeats it may reach a device twice.
package final class HubBackend: Sendable {
    package struct Configuration: Sendable {
        package var client: HubClient
        /// The form for devices of the platform `gcm`.
        package var google: GoogleForm
        package var threads: Int

        package init(_ client: HubClient, google: GoogleForm = .fcmv1, threads: Int = 16) {
            self.client = client
            self.google = google
            self.threads = threads
        }
    }

    /// The longest wait before a registration's request is repeated; its client waits out longer ones.
    private static let longestWait: Milliseconds = .seconds(5)

    private let client: HubClient
    /// The same for registrations, which may be repeated.
    private let registrations: HubClient
    private let google: GoogleForm
    private let workers: WorkerThreads

    init(_ configuration: Configuration) throws {
        client = configuration.client
        var registering = configuration.client
        registering.patience = RequestPatience(longestWait: Self.longestWait)
        registrations = registering
        google = configuration.google
        workers = try WorkerThreads(name: "hub-request", count: configuration.threads)
    }

    func stop() { workers.stop() }

    /// Carries out an action on another thread and passes on the answer.
    func carryOut(_ action: BackendAction, for caller: String, _ answer: @escaping @Sendable (Reply) -> Void) {
        let isTaken = workers.run { [self] in answer(reply(to: action, caller)) }
        if !isTaken { answer(.failure(503, "too many requests wait for the hub")) }
    }

    private func reply(to action: BackendAction, _ caller: String) -> Reply {
        switch action {
        case .giveID(let handle):
            switch registrations.id(forHandle: handle) {
            case .success(let id): Reply.json(.string(id))
            case .failure(let failure): Self.refusal(failure)
            }
        case .put(let id, let platform, let handle, let tags): put(id, platform, handle, tags, caller)
        case .delete(let id):
            if case .failure(let failure) = registrations.forget(id) { Self.refusal(failure) } else { .ok }
        case .notify(let platform, let user, let message):
            send(
                message.saying("From \(caller): \(message.text)"), on: platform, to: "username:\(user)||from:\(caller)",
                users: [user, caller])
        case .greet: greet(caller)
        case .inbox: .failure(404, "what devices received is not known: this backend sends over a hub")
        case .misbehaviour, .calls, .preferences, .refused, .unknown: .failure(404, "this is no matter of the hub")
        }
    }

    private func put(
        _ id: String, _ platform: PushPlatform, _ handle: String, _ tags: [String], _ caller: String
    ) -> Reply {
        if BackendAction.foreignTag(tags, caller: caller) != nil { return .foreignTag }
        let registration: HeraldHub.HubRegistration
        do {
            registration = try HeraldHub.HubRegistration(
                platform.device(handle, google), tags: tags + ["username:" + caller])
        } catch {
            return .failure(400, "\(error)")
        }
        switch registrations.put(registration, at: id) {
        case .success: return .ok
        case .failure(.gone), .failure(.notFound): return .gone
        case .failure(let failure): return Self.refusal(failure)
        }
    }

    private func greet(_ caller: String) -> Reply {
        for platform in PushPlatform.allCases {
            let reply = send(
                BackendMessage("Hello, \(caller)"), on: platform, to: "username:\(caller)", users: [caller])
            if reply.status != 200 { return reply }
        }
        return .ok
    }

    /// - Parameter users: the users in the tags; other text could make them an expression that reaches more devices.
    private func send(
        _ message: BackendMessage, on platform: PushPlatform, to tags: String, users: [String]
    ) -> Reply {
        do {
            _ = try HubTags.checked(users.map { "username:" + $0 })
        } catch {
            return .failure(400, "no user can have this name: \(error)")
        }
        let (payload, format) = (platform.payload(for: message, google), platform.format(google))
        if let limit = NotificationFormat(rawValue: format)?.byteLimit(isVoIP: false), payload.count > limit {
            let excess = payload.count - limit
            return .failure(
                413, "the notification has \(payload.count) bytes, \(excess) more than its push service takes")
        }
        let result = client.send(
            payload, as: format, mediaType: platform.mediaType, headers: platform.hubHeaders, to: tags)
        if case .failure(let failure) = result { return Self.refusal(failure) }
        return .ok
    }

    /// The answer to a controller's exception, except one that only asks for patience.
    private static func refusal(_ failure: HubFailure) -> Reply {
        let answered = failure.status.map { "the hub answered \($0)" } ?? "the hub did not answer"
        var reply = Reply.failure(500, answered + (failure.detail.map { ": \($0)" } ?? ""))
        guard case .refused(let status, let seconds, let detail) = failure else { return reply }
        // A 400 only passes on a push service's answer.
        if status != 400, CallVerdict(readAtHub: status, hasRetryAfter: seconds > 0, detail: detail) == .throttled {
            reply.status = 429
        } else if status == 503 {
            reply.status = 503
        }
        if reply.status != 500, seconds > 0 { reply.headers.append(name: "Retry-After", value: "\(seconds)") }
        return reply
    }
}
