import Foundation
import HeraldHTTP
import TestSupport
import Testing

@Suite("The files for TLS")
struct TLSFilesTests {
    private static func withFile<Value>(_ text: String, _ body: (String) throws -> Value) throws -> Value {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path)
    }

    @Test("Valid files, and no files, have no mistakes")
    func good() throws {
        let certificates = try TestCertificates.shared()
        #expect(TLSFiles().mistakes().isEmpty)
        let files = TLSFiles(
            caFile: certificates.authorityFile, certificateFile: certificates.client.certificateFile,
            keyFile: certificates.client.keyFile)
        #expect(files.mistakes().isEmpty)
    }

    @Test("All files without PEM are named at once")
    func noPEM() throws {
        try Self.withFile("-----BEGIN CERTIFICATE-----\n") { path in
            let mistakes = TLSFiles(caFile: path, certificateFile: path, keyFile: path).mistakes()
            #expect(mistakes.map(\.part) == [.authorities, .certificate, .key])
        }
    }

    @Test("A key of another certificate is distinguished from a file without a key")
    func otherKey() throws {
        let certificates = try TestCertificates.shared()
        let (client, other) = (certificates.client, certificates.good)
        let mixed = TLSFiles(certificateFile: client.certificateFile, keyFile: other.keyFile).mistakes()
        #expect(mixed.map(\.part) == [.key])
        #expect(mixed.first?.message.hasPrefix("holds the key of another certificate") == true)
        let wrong = TLSFiles(certificateFile: client.certificateFile, keyFile: client.certificateFile).mistakes()
        #expect(wrong.first?.message.hasPrefix("holds no private key in PEM") == true)
    }

    @Test("A key with a password is refused without a prompt")
    func encryptedKey() throws {
        let client = try TestCertificates.shared().client
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let words = ["openssl", "pkey", "-in", client.keyFile, "-aes256", "-passout", "pass:secret", "-out", path]
        let log = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: log) }
        try #require(try ChildProcess(words, output: log).wait() == 0)
        let mistakes = TLSFiles(certificateFile: client.certificateFile, keyFile: path).mistakes()
        #expect(mistakes.map(\.part) == [.key])
        #expect(mistakes.first?.message.contains("without a password") == true)
    }
}
