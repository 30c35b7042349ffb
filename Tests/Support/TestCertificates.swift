import Foundation
import HeraldThreads

/// Certificates for the tests, made by the `openssl` command when the first test asks, removed when the tests end.
public struct TestCertificates: Sendable {
    /// The authority that the tests trust.
    public let authorityFile: String
    /// The authority that signed ``ofUnknownAuthority``, which is not trusted.
    public let otherAuthorityFile: String
    /// A valid certificate for 127.0.0.1 and localhost.
    public let good: ServerIdentity
    /// For another host.
    public let wrongHost: ServerIdentity
    /// Valid until it was made: the current moment counts as past.
    public let expired: ServerIdentity
    /// By an untrusted authority.
    public let ofUnknownAuthority: ServerIdentity
    /// A client's certificate.
    public let client: ServerIdentity

    private static let made = Guarded<TestCertificates?>(nil)

    /// The certificates, the same for all tests of this run.
    public static func shared() throws -> TestCertificates {
        try made.withLock { made in
            if let made { return made }
            let fresh = try TestCertificates()
            made = fresh
            return fresh
        }
    }

    private init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("herald-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        AtExit.run { try? FileManager.default.removeItem(at: folder) }
        let maker = Maker(folder: folder)
        authorityFile = try maker.authority("authority")
        otherAuthorityFile = try maker.authority("other")
        let here = "subjectAltName=IP:127.0.0.1,DNS:localhost"
        good = try maker.identity("good", authority: "authority", extensions: here)
        wrongHost = try maker.identity("wrong", authority: "authority", extensions: "subjectAltName=DNS:example.org")
        expired = try maker.identity("expired", authority: "authority", extensions: here, days: 0)
        ofUnknownAuthority = try maker.identity("unknown", authority: "other", extensions: here)
        client = try maker.identity("client", authority: "authority", extensions: "extendedKeyUsage=clientAuth")
    }

    private struct Maker {
        let folder: URL

        func authority(_ name: String) throws -> String {
            try openssl(
                ["req", "-x509"] + newKey(name) + ["-days", "90", "-subj", "/CN=\(name)", "-out", path("\(name).pem")])
            return path("\(name).pem")
        }

        func identity(_ name: String, authority: String, extensions: String, days: Int = 90) throws -> ServerIdentity {
            try Data(extensions.utf8).write(to: folder.appendingPathComponent("\(name).ext"))
            try openssl(["req", "-new"] + newKey(name) + ["-subj", "/CN=\(name)", "-out", path("\(name).csr")])
            try openssl([
                "x509", "-req", "-in", path("\(name).csr"), "-CA", path("\(authority).pem"), "-CAkey",
                path("\(authority).key"), "-days", "\(days)", "-extfile", path("\(name).ext"), "-out",
                path("\(name).pem"),
            ])
            return ServerIdentity(certificateFile: path("\(name).pem"), keyFile: path("\(name).key"))
        }

        private func newKey(_ name: String) -> [String] {
            ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path("\(name).key")]
        }

        private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

        private func openssl(_ arguments: [String]) throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["openssl"] + arguments
            process.standardOutput = FileHandle.nullDevice
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw Failure(description: "openssl: \(text)") }
        }

        struct Failure: Error, CustomStringConvertible { let description: String }
    }
}
