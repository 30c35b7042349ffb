import Foundation
import HeraldThreads
import TestSupport
import Testing

@Suite("Access tokens", .realKafka("Access tokens"))
struct TokenTests {
    /// A token endpoint, and a backend that accepts its tokens from a certain one on.
    private final class Realm: Sendable {
        private struct State {
            var given = 0
            var refused = 0
            var called = 0
            var firstAccepted = 0
            var isClientKnown = true
        }

        private let state: Guarded<State>
        private let endpoint: ScriptedServer
        private let backend: ScriptedServer

        init(isClientKnown: Bool = true) throws {
            let state = Guarded(State(isClientKnown: isClientKnown))
            self.state = state
            endpoint = try ScriptedServer { peer in
                _ = try peer.readRequest()
                let number = state.withLock { state -> Int? in
                    if !state.isClientKnown {
                        state.refused += 1
                        return nil
                    }
                    defer { state.given += 1 }
                    return state.given
                }
                let body =
                    number.map { #"{"access_token":"t-\#($0)","token_type":"Bearer","expires_in":3600}"# }
                    ?? #"{"error":"invalid_client","error_description":"no such client, or canary"}"#
                try peer.write(
                    "HTTP/1.1 \(number == nil ? 401 : 200) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
            backend = try ScriptedServer { peer in
                while true {
                    let request = try peer.readRequest()
                    let token = request.firstRange(of: "Bearer t-").flatMap { range in
                        Int(request[range.upperBound...].prefix { $0.isNumber })
                    }
                    let isAccepted = state.withLock { state in
                        state.called += 1
                        return token.map { $0 >= state.firstAccepted } ?? false
                    }
                    try peer.write("HTTP/1.1 \(isAccepted ? 200 : 403) X\r\nContent-Length: 0\r\n\r\n")
                }
            }
        }

        var settings: [String: String] {
            [
                "backend.url": backend.origin, "backend.auth.kind": "oauth2", "backend.auth.clientID": "herald",
                "backend.auth.clientSecret": "canary", "backend.auth.tokenURL": endpoint.origin + "/token",
            ]
        }

        var givenCount: Int { state.withLock { $0.given } }
        var refusedCount: Int { state.withLock { $0.refused } }
        var calledCount: Int { state.withLock { $0.called } }

        func knowClient() { state.withLock { $0.isClientKnown = true } }
        func accept(from first: Int) { state.withLock { $0.firstAccepted = first } }

        func stop() {
            endpoint.stop()
            backend.stop()
        }
    }

    private static let unwanted = ["backend.auth.username", "backend.auth.password"]

    @Test(
        "All lanes call with one token; when the backend refuses it they share the next, and nothing is lost",
        arguments: [1, 2])
    func refusedToken(firstAccepted: Int) async throws {
        let realm = try Realm()
        defer { realm.stop() }
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker(
                changing: realm.settings.merging(["delivery.lanes": "2"]) { $1 }, removing: Self.unwanted)
            try await fixture.publish(Batch.events(0..<100))
            try await fixture.waitForResults(100)
            #expect(realm.givenCount == 1)
            realm.accept(from: firstAccepted)
            try await fixture.publish(Batch.events(100..<200))
            try await fixture.waitForResults(200)
            #expect(realm.givenCount == firstAccepted + 1)
            let oracle = try await Oracle(fixture)
            oracle.expectResults(Batch.delivered(0..<200))
            #expect(fixture.deadLetters.isEmpty && oracle.retries.isEmpty)
            #expect(!worker.output.contains("canary") && !worker.output.contains("t-0"))
        }
    }

    @Test("Without a token the worker gives the reason, makes no call, and continues by itself when it gets one")
    func noToken() async throws {
        let realm = try Realm(isClientKnown: false)
        defer { realm.stop() }
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker(changing: realm.settings, removing: Self.unwanted)
            try await fixture.publish(Batch.events(0..<50))
            let line = try await worker.waitForLog("outage:")
            #expect(line.message.contains("there is no access token") && line.message.contains("invalid_client"))
            #expect(line.message.contains("check backend.auth.clientID"))
            try await fixture.wait("the endpoint was asked again") { realm.refusedCount > 1 }
            #expect(realm.calledCount == 0)
            realm.knowClient()
            try await worker.waitForLog("resuming")
            try await fixture.waitForResults(50)
            try await Oracle(fixture).expectResults(Batch.delivered(0..<50))
            #expect(fixture.deadLetters.isEmpty && fixture.retries.isEmpty && realm.givenCount == 1)
            #expect(worker.logLines.count { $0.message.contains("outage:") } == 1)
            #expect(!worker.output.contains("canary"))
        }
    }
}
