import Foundation

/// A listener with TLS and a login, on a broker that allows nothing that was not allowed by ``RealKafka/allow(_:)``.
public struct SecureListener: Sendable {
    /// How clients show who they are.
    public enum Login: Sendable {
        /// SASL/PLAIN, by name and password.
        case passwords([String: String])
        /// SASL/OAUTHBEARER with tokens that nobody signed; a connection ends with its token, and at the latest after so long.
        case tokens(longestSessionMilliseconds: Int)
        /// Certificates of this authority.
        case certificates(authorityFile: String)
    }

    private let identity: ServerIdentity
    private let login: Login

    /// A listener that shows this certificate.
    public init(identity: ServerIdentity, _ login: Login) {
        self.identity = identity
        self.login = login
    }

    /// A listener that shows this certificate and lets these users in, by name and password.
    public init(identity: ServerIdentity, users: [String: String]) {
        self.init(identity: identity, .passwords(users))
    }

    /// Adds it to a broker's settings.
    func add(port: Int, _ directory: URL, to settings: inout [String: String]) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let keyStore = directory.appending(path: "secure.pem")
        let texts = try [identity.keyFile, identity.certificateFile].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try texts.joined().write(to: keyStore, atomically: true, encoding: .utf8)
        settings["listeners", default: ""] += ",SECURE://127.0.0.1:\(port)"
        let security = if case .certificates = login { "SSL" } else { "SASL_SSL" }
        settings["listener.security.protocol.map", default: ""] += ",SECURE:\(security)"
        settings.merge(
            [
                "ssl.keystore.type": "PEM", "ssl.keystore.location": keyStore.path,
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
            ]
        ) { $1 }
        settings.merge(loginSettings) { $1 }
    }

    private var loginSettings: [String: String] {
        let modules = "org.apache.kafka.common.security"
        switch login {
        case .passwords(let users):
            let known = users.map { "user_\($0)=\"\($1)\"" }.joined(separator: " ")
            return [
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.secure.plain.sasl.jaas.config":
                    "\(modules).plain.PlainLoginModule required \(known);",
            ]
        case .tokens(let longestSessionMilliseconds):
            return [
                "sasl.enabled.mechanisms": "OAUTHBEARER",
                "listener.name.secure.oauthbearer.sasl.jaas.config":
                    "\(modules).oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"broker\";",
                "listener.name.secure.oauthbearer.connections.max.reauth.ms": "\(longestSessionMilliseconds)",
            ]
        case .certificates(let authorityFile):
            return [
                "listener.name.secure.ssl.client.auth": "required",
                "listener.name.secure.ssl.truststore.type": "PEM",
                "listener.name.secure.ssl.truststore.location": authorityFile,
            ]
        }
    }
}

extension RealKafka {
    /// Changes permissions with Kafka's own tool, whose arguments these are (`--add`, `--allow-principal` …).
    public func allow(_ arguments: [String]) async throws {
        let servers = bootstrapServers
        try await Blocking.run {
            guard let home = ProcessInfo.processInfo.environment["KAFKA_HOME"] else {
                throw ChildProcess.Failure(description: "KAFKA_HOME is not set")
            }
            let log = FileManager.default.temporaryDirectory.appending(path: "herald-acl-\(UUID().uuidString).log")
            defer { try? FileManager.default.removeItem(at: log) }
            let tool = try ChildProcess(
                [
                    "java", "-XX:TieredStopAtLevel=1", "-cp", "\(home)/libs/*", "org.apache.kafka.tools.AclCommand",
                    "--bootstrap-server", servers,
                ] + arguments, output: log)
            guard tool.wait() == 0 else {
                throw ChildProcess.Failure(
                    description: "AclCommand failed: \((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
            }
        }
    }
}
