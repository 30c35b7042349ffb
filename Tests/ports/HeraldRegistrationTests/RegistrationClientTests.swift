import Foundation
import FoundationNetworking
import HeraldDevices
import HeraldRegistration
import HeraldSandbox
import TestSupport
import Testing

@Suite("An app's registration over URLSession")
struct RegistrationClientTests {
    private final class Store: RegistrationStore, @unchecked Sendable {
        private let lock = NSLock()
        private var entries: [RegistrationKey: String] = [:]

        var ids: [String] { lock.withLock { Array(entries.values) } }
        func registrationID(for key: RegistrationKey) -> String? { lock.withLock { entries[key] } }
        func remember(_ id: String?, for key: RegistrationKey) { lock.withLock { entries[key] = id } }
    }

    private func client(
        _ url: String, user: String = "ann", password: String? = nil, store: any RegistrationStore
    ) throws -> RegistrationClient {
        try RegistrationClient(
            url: try #require(URL(string: url)), credentials: .basic(username: user, password: password ?? user),
            store: store)
    }

    /// Sends a notification as the backend's own users do, and returns the number that the device received.
    private func received(_ backend: ReferenceBackend, _ pns: String, _ handle: String) throws -> Int {
        let basic = "Basic " + Data("ann:ann".utf8).base64EncodedString()
        let answer = try PlainHTTP.request(
            port: backend.port, "POST", "/api/notifications?pns=\(pns)&to_tag=ann",
            headers: ["Authorization": basic, "Content-Type": "application/json"], body: "\"hi\"")
        #expect(answer.status == 200)
        return backend.payloads(ofHandle: handle).count
    }

    @Test("A device is registered once, and its id remembered when its handle changes")
    func register() async throws {
        let backend = try ReferenceBackend()
        defer { backend.stop() }
        let store = Store()
        let client = try client(backend.url + "/", store: store)
        let id = try await client.register(
            handle: DeviceHandle(apnsToken: [0x00, 0xAB, 0xFF]), platform: .apns, tags: ["news"])
        #expect(store.ids == [id])
        #expect(try await Blocking.run { try received(backend, "apns", "00ABFF") } == 1)
        let again = try await client.register(
            handle: DeviceHandle("https://wns.example/?t=a+b&c"), platform: .wns, tags: ["a\"b/c"])
        #expect(again == id)
        #expect(try await Blocking.run { try received(backend, "apns", "00ABFF") } == 1)
        #expect(try await Blocking.run { try received(backend, "wns", "https://wns.example/?t=a+b&c") } == 1)
    }

    @Test("An id that the backend has given up is replaced, once")
    func gone() async throws {
        let backend = try ReferenceBackend()
        defer { backend.stop() }
        let store = Store()
        let client = try client(backend.url, store: store)
        let former = try await client.register(handle: DeviceHandle("h"), platform: .gcm)
        let basic = "Basic " + Data("ann:ann".utf8).base64EncodedString()
        _ = try await Blocking.run {
            try PlainHTTP.request(
                port: backend.port, "DELETE", "/api/register/\(former)", headers: ["Authorization": basic])
        }
        let id = try await client.register(handle: DeviceHandle("h"), platform: .gcm)
        #expect(id != former)
        #expect(store.ids == [id])
    }

    @Test("A registration is removed and forgotten; without a remembered one the removal does nothing")
    func unregister() async throws {
        let backend = try ReferenceBackend()
        defer { backend.stop() }
        let store = Store()
        let client = try client(backend.url, store: store)
        #expect(try await !client.unregister())
        try await client.register(handle: DeviceHandle("h"), platform: .gcm)
        #expect(try await client.unregister())
        #expect(store.ids.isEmpty)
        #expect(try await Blocking.run { try received(backend, "gcm", "h") } == 0)
    }

    @Test("A refusal names status and reason, and shows no handle")
    func refused() async throws {
        let backend = try ReferenceBackend()
        defer { backend.stop() }
        let store = Store()
        let wrong = try client(backend.url, password: "other", store: store)
        var error = await #expect(throws: RegistrationError.self) {
            try await wrong.register(handle: DeviceHandle("canary"), platform: .gcm)
        }
        guard case .refused("asking for a registration", status: 403, detail: _?)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        let right = try client(backend.url, store: store)
        error = await #expect(throws: RegistrationError.self) {
            try await right.register(handle: DeviceHandle("canary"), platform: .gcm, tags: ["username:bob"])
        }
        #expect(
            error
                == .refused(request: "putting the registration", status: 403, detail: "a tag names another user"))
        #expect(store.ids.count == 1)
    }

    @Test(
        "Neither refusals nor redirects are followed, and only a JSON string is accepted as an id",
        arguments: [
            (401, #"{"Message":"no"}"#, "WWW-Authenticate: Basic realm=\"a\"\r\n"),
            (400, #"{"Message":"who are canary?"}"#, ""),
            (307, "", "Location: /elsewhere\r\n"), (200, "id", ""), (200, "", ""),
        ])
    func otherAnswers(status: Int, body: String, header: String) async throws {
        let server = try ScriptedServer { peer in
            _ = try peer.readRequest()
            try peer.write(
                "HTTP/1.1 \(status) X\r\n\(header)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
            )
        }
        defer { server.stop() }
        let store = Store()
        let client = try client(server.origin, store: store)
        let error = await #expect(throws: RegistrationError.self) {
            try await client.register(handle: DeviceHandle("canary"), platform: .gcm)
        }
        let request = "asking for a registration"
        switch status {
        case 401: #expect(error == .refused(request: request, status: 401, detail: nil))
        case 400: #expect(error == .refused(request: request, status: 400, detail: "who are (the handle)?"))
        case 307: #expect(error == .refused(request: request, status: 307, detail: nil))
        default:
            #expect(error == .unexpected(request: request, reason: "the answer is not an id as a JSON string"))
        }
        #expect(server.acceptedCount == 1 && store.ids.isEmpty)
    }

    @Test("An absent backend is unreachable")
    func away() async throws {
        let client = try client("http://127.0.0.1:\(try LoopbackSocket.unusedPort())", store: Store())
        let error = await #expect(throws: RegistrationError.self) {
            try await client.register(handle: DeviceHandle("h"), platform: .gcm)
        }
        guard case .unreachable("asking for a registration", _)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test(
        "An invalid backend address is refused at once",
        arguments: ["ftp://a", "http://", "http://u:p@a", "http://a?b", "http://a#b", "relative"])
    func badAddress(url: String) throws {
        #expect(throws: RegistrationError.self) { try client(url, store: Store()) }
    }

    @Test("Credentials that cannot be sent are refused, and never shown")
    func credentials() throws {
        for credentials in [
            RegistrationCredentials.basic(username: "a:b", password: "x"), .basic(username: "a", password: "x\n"),
            .bearer(token: ""), .bearer(token: "a b"),
        ] {
            #expect(throws: RegistrationError.self) {
                try RegistrationClient(
                    url: try #require(URL(string: "https://a")), credentials: credentials, store: Store())
            }
        }
        #expect(!"\(RegistrationCredentials.bearer(token: "canary"))".contains("canary"))
    }
}
