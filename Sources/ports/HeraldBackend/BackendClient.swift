public import HeraldEvents
internal import HeraldHTTP
internal import HeraldText

/// The notification backend for Swift services and tools.
///
/// Calls of any number of tasks share one thread and its kept connections. A task that is cancelled gives its call up;
/// whether the backend still gets it is open then. ``close()`` ends everything; so does the last reference going away.
public final class BackendClient: Sendable {
    let configuration: BackendConfiguration
    private let thread: ClientThread
    /// Its own; `nil` when it shares one with other clients, which close it.
    private let ownCredentials: CredentialSource?

    /// A client of the configured backend; throws when the process has no descriptor or thread left.
    ///
    /// - Parameter credentials: those that the process shares, started; without them the client has its own, and secrets
    ///   in files are read once.
    public init(_ configuration: BackendConfiguration, credentials: CredentialSource? = nil) throws {
        self.configuration = configuration
        let shown = try credentials ?? CredentialSource(configuration)
        ownCredentials = credentials == nil ? shown : nil
        try ownCredentials?.start()
        thread = try ClientThread(configuration, shown)
        try thread.start()
    }

    deinit {
        thread.close()
        ownCredentials?.close()
    }

    /// Sends a message to a user's devices on one push service.
    ///
    /// - Parameters:
    ///   - pushService: as the backend names it: `apns`, `gcm` or `wns`.
    ///   - user: becomes the tag; see ``NotificationRules``.
    ///   - idempotencyKey: the same for every attempt to send the same notification; `:`, the user, `:` and the push
    ///     service are added.
    /// - Returns: what became of the call, an error's status too; credentials that were refused are renewed first, once.
    /// - Throws: ``InvalidArgument``, ``BackendClientError``, `CancellationError`.
    public func send(
        _ pushService: String, to user: String, message: String, idempotencyKey: String
    ) async throws -> CallResult {
        try await send([pushService], to: user, message: message, idempotencyKey: idempotencyKey)[0].answer
    }

    /// Sends a message to a user's devices on several push services at once, none waiting for another.
    ///
    /// - Returns: what became of each call, in the order of the push services; a repeated one is sent once.
    /// - Throws: as the one for a single push service; nothing is sent when one argument is invalid.
    public func send(
        _ pushServices: [String], to user: String, message: String, idempotencyKey: String
    ) async throws -> [ServiceAnswer] {
        try await send(
            NotificationEvent(user: user, message: message, pushServices: pushServices), idempotencyKey: idempotencyKey)
    }

    /// Sends a notification with title, link, picture and the like to its push services at once, none waiting for another.
    ///
    /// What the backend's body or the push service has no place for is left out. The event's id, source, campaign and
    /// moments are not used.
    ///
    /// - Returns: what became of each call, in the order of the push services; a repeated one is sent once.
    /// - Throws: as the one for a single push service; nothing is sent when one argument is invalid.
    public func send(_ notification: NotificationEvent, idempotencyKey: String) async throws -> [ServiceAnswer] {
        var unique: [String] = []
        for pushService in notification.pushServices where !unique.contains(pushService) {
            try NotificationRules.check(
                pushService: pushService, user: notification.user, configuration.users, message: notification.message,
                idempotencyKey: idempotencyKey)
            unique.append(pushService)
        }
        var content = notification
        (content.id, content.source, content.campaign, content.time) = (nil, nil, nil, nil)
        (content.expiresAt, content.notBefore, content.pushServices) = (nil, nil, unique)
        var decoded = DecodedEvent()
        var value: [UInt8] = []
        if content != NotificationEvent(user: content.user, message: content.message, pushServices: unique) {
            let decoder = RecordDecoder(pushServices: try PushServices(names: unique), users: configuration.users)
            do throws(DecodingFailure) {
                value = try content.encoded(checkedWith: decoder, into: &decoded)
            } catch {
                throw InvalidArgument(error.detail)
            }
        }
        let event = DecodedEvent(
            id: idempotencyKey, user: content.user, message: content.message, contentOf: decoded)
        let texts = [("message", content.message)] + content.texts
        return try await withThrowingTaskGroup(of: (Int, ServiceAnswer).self) { [value] group in
            for (index, pushService) in unique.enumerated() {
                group.addTask { [thread] in
                    let answer = try await thread.call(.notification(pushService: pushService, event, value: value))
                        .result
                    let shown = texts.reduce(answer) { $0.hiding($1.1, as: "(the \($1.0))") }
                    return (index, ServiceAnswer(pushService: pushService, answer: shown))
                }
            }
            var answers: [(Int, ServiceAnswer)] = []
            for try await answer in group { answers.append(answer) }
            return answers.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Asks the backend to greet the caller's own devices on every push service.
    public func sendToSelf() async throws -> CallResult {
        try await request("POST", configuration.path, json: nil).result
    }

    /// Ends all calls (they throw ``BackendClientError/closed``), closes the connections, and waits for that.
    public func close() async {
        thread.close()
        ownCredentials?.close()
        await thread.ended()
    }

    func request(_ method: String, _ target: String, json: String?) async throws -> ClientThread.Reply {
        try await thread.call(.other(method: method, target: target, json: json))
    }
}

/// The outcome of the call to one push service.
public struct ServiceAnswer: Sendable, Hashable {
    /// The push service.
    public let pushService: String
    /// The outcome of its call.
    public let answer: CallResult

    /// The outcome of the call for one push service.
    public init(pushService: String, answer: CallResult) {
        self.pushService = pushService
        self.answer = answer
    }
}

/// The reason why a client's method has no answer to return.
public enum BackendClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client was closed before the answer came.
    case closed
    /// There is no access token to show the backend, which was not called.
    case noToken(TokenTrouble)
    /// The backend did not do what was asked; `request` says what, without handles or secrets.
    case refused(request: String, answer: CallResult)
    /// The backend's answer is not what its contract says.
    case unexpected(request: String, reason: String)

    package var isUnreachable: Bool { if case .refused(_, let answer) = self { answer.failure != nil } else { false } }

    /// One line for people.
    public var description: String {
        switch self {
        case .closed: "the backend's client is closed"
        case .noToken(let trouble): "there is no access token: \(trouble)"
        case .refused(let request, let answer):
            "\(request): "
                + ([answer.failure?.word ?? "the backend answered \(answer.status)"]
                + (answer.detail.map { [$0] } ?? []))
                .joined(separator: ": ")
        case .unexpected(let request, let reason): "\(request): \(reason)"
        }
    }
}

extension NotificationEvent {
    /// The texts beside the message by their fields' names.
    fileprivate var texts: [(String, String)] {
        [("title", title), ("link", link), ("image", image)].compactMap { name, text in text.map { (name, $0) } }
            + data.values.map { ("data", $0) }
    }
}
