import FoundationEssentials
import Glibc
package import HeraldHTTP
import HeraldHub
import HeraldText
import HeraldThreads
package import HeraldTime

/// An Azure notification hub for demonstrations and tests: the same REST interface over TLS, with everything in memory.
///
/// docs/HUB-EMULATOR.md lists its functions and its differences from the service.
package final class HubEmulator: Sendable {
    package static let notice =
        "This is an emulator of an Azure notification hub, for demonstrations and tests. It is not for production: "
        + "no device gets anything, and everything is kept in memory only."

    /// Its address, its limits and its initial misbehaviour.
    package struct Configuration: Sendable {
        /// The address to listen on, by default a free loopback port; always with TLS.
        package var server = HTTPServer.Configuration()
        package var hub = "herald"
        package var tier = HubTier.standard
        /// The file for the authority that clients must trust; without it, a temporary file that ``stop()`` deletes.
        package var authorityPath: String?
        package var sendLimit = 100_000
        /// The file to which each send is appended as a line of JSON.
        package var callLogPath: String?
        package var inboxLimit = 1_000
        /// Sends per minute; `nil` is unlimited.
        package var sendsPerMinute: Int?
        /// The status of a send beyond that limit.
        package var throttleStatus = 429
        /// Pushes until the hub refuses more; `nil` is the tier's monthly quota.
        package var pushQuota: Int?
        /// The maximum number of registrations; `nil` is the tier's.
        package var registrationLimit: Int?
        /// The time during which the hub does not know a message it accepted.
        package var unknownTime: Milliseconds = .zero
        /// The time during which a message's state is not final.
        package var processingTime: Milliseconds = .zero
        package var misbehaviour: [Misbehaviour] = []
        /// The push services' answers for some devices; all others receive their notifications.
        package var outcomes: [HubOutcomeRule] = []
        package var guesses = HubGuesses()

        package init() {}
    }

    /// The file of the authority that clients must trust (PEM).
    package let caFile: String
    package let hub: String
    /// The rule with all rights, with the hub's initial key.
    package let connectionString: String
    /// The rule that may only register devices.
    package let listenConnectionString: String

    private let server: HTTPServer
    private let service: HubService
    private let authority: String
    private let ownsFile: Bool

    /// Starts the hub; it serves when this returns.
    package init(_ configuration: Configuration = Configuration()) throws {
        try HubClient.check(hub: configuration.hub)
        guard !configuration.hub.contains("/"), configuration.hub.lowercased() != "sandbox" else {
            throw InvalidArgument("the emulated hub's name must not contain / and not be sandbox")
        }
        let identity = try LocalIdentity()
        ownsFile = configuration.authorityPath == nil
        caFile =
            configuration.authorityPath
            ?? FileManager.default.temporaryDirectory.appending(path: "herald-hub-\(UUID().uuidString).pem").path
        let rules = [Self.fullRule, "DefaultListenSharedAccessSignature"].map { name in
            HubAccess.Rule(
                name: name, key: Secret(Self.newKey()),
                rights: name == Self.fullRule ? [.listen, .send, .manage] : [.listen])
        }
        let service = HubService(
            hub: configuration.hub,
            access: HubAccess(rules: rules, clockSkewSeconds: configuration.guesses.clockSkewSeconds),
            state: HubState(configuration, seed: .random(in: 0...(.max))),
            callLog: try configuration.callLogPath.map { try CallLogFile(path: $0) })
        var serving = configuration.server
        serving.identity = identity
        serving.bodyLimitBytes = 1 << 20
        server = try HTTPServer(serving) { service.answer(to: $0) }
        self.service = service
        hub = configuration.hub
        let host = ["0.0.0.0", "::"].contains(serving.host) ? "localhost" : serving.host
        let authority = host.contains(":") ? "[\(host)]:\(server.port)" : "\(host):\(server.port)"
        self.authority = authority
        let strings = rules.map { Self.connectionString(authority, rule: $0.name, key: $0.key.reveal()) }
        (connectionString, listenConnectionString) = (strings[0], strings[1])
        // Last, so that a failure of the rest leaves nothing behind.
        try identity.writeAuthority(to: caFile)
    }

    deinit { stop() }

    package var port: UInt16 { server.port }

    /// Its address without a path.
    package var url: String { "https://\(authority)" }

    /// The newest sends, in order of arrival, refused ones included.
    package var sends: [HubSend] {
        service.state.withLock { state in
            state.sendDue(SystemClock.wall().milliseconds)
            return state.sends.elements
        }
    }

    /// The payloads that the device received, oldest first.
    package func payloads(ofHandle handle: String) -> [String] {
        service.state.withLock { state in
            state.sendDue(SystemClock.wall().milliseconds)
            return state.deliveries(ofHandle: handle).map { String(decoding: $0.body, as: UTF8.self) }
        }
    }

    /// Creates an installation of a user's device without a call.
    package func register(_ handle: String, platform: String, user: String) throws {
        let installation = try HubInstallation(
            id: "\(user)-\(platform)",
            [
                "platform": .string(platform), "pushChannel": .string(handle), "tags": [.string("username:\(user)")],
            ])
        let context = HubState.Context(
            hubURL: url, feedbackURL: "", time: SystemClock.wall().milliseconds, now: SystemClock.monotonic())
        _ = service.state.withLock { $0.put(installation, context) }
    }

    /// Replaces the rules of misbehaviour; their counters start from 0, and answers held by the old ones are sent.
    package func misbehave(_ rules: [Misbehaviour]) {
        service.state.withLock { $0.rules.replace(with: rules) }
    }

    package var heldCount: Int { service.state.withLock { $0.rules.held }.count }

    /// Sends this many held answers, oldest first; the rule stays in force.
    package func release(_ count: Int) {
        service.state.withLock { $0.rules.held }.release(count)
    }

    /// Gives the rule with all rights another key, as the portal's "regenerate" does; the key in ``connectionString``
    /// is refused from then on.
    ///
    /// - Returns: the connection string with the new key.
    package func regenerateKey() -> String {
        let key = Self.newKey()
        service.replaceKey(ofRule: Self.fullRule, with: Secret(key))
        return Self.connectionString(authority, rule: Self.fullRule, key: key)
    }

    /// Closes every connection and stops; a second call does nothing.
    package func stop() {
        server.stop()
        if ownsFile { unlink(caFile) }
    }

    private static let fullRule = "DefaultFullSharedAccessSignature"

    private static func connectionString(_ authority: String, rule: String, key: String) -> String {
        "Endpoint=sb://\(authority)/;SharedAccessKeyName=\(rule);SharedAccessKey=\(key)"
    }

    /// 32 random bytes in Base64, the service's form of keys.
    private static func newKey() -> String {
        Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
    }
}

/// Unverified behaviour of the service, with the most likely value as default.
package struct HubGuesses: Sendable {
    /// The time after its expiry for which a token is accepted.
    package var clockSkewSeconds: Int64 = 0
    package var tagsIgnoreCase = false
    /// Whether a payload too large for its push service is refused at once, instead of in telemetry.
    package var refusesLargePayloads = false
    /// Whether sends in the format `gcm`, whose push service has ended, are refused.
    package var refusesGCM = false
    /// Whether telemetry counts a send without devices as one `NoTargets`.
    package var countsNoTargets = false
    /// The name of a cancelled message's state: `Canceled` in documents, `Cancelled` in the .NET SDK.
    package var cancelledState = "Canceled"
    /// The time before a new installation can be read, because writes are queued.
    package var installationDelay: Milliseconds = .zero
    /// Whether answers about one registration have the `ETag` header, as on older servers.
    package var hasETagHeader = true

    package init() {}
}
