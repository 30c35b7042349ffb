internal import CRDKafka
internal import Glibc
public import HeraldText
internal import HeraldThreads

/// A process's login to its brokers: shared by all of its clients, which take over a new password or token while they
/// run.
///
/// Give it to clients with ``ClientProperties``, whose values name the mechanism (`sasl.mechanism`). An open connection
/// keeps its credential; the next one uses the new one. The methods may be called from any thread.
public final class BrokerLogin: Sendable {
    /// The credential shown to brokers.
    public enum Credential: Sendable, Equatable {
        /// For PLAIN and SCRAM.
        case password(username: String, Secret)
        /// For OAUTHBEARER.
        case token(LoginToken)
        /// Not available yet: the clients wait.
        case pending
        /// Unavailable, with the reason in one line: the clients wait and report it.
        case unavailable(String)
    }

    private struct State {
        var credential: Credential
        /// The live clients, as addresses, and the buffer for each one's notices.
        var clients: [(address: UInt, notices: NoticeBuffer)] = []
    }

    /// Whether clients show tokens, which librdkafka requests repeatedly, instead of a password.
    let usesTokens: Bool
    private let state: Guarded<State>

    /// The object that keeps the credential up to date; it lives as long as the login.
    private let keeper: (any AnyObject & Sendable)?

    /// A login.
    ///
    /// - Parameters:
    ///   - usesTokens: Whether the mechanism is OAUTHBEARER.
    ///   - credential: The initial credential.
    ///   - keeper: The object that calls ``update(_:)``; it is released together with the login.
    public init(usesTokens: Bool, _ credential: Credential, keptBy keeper: (any AnyObject & Sendable)? = nil) {
        self.usesTokens = usesTokens
        state = Guarded(State(credential: credential))
        self.keeper = keeper
    }

    /// The user of a login by password.
    public var username: String? {
        state.withLock { state in if case .password(let username, _) = state.credential { username } else { nil } }
    }

    /// Replaces the credential of all clients from now on.
    public func update(_ credential: Credential) {
        state.withLock { state in
            state.credential = credential
            for client in state.clients { Self.give(credential, to: client.address, usesTokens) }
        }
    }

    /// Adds a notice to one of the clients, like one of its own log lines.
    ///
    /// - Parameter isTrouble: Whether an operator should look at it.
    public func report(_ sentence: String, isTrouble: Bool) {
        let notices = state.withLock { $0.clients.first?.notices }
        notices?.add(ClientNotice(level: isTrouble ? 4 : 6, text: sentence, error: nil))
    }

    // MARK: Clients

    func configure(_ configuration: ClientConfiguration) throws(KafkaError) {
        guard !usesTokens else {
            // librdkafka's background thread requests tokens, so the client can log in before it is polled.
            rd_kafka_conf_enable_sasl_queue(configuration.pointer, 1)
            rd_kafka_conf_set_oauthbearer_token_refresh_cb(configuration.pointer) { client, _, opaque in
                guard let client, let callbacks = ClientHandle.callbacks(opaque) else { return }
                callbacks.properties.login?.refresh(client)
            }
            return
        }
        switch state.withLock({ $0.credential }) {
        case .password(let username, let password):
            for (name, value) in [("sasl.username", username), ("sasl.password", password.reveal())] {
                if let error = configuration.set(name, value) { throw error }
            }
        case .unavailable(let reason): throw KafkaError(code: KafkaError.Code.authentication, message: reason)
        case .token, .pending: return
        }
    }

    /// Passes new credentials to the client from now on.
    func add(_ client: OpaquePointer, _ notices: NoticeBuffer) throws(KafkaError) {
        if usesTokens { try KafkaError.check(consuming: rd_kafka_sasl_background_callbacks_enable(client)) }
        let address = UInt(bitPattern: client)
        state.withLock { state in
            state.clients.append((address, notices))
            // The credential may have changed since the configuration was made.
            Self.give(state.credential, to: address, usesTokens)
        }
    }

    /// Ends that; call it before the client is destroyed.
    func remove(_ client: OpaquePointer) {
        let address = UInt(bitPattern: client)
        state.withLock { state in state.clients.removeAll { $0.address == address } }
    }

    /// Answers librdkafka's request for a new token: near the former one's end, and ten seconds after a failure.
    private func refresh(_ client: OpaquePointer) {
        let address = UInt(bitPattern: client)
        state.withLock { state in Self.give(state.credential, to: address, usesTokens) }
    }

    private static func give(_ credential: Credential, to address: UInt, _ usesTokens: Bool) {
        guard let client = OpaquePointer(bitPattern: address) else { return }
        switch credential {
        case .password(let username, let password):
            let error = rd_kafka_sasl_set_credentials(client, username, password.reveal())
            if let error { rd_kafka_error_destroy(error) }
        case .token(let token):
            if let mistake = token.give(to: client) { rd_kafka_oauthbearer_set_token_failure(client, mistake) }
        case .unavailable(let reason):
            if usesTokens { rd_kafka_oauthbearer_set_token_failure(client, reason) }
        case .pending: return
        }
    }
}

/// A token for OAUTHBEARER (RFC 7628), as its issuer made it.
public struct LoginToken: Sendable, Equatable {
    /// The token itself.
    public let value: Secret
    /// Its end, in milliseconds since the Unix epoch.
    public let endsAtMilliseconds: Int64
    /// The user that it was issued for; brokers rely on the token itself.
    public let principal: String
    /// The extensions sent with it (KIP-342), such as `logicalCluster`.
    public let extensions: [String: String]

    /// A token.
    public init(value: Secret, endsAtMilliseconds: Int64, principal: String, extensions: [String: String] = [:]) {
        self.value = value
        self.endsAtMilliseconds = endsAtMilliseconds
        self.principal = principal
        self.extensions = extensions
    }

    fileprivate func give(to client: OpaquePointer) -> String? {
        var text = [CChar](repeating: 0, count: ClientHandle.errorTextCapacity)
        // Keys and values alternate.
        let copies = extensions.sorted { $0.key < $1.key }.flatMap { [strdup($0.key), strdup($0.value)] }
        defer { for copy in copies { free(copy) } }
        var pairs = copies.map { UnsafePointer<CChar>($0) }
        let code = rd_kafka_oauthbearer_set_token(
            client, value.reveal(), endsAtMilliseconds, principal, &pairs, pairs.count, &text, text.count)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : ClientHandle.string(text)
    }
}
