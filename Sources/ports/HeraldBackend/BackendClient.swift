public import HeraldEvents
internal import HeraldHTTP

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
        try NotificationRules.check(
            pushService: pushService, user: user, configuration.users, message: message,
            idempotencyKey: idempotencyKey)
        return try await thread.call(
            .notification(pushService: pushService, user: user, message: message, idempotencyKey: idempotencyKey)
        ).result.hiding(message, as: "(the message)")
    }

    /// Sends a message to a user's devices on several push services at once, none waiting for another.
    ///
    /// - Returns: what became of each call, in the order of the push services; a repeated one is sent once.
    /// - Throws: as the one for a single push service; nothing is sent when one argument is invalid.
    public func send(
        _ pushServices: [String], to user: String, message: String, idempotencyKey: String
    ) async throws -> [ServiceAnswer] {
        var unique: [String] = []
        for pushService in pushServices where !unique.contains(pushService) {
            try NotificationRules.check(
                pushService: pushService, user: user, configuration.users, message: message,
                idempotencyKey: idempotencyKey)
            unique.append(pushService)
        }
        return try await withThrowingTaskGroup(of: (Int, ServiceAnswer).self) { group in
            for (index, pushService) in unique.enumerated() {
                group.addTask {
                    let answer = try await self.send(
                        pushService, to: user, message: message, idempotencyKey: idempotencyKey)
                    return (index, ServiceAnswer(pushService: pushService, answer: answer))
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
