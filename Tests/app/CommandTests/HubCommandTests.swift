import Foundation
import TestSupport
import Testing

@testable import herald

@Suite("herald hub, as a process", .realTime)
struct HubCommandTests {
    private func herald(_ words: String...) async throws -> HeraldProgram.Run { try await HeraldProgram.run(words) }

    @Test("It writes its files and one line, serves over TLS, and ends with 0 on SIGTERM")
    func serves() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "herald-hub-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (authority, secret) = (folder.appending(path: "hub.pem"), folder.appending(path: "hub.secret"))
        let process = try RunningHerald([
            "hub", "--listen", "127.0.0.1:0", "--hub", "MyHub", "--authority-file", authority.path,
            "--connection-string-file", secret.path, "-o", "json",
        ])
        let ready = try #require(try await process.object() as? [String: String])
        #expect(ready["hub"] == "MyHub")
        #expect(ready["authorityFile"] == authority.path)
        #expect(try String(contentsOf: secret, encoding: .utf8) == (ready["connectionString"] ?? "") + "\n")
        #expect(ready["listenConnectionString"]?.contains("DefaultListenSharedAccessSignature") == true)
        let mode = try FileManager.default.attributesOfItem(atPath: secret.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let curl = try ChildProcess(
            ["curl", "--silent", "--cacert", authority.path, "\(ready["url"] ?? "")/MyHub/registrations"],
            output: folder.appending(path: "answer"))
        #expect(try await Blocking.run { curl.wait() } == 0)
        let answer = try String(contentsOf: folder.appending(path: "answer"), encoding: .utf8)
        #expect(answer.hasPrefix("<Error><Code>401</Code><Detail>MissingToken: "))
        process.signal(SIGTERM)
        #expect(try await process.end().status == 0)
    }

    @Test(
        "Invalid options are refused with the faulty part",
        arguments: [
            (["--listen", "somewhere"], "--listen"), (["--tier", "gold"], "--tier"),
            (["--sends-per-minute", "0"], "--sends-per-minute"), (["--throttle", "500"], "--throttle"),
            (["--outcome", "outcome=Lost"], "outcome must be one of Success"),
            (["--outcome", "outcome=BadChannel,share=2"], "share is not a number from 0 to 1"),
            (["--outcome", "outcome=BadChannel,platform=palm"], "platform must be one of apns"),
            (["--misbehave", "user=ann"], "nothing happens"),
        ])
    func mistakes(words: [String], part: String) {
        let message = CommandTable.mistake(in: ["hub"] + words)
        #expect(message?.contains(part) == true, "\(message ?? "")")
    }

    @Test("An invalid hub name, and a file that cannot be written, end it with a sentence")
    func refused() async throws {
        let named = try await herald("hub", "--listen", "127.0.0.1:0", "--hub", "a b")
        #expect(named.status == 1)
        #expect(named.error.contains("the hub's name must be"), "\(named.error)")
        let file = try await herald("hub", "--listen", "127.0.0.1:0", "--authority-file", "/nowhere/hub.pem")
        #expect(file.status == 1)
        #expect(file.error.contains("/nowhere/hub.pem"), "\(file.error)")
    }
}
