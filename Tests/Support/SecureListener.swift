import Foundation

/// A listener with TLS and SASL/PLAIN, on a broker that allows nothing that was not allowed by ``RealKafka/allow(_:)``.
public struct SecureListener: Sendable {
    private let identity: ServerIdentity
    private let users: [String: String]

    /// A listener that shows this certificate and lets these users in, by name and password.
    public init(identity: ServerIdentity, users: [String: String]) {
        self.identity = identity
        self.users = users
    }

    /// Adds it to a broker's settings.
    func add(port: Int, _ directory: URL, to settings: inout [String: String]) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let keyStore = directory.appending(path: "secure.pem")
        let texts = try [identity.keyFile, identity.certificateFile].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try texts.joined().write(to: keyStore, atomically: true, encoding: .utf8)
        let known = users.map { "user_\($0)=\"\($1)\"" }.joined(separator: " ")
        settings["listeners", default: ""] += ",SECURE://127.0.0.1:\(port)"
        settings["listener.security.protocol.map", default: ""] += ",SECURE:SASL_SSL"
        settings.merge(
            [
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.secure.plain.sasl.jaas.config":
                    "org.apache.kafka.common.security.plain.PlainLoginModule required \(known);",
                "ssl.keystore.type": "PEM", "ssl.keystore.location": keyStore.path,
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
            ]
        ) { $1 }
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
