import Foundation
import TestSupport
import Testing

@Suite("The backends of docs/examples/backend", .realTime)
struct BackendExampleTests {
    /// A language and the command before the port; the examples whose language is on this machine.
    private static func command(_ language: String) -> [String]? {
        let folder = Repository.root.appending(path: "docs/examples/backend")
        func path(_ name: String) -> String { folder.appending(path: name).path }
        switch language {
        case "Python": return ["python3", path("backend.py")]
        case "Node": return ["node", path("backend.mjs")]
        default: return RealKafka.home.map { ["java", "-cp", "\($0)/libs/*", path("Backend.java")] }
        }
    }

    private static func isThere(_ program: String, _ log: URL) -> Bool {
        (try? ChildProcess([program, "--version"], output: log))?.wait() == 0
    }

    @Test(
        "It takes a JSON string and an object, sends a key once, and refuses the rest", arguments: ["Python", "Node"])
    func example(language: String) async throws { try await expectContract(of: language) }

    @Test(
        "The one in Java takes a JSON string and an object, sends a key once, and refuses the rest",
        .long("a compiler and a virtual machine; those in Python and Node stay"))
    func java() async throws { try await expectContract(of: "Java") }

    private func expectContract(of language: String) async throws {
        let log = FileManager.default.temporaryDirectory.appending(path: "herald-backend-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let probe = log.appendingPathExtension("probe")
        defer { try? FileManager.default.removeItem(at: probe) }
        guard let command = Self.command(language), Self.isThere(command[0], probe) else {
            return SkippedSuites.note(absent: "docs/examples/backend in \(language)")
        }
        func lines() -> [Substring] {
            ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        let process = try await Blocking.run { try ChildProcess(command + ["0"], output: log) }
        defer { process.kill() }
        _ = try await eventually { !lines().isEmpty || !process.isRunning }
        let url = try #require(lines().first.map(String.init), "\(language) has not begun")
        let port = UInt16(try #require(URL(string: url)?.port, "\(lines())"))

        // The two kinds of body, as Herald sends them.
        for kind in ["text", "object"] {
            let run = try await HeraldProgram.run([
                "send", "--user", "a@b", "--pns", "apns,wns", "--message", "Hi \"\u{1F4E6}\" \(kind)", "--id", kind,
                "--backend-url", url, "--backend-auth-username", "herald", "--backend-auth-password", "secret",
                "--backend-body", kind,
            ])
            #expect(run.status == 0, "\(language): \(run.output) \(run.error)")
        }
        func post(_ body: String, key: String, pns: String = "gcm", password: String = "secret") throws -> Int {
            let credentials = Data("herald:\(password)".utf8).base64EncodedString()
            return try PlainHTTP.request(
                port: port, "POST", "/api/notifications?pns=\(pns)&to_tag=a%40b",
                headers: ["Authorization": "Basic \(credentials)", "Idempotency-Key": key], body: body
            ).status
        }
        let whole =
            #"{"message":"is here","title":"Your parcel","link":"shop://orders/17","image":"https://cdn.example/p.png","#
            + #""data":{"order":"17"},"badge":1,"sound":"default","category":"SHIPPED","later":[1]}"#
        #expect(try post(whole, key: "k") == 200)
        #expect(try post(whole, key: "k") == 200)
        #expect(try post("\"other\"", key: "x", pns: "pigeon") == 400)
        #expect(try post("\"other\"", key: "x", password: "wrong") == 401)
        for body in ["", "17", "[\"other\"]", "{\"title\":\"other\"}", "{\"message\":17}", "\"other", "null"] {
            #expect(try post(body, key: "x") == 400, "\(language) takes \(body)")
        }

        let sent = try lines().dropFirst().map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary
        }
        let texts = ["text", "object"].flatMap { kind in
            ["apns", "wns"].map { ["user": "a@b", "pns": $0, "message": "Hi \"\u{1F4E6}\" \(kind)"] as NSDictionary }
        }
        let content = try JSONSerialization.jsonObject(with: Data(whole.utf8)) as? [String: Any]
        let all = texts + [(content ?? [:]).merging(["user": "a@b", "pns": "gcm"]) { $1 } as NSDictionary]
        // Two calls of one event may come in either order.
        #expect(sent.count == all.count && all.allSatisfy { sent.contains($0) }, "\(language): \(lines())")
    }
}
