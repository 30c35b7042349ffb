import Foundation

/// A user of brokers with permissions; all but the first belong to ``RealKafka/secured()``.
public enum SecuredUser: String, Sendable {
    /// Clients of a listener without a login.
    case anonymous = "ANONYMOUS"
    /// With a password, and only the permissions granted by the doctor's test.
    case herald
    /// With a password, and only the permissions granted by the replays' test.
    case replayer
    /// With a password, and every permission.
    case owner
    /// With tokens, and every permission.
    case bearer

    /// The password; a token needs none.
    public var password: String { "\(rawValue)-canary" }
}

/// Listeners with TLS and logins, on a broker that allows only what ``RealKafka/allow(_:_:on:)`` permits: one for
/// passwords and tokens, one for client certificates.
struct SecureListener: Sendable {
    private let identity: ServerIdentity
    private let authorityFile: String

    /// Listeners that show this certificate and trust clients' certificates of this authority.
    init(identity: ServerIdentity, authorityFile: String) {
        self.identity = identity
        self.authorityFile = authorityFile
    }

    /// Adds them to a broker's settings.
    func add(ports: [Int], _ directory: URL, to settings: inout [String: String]) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let keyStore = directory.appending(path: "secure.pem")
        let texts = try [identity.keyFile, identity.certificateFile].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try texts.joined().write(to: keyStore, atomically: true, encoding: .utf8)
        settings["listeners", default: ""] += ",SECURE://127.0.0.1:\(ports[0]),CERTIFIED://127.0.0.1:\(ports[1])"
        settings["listener.security.protocol.map", default: ""] += ",SECURE:SASL_SSL,CERTIFIED:SSL"
        let modules = "org.apache.kafka.common.security"
        let passwords = [SecuredUser.herald, .replayer, .owner].map { "user_\($0.rawValue)=\"\($0.password)\"" }
            .joined(separator: " ")
        settings.merge(
            [
                "ssl.keystore.type": "PEM", "ssl.keystore.location": keyStore.path,
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS;User:owner;User:bearer;User:CN=client",
                "sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER",
                "listener.name.secure.plain.sasl.jaas.config":
                    "\(modules).plain.PlainLoginModule required \(passwords);",
                // Unsigned tokens; a connection ends with its token, after four seconds at the latest.
                "listener.name.secure.oauthbearer.sasl.jaas.config":
                    "\(modules).oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"broker\";",
                "listener.name.secure.oauthbearer.connections.max.reauth.ms": "4000",
                "listener.name.certified.ssl.client.auth": "required",
                "listener.name.certified.ssl.truststore.type": "PEM",
                "listener.name.certified.ssl.truststore.location": authorityFile,
            ]
        ) { $1 }
    }
}
