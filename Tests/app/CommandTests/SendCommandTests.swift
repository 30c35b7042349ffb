import Foundation
import HeraldThreads
import TestSupport
import Testing

@Suite("herald send and register with an access token", .realTime)
struct SendCommandTests {
    private func environment(backend: String, tokenURL: String) -> [String: String] {
        [
            "HERALD_BACKEND_URL": backend, "HERALD_BACKEND_AUTH_KIND": "oauth2",
            "HERALD_BACKEND_AUTH_TOKEN_URL": tokenURL, "HERALD_BACKEND_AUTH_CLIENT_ID": "herald",
            "HERALD_BACKEND_AUTH_CLIENT_SECRET": "canary", "HERALD_BACKEND_AUTH_CLIENT_AUTHENTICATION": "basic",
            "HOME": FileManager.default.temporaryDirectory.path,
        ]
    }

    /// A server that gives one answer to all requests and remembers them.
    private func server(
        _ seen: Guarded<[String]>, _ status: Int, _ body: String
    ) throws -> ScriptedServer {
        try ScriptedServer { peer in
            while true {
                let request = try peer.readRequest()
                seen.withLock { $0.append(request) }
                try peer.write("HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
    }

    @Test("One token serves all calls of a command, with the client's id and secret in the header")
    func oneToken() async throws {
        let (asked, called) = (Guarded<[String]>([]), Guarded<[String]>([]))
        let endpoint = try server(asked, 200, #"{"access_token":"t-0","token_type":"Bearer","expires_in":60}"#)
        defer { endpoint.stop() }
        let backend = try server(called, 200, #""registration-7""#)
        defer { backend.stop() }
        let environment = environment(backend: backend.origin, tokenURL: endpoint.origin)
        let sent = try await HeraldProgram.run(
            ["send", "--user", "bob", "--pns", "apns,gcm,wns", "--message", "Hi"], environment: environment)
        #expect(sent.status == 0, "\(sent.error)")
        #expect(asked.withLock { $0.count } == 1)
        // herald:canary
        #expect(asked.withLock { $0[0] }.contains("\r\nAuthorization: Basic aGVyYWxkOmNhbmFyeQ==\r\n"))
        let store = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: store) }
        let registered = try await HeraldProgram.run(
            ["register", "--handle", "0A", "--platform", "apns", "--store", store.path], environment: environment)
        #expect(registered.status == 0 && registered.output.contains("registration-7"), "\(registered.error)")
        let calls = called.withLock { $0 }
        #expect(calls.count == 5 && calls.allSatisfy { $0.contains("\r\nAuthorization: Bearer t-0\r\n") })
        #expect(!"\(sent) \(registered)".contains("canary"))
    }

    @Test("send has publish's options beside the message, and warns of what does not arrive")
    func content() async throws {
        let (asked, called) = (Guarded<[String]>([]), Guarded<[String]>([]))
        let endpoint = try server(asked, 200, #"{"access_token":"t-0","token_type":"Bearer","expires_in":60}"#)
        defer { endpoint.stop() }
        let backend = try server(called, 200, "")
        defer { backend.stop() }
        var environment = environment(backend: backend.origin, tokenURL: endpoint.origin)
        let words = [
            "send", "--user", "bob", "--pns", "apns", "--message", "is here", "--title", "Your parcel", "--data", "a=b",
        ]
        let plain = try await HeraldProgram.run(words, environment: environment)
        #expect(plain.status == 0, "\(plain.error)")
        #expect(plain.error.contains("warning: title, data do not reach apns: backend.body is text"), "\(plain.error)")
        environment["HERALD_BACKEND_BODY"] = "object"
        let whole = try await HeraldProgram.run(words, environment: environment)
        #expect(whole.status == 0 && !whole.error.contains("warning"), "\(whole.error)")
        let call = try #require(called.withLock { $0.last })
        #expect(call.contains(#""title":"Your parcel""#) && call.contains(#"{"a":"b"}"#), "\(call)")
        let mistake = try await HeraldProgram.run(words + ["--link", "no url"], environment: environment)
        #expect(mistake.status == 2 && mistake.error.contains("link"), "\(mistake.error)")
        let greeting = try await HeraldProgram.run(["send", "--self", "--title", "x"], environment: environment)
        #expect(greeting.status == 2 && greeting.error.contains("--self goes without --title"), "\(greeting.error)")
    }

    @Test("Without a token nothing is called: exit 1 when the endpoint refuses, 5 when it cannot be reached")
    func noToken() async throws {
        let (asked, called) = (Guarded<[String]>([]), Guarded<[String]>([]))
        let endpoint = try server(asked, 401, #"{"error":"invalid_client","error_description":"canary"}"#)
        defer { endpoint.stop() }
        let backend = try server(called, 200, "")
        defer { backend.stop() }
        let refused = try await HeraldProgram.run(
            ["send", "--self"], environment: environment(backend: backend.origin, tokenURL: endpoint.origin))
        #expect(refused.status == 1 && refused.error.contains("invalid_client: ***"), "\(refused.error)")
        #expect(refused.error.contains("check backend.auth.clientID"))
        let nowhere = "http://127.0.0.1:\(try LoopbackSocket.unusedPort())/token"
        for command in [["send", "--self"], ["register", "--handle", "0A", "--platform", "apns"]] {
            let run = try await HeraldProgram.run(
                command, environment: environment(backend: backend.origin, tokenURL: nowhere))
            #expect(run.status == 5 && run.error.contains("can't be reached"), "\(run.error)")
        }
        #expect(called.withLock { $0.isEmpty } && asked.withLock { $0.count } == 1)
    }
}
