import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("The reference backend on a hub")
struct BackendOnHubTests {
    private struct Setup {
        let emulator: HubEmulator
        let backend: ReferenceBackend
        let ann: SandboxClient
        let hub: HubClient

        func stop() {
            backend.stop()
            emulator.stop()
        }
    }

    private func start(
        google: GoogleForm = .fcmv1, threads: Int = 4,
        _ change: (inout ReferenceBackend.Configuration) -> Void = { _ in }
    ) throws -> Setup {
        let emulator = try HubEmulator()
        let hub = HubClient(
            try HubConnectionString(emulator.connectionString), hub: emulator.hub, timeout: .minutes(1),
            tls: TLSFiles(caFile: emulator.caFile))
        let (backend, ann) = try SandboxClient.start { configuration in
            configuration.hub = HubBackend.Configuration(hub, google: google, threads: threads)
            change(&configuration)
        }
        return Setup(emulator: emulator, backend: backend, ann: ann, hub: hub)
    }

    private func tagged(_ tag: String, _ hub: HubClient) -> [HeraldHub.HubRegistration] {
        guard case .success(let list) = hub.registrations(ofTag: tag) else { return [] }
        return list
    }

    @Test("registers devices on the hub, with the caller's own tag")
    func register() throws {
        let setup = try start()
        defer { setup.stop() }
        let id = try setup.ann.newID(handle: "0aff")
        #expect(try setup.ann.put(id, "apns", "0aff", tags: ["news", "from:bob"]) == 200)
        let found = tagged("username:ann", setup.hub)
        #expect(found.map(\.id) == [id])
        #expect(found.first?.device == .apple(token: "0AFF"))
        #expect(found.first.map { Set($0.tags) } == ["news", "from:bob", "username:ann"])
        // The same device later gets the same registration.
        #expect(try setup.ann.newID(handle: "0aff") == id)
        #expect(try setup.ann.newID() != id)
        for _ in 0..<2 { #expect(try setup.ann.call("DELETE", "/api/register/\(id)").status == 200) }
        #expect(tagged("username:ann", setup.hub).isEmpty)
    }

    @Test("answers the first registration of a handle and deletes its duplicates on the hub")
    func doubles() throws {
        let setup = try start()
        defer { setup.stop() }
        let ids = try (0..<3).map { _ in try setup.ann.newID() }
        for id in ids { #expect(try setup.ann.put(id, "gcm", "token") == 200) }
        let first = try setup.ann.newID(handle: "token")
        #expect(ids.contains(first))
        #expect(tagged("username:ann", setup.hub).map(\.id) == [first])
    }

    @Test(
        "answers 400 to a device that the hub would refuse, and 403 to another user's tag",
        arguments: [
            ("apns", "xyz", "a", 400), ("gcm", "t", "a b", 400), ("mpns", "t", "a", 400),
            ("gcm", "t", "username:bob", 403),
        ])
    func refused(platform: String, handle: String, tag: String, status: Int) throws {
        let setup = try start()
        defer { setup.stop() }
        #expect(try setup.ann.put(setup.ann.newID(), platform, handle, tags: [tag]) == status)
    }

    @Test("sends to the user's devices and to those with the sender's tag, escaped, and a toast once")
    func notify() throws {
        let setup = try start()
        defer { setup.stop() }
        let channel = "https://wns.example/?t=1"
        let bob = setup.ann.with(user: "bob")
        #expect(try bob.put(bob.newID(), "wns", channel) == 200)
        #expect(try bob.put(bob.newID(), "apns", "0aff") == 200)
        #expect(try bob.put(bob.newID(), "gcm", "token") == 200)
        let cleo = setup.ann.with(user: "cleo")
        #expect(try cleo.put(cleo.newID(), "gcm", "other", tags: ["from:ann"]) == 200)
        let text = "a \"b\" <c> & d\\\n"
        for pns in ["wns", "apns", "GCM"] { #expect(try setup.ann.notify(pns, "bob", text).status == 200) }
        #expect(
            setup.emulator.payloads(ofHandle: channel) == [
                #"<toast><visual><binding template="ToastText01"><text id="1">"#
                    + "From ann: a &quot;b&quot; &lt;c&gt; &amp; d\\\n</text></binding></visual></toast>"
            ])
        #expect(setup.emulator.payloads(ofHandle: "0AFF") == [#"{"aps":{"alert":"From ann: a \"b\" <c> & d\\\n"}}"#])
        let message = #"{"message":{"data":{"message":"From ann: a \"b\" <c> & d\\\n"}}}"#
        #expect(setup.emulator.payloads(ofHandle: "token") == [message])
        #expect(setup.emulator.payloads(ofHandle: "other") == [message])
        #expect(setup.emulator.sends.map(\.tags) == Array(repeating: "username:bob||from:ann", count: 3))
    }

    @Test("sends Google's legacy form on request, and greets the caller's own devices without a query")
    func greet() throws {
        let setup = try start(google: .gcm)
        defer { setup.stop() }
        #expect(try setup.ann.put(setup.ann.newID(), "gcm", "token") == 200)
        #expect(try setup.ann.call("POST", "/api/notifications").status == 200)
        #expect(setup.emulator.payloads(ofHandle: "token") == [#"{"data":{"message":"Hello, ann"}}"#])
        #expect(setup.emulator.sends.map(\.tags) == Array(repeating: "username:ann", count: 3))
    }

    @Test("never lets a user's name become an expression of tags", arguments: ["a||b", "a)", "!a", "a b"])
    func expression(user: String) throws {
        let setup = try start()
        defer { setup.stop() }
        let name = try #require(user.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        #expect(try setup.ann.notify("gcm", name).status == 400)
        #expect(try setup.ann.with(user: user).notify("gcm", "bob").status == 400)
        #expect(setup.emulator.sends.isEmpty)
    }

    @Test(
        "passes on the hub's requests for patience, and answers 500 to its other refusals",
        arguments: [
            (400, "7", 500, nil), (403, "7", 429, "7"), (403, nil, 500, nil), (429, "7", 429, "7"),
            (503, "7", 503, "7"), (500, nil, 500, nil),
        ] as [(Int, String?, Int, String?)])
    func hubRefuses(status: Int, retryAfter: String?, answered: Int, passed: String?) throws {
        let setup = try start()
        defer { setup.stop() }
        setup.emulator.misbehave([
            .status(status) {
                $0.path = "*"
                $0.retryAfter = retryAfter
            }
        ])
        let answer = try setup.ann.notify("gcm", "bob")
        #expect(answer.status == answered)
        #expect(answer.headers["retry-after"] == passed)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("TrackingId:"))
        #expect(setup.backend.calls.map(\.status) == [answered])
        // Longer than a registration's request waits here.
        if retryAfter != nil { #expect(try setup.ann.call("POST", "/api/register").status == answered) }
    }

    @Test("tries a registration again when the hub says \"later\"")
    func later() throws {
        let setup = try start()
        defer { setup.stop() }
        setup.emulator.misbehave([
            .status(429) {
                $0.path = "*"
                $0.calls = 1
                $0.retryAfter = "1"
            }
        ])
        #expect(try !setup.ann.newID().isEmpty)
    }

    @Test(
        "answers 413 to a notification larger than its push service accepts, and sends none of it",
        arguments: [("apns", 4_096), ("gcm", 4_096), ("wns", 5_120)])
    func oversized(pns: String, limit: Int) throws {
        let setup = try start()
        defer { setup.stop() }
        let answer = try setup.ann.notify(pns, "bob", String(repeating: "x", count: limit))
        #expect(answer.status == 413)
        #expect(setup.emulator.sends.isEmpty)
        #expect(try setup.ann.notify(pns, "bob", String(repeating: "x", count: limit - 200)).status == 200)
        #expect(setup.emulator.sends.count == 1)
    }

    @Test("answers 410 when the hub has deleted an id")
    func gone() throws {
        let setup = try start()
        defer { setup.stop() }
        setup.emulator.misbehave([.status(410) { $0.path = "*" }])
        #expect(try setup.ann.put("1-1-1", "gcm", "h") == 410)
    }

    @Test("answers 500 when the hub is unreachable, while its own controls keep working")
    func away() throws {
        let setup = try start()
        setup.emulator.stop()
        defer { setup.stop() }
        #expect(try setup.ann.notify("gcm", "bob").status == 500)
        #expect(try setup.ann.call("GET", "/sandbox/calls").status == 200)
        #expect(try setup.ann.call("GET", "/api/inbox/h").status == 404)
    }

    @Test("serves others while requests wait for the hub, even with one thread")
    func notBlocking() async throws {
        let setup = try start(threads: 2)
        setup.emulator.misbehave([
            .hang {
                $0.path = "*"
                $0.calls = 2
            }
        ])
        let waiting = (0..<2).map { _ in Blocking.begin { try? setup.ann.notify("gcm", "bob").status } }
        #expect(try await eventually { setup.emulator.sends.count == 2 })
        #expect(try await Blocking.run { try setup.ann.call("GET", "/sandbox/calls").status } == 200)
        // Ends the hanging requests, and with them the threads that make them.
        setup.emulator.stop()
        for call in waiting { #expect(try await call.value == 500) }
        await Task.detached { setup.backend.stop() }.value
    }

    @Test("misbehaves on a hub as it does without one", arguments: [true, false])
    func misbehaviour(isCarriedOut: Bool) async throws {
        let setup = try start {
            $0.misbehaviour = [
                .latency(milliseconds: 1...1),
                .status(503) {
                    $0.calls = 1
                    $0.retryAfter = "3"
                    $0.isCarriedOut = isCarriedOut
                },
            ]
        }
        defer { setup.stop() }
        #expect(try setup.ann.notify("gcm", "bob").status == 503)
        #expect(try setup.ann.notify("gcm", "bob").status == 200)
        let count = isCarriedOut ? 2 : 1
        #expect(try await eventually { setup.emulator.sends.count == count })
    }
}
