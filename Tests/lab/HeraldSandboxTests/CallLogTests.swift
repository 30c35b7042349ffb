import Foundation
import HeraldHTTP
import HeraldSandbox
import HeraldText
import TestSupport
import Testing

@Suite("The reference backend's record of calls")
struct CallLogTests {
    private struct Line: Decodable {
        var number: Int
        var receivedAt: Int64
        var key: String?
        var pns: String?
        var user: String?
        var message: String?
        var caller: String?
        var status: Int?
    }

    @Test("has every notification call with its key, service, user, caller and status, in order")
    func calls() throws {
        let (backend, client) = try SandboxClient.start()
        _ = try client.notify("gcm", "bob", key: "topic/0/1:gcm")
        _ = try client.notify("fcm", "bob%40x.y")
        _ = try client.call("POST", "/api/notifications?pns=gcm&to_tag=a", body: "{")
        _ = try PlainHTTP.request(port: backend.port, "POST", "/api/notifications?pns=wns&to_tag=z")
        _ = try client.inbox("h")
        let calls = backend.calls
        #expect(calls.map(\.number) == [1, 2, 3, 4])
        #expect(calls.map(\.status) == [200, 500, 400, 403])
        #expect(calls.map(\.pns) == ["gcm", "fcm", "gcm", "wns"])
        #expect(calls.map(\.user) == ["bob", "bob@x.y", "a", "z"])
        #expect(calls.map(\.idempotencyKey) == ["topic/0/1:gcm", nil, nil, nil])
        #expect(calls.map(\.caller) == ["ann", "ann", "ann", nil])
        #expect(zip(calls, calls.dropFirst()).allSatisfy { $0.receivedAt <= $1.receivedAt })
    }

    @Test("has the text for the user, even of a call that a rule fails")
    func messages() throws {
        let (backend, client) = try SandboxClient.start {
            $0.misbehaviour = [.status(503) { $0.user = "carl" }]
        }
        _ = try client.notify("gcm", "bob", "Dein Päckchen \"17\" ist da")
        _ = try client.notify("apns", "carl", "later")
        _ = try client.call("POST", "/api/notifications?pns=gcm&to_tag=a", body: "{")
        #expect(backend.calls.map(\.message) == ["Dein Päckchen \"17\" ist da", "later", nil])
        let lines = try client.call("GET", "/sandbox/calls").body.split(separator: 10)
        let texts = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0)).message }
        #expect(texts == backend.calls.map(\.message))
    }

    @Test("keeps the newest calls and counts those it dropped")
    func bounded() throws {
        let (backend, client) = try SandboxClient.start { $0.callLimit = 2 }
        for user in ["a", "b", "c"] { _ = try client.notify("gcm", user) }
        #expect(backend.calls.map(\.user) == ["b", "c"])
        #expect(backend.droppedCallCount == 1)
    }

    @Test("is written to a file and served as lines of JSON")
    func lines() throws {
        let path = NSTemporaryDirectory() + "herald-calls-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (backend, client) = try SandboxClient.start { $0.callLogPath = path }
        for key in ["a\"b:gcm", "c:gcm"] { _ = try client.notify("gcm", "bob", key: key) }
        let served = try client.call("GET", "/sandbox/calls").body
        for text in [try Data(contentsOf: URL(fileURLWithPath: path)), Data(served)] {
            let lines = try text.split(separator: 10).map { try JSONDecoder().decode(Line.self, from: $0) }
            #expect(lines.map(\.key) == ["a\"b:gcm", "c:gcm"])
            #expect(lines.map(\.number) == [1, 2])
            #expect(lines.allSatisfy { $0.pns == "gcm" && $0.user == "bob" && $0.caller == "ann" && $0.status == 200 })
            #expect(lines.allSatisfy { abs(Date().timeIntervalSince1970 * 1_000 - Double($0.receivedAt)) < 60_000 })
        }
        #expect(try client.call("DELETE", "/sandbox/calls").status == 200)
        #expect(try client.call("GET", "/sandbox/calls").text == "")
        backend.stop()
    }

    @Test("explains why its file cannot be written")
    func badFile() {
        var configuration = ReferenceBackend.Configuration()
        configuration.callLogPath = "/nowhere/at/all"
        let error = #expect(throws: InputError.self) { try ReferenceBackend(configuration) }
        #expect(error?.description.contains("/nowhere/at/all") == true)
    }

    @Test("loses no call of many concurrent clients, and each device gets each message once")
    func concurrency() async throws {
        let (backend, client) = try SandboxClient.start { $0.server.threads = 2 }
        let clients = 8
        let callsEach = 100
        for number in 0..<clients { try client.with(user: "user\(number)").register("gcm", "device\(number)") }
        let port = backend.port
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<clients {
                group.addTask {
                    let connection = try PlainHTTP(port: port)
                    for call in 0..<callsEach {
                        let answer = try connection.request(
                            "POST", "/api/notifications?pns=gcm&to_tag=user\(number)",
                            headers: [
                                "Authorization": SandboxClient.basic("a", "a"), "Idempotency-Key": "\(number)/\(call)",
                            ],
                            body: "\"\(call)\"")
                        #expect(answer.status == 200)
                    }
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<clients {
            let expected = (0..<callsEach).map { #"{"data":{"message":"From a: \#($0)"}}"# }
            #expect(backend.payloads(ofHandle: "device\(number)") == expected)
        }
        #expect(Set(backend.calls.compactMap(\.idempotencyKey)).count == clients * callsEach)
        #expect(backend.calls.map(\.number) == Array(1...(clients * callsEach)))
    }
}
