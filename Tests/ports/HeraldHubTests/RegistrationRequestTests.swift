import HeraldHTTP
import HeraldHub
import HeraldText
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("A hub's registrations over the wire")
struct RegistrationRequestTests {
    /// A hub that answers each request by its line, in the order of the requests, over TLS.
    private final class Hub: Sendable {
        private let seen: Guarded<[String]>
        private let pauses: Guarded<[Int64]>
        private let server: ScriptedServer
        let client: HubClient

        init(_ answer: @escaping @Sendable (_ line: String, _ number: Int) -> String) throws {
            let certificates = try TestCertificates.shared()
            let (seen, pauses) = (Guarded<[String]>([]), Guarded<[Int64]>([]))
            self.seen = seen
            self.pauses = pauses
            server = try ScriptedServer(tls: certificates.good) { peer in
                let request = try peer.readRequest()
                let number = seen.withLock { requests in
                    requests.append(request)
                    return requests.count - 1
                }
                try peer.write(answer(String(request.prefix { $0 != "\r\n" }), number))
            }
            var client = HubClient(
                try HubConnectionString(
                    "Endpoint=sb://127.0.0.1:\(server.port)/;SharedAccessKeyName=Full;SharedAccessKey=key"),
                hub: "hub", timeout: .minutes(1), tls: TLSFiles(caFile: certificates.authorityFile))
            client.pause = { milliseconds in pauses.withLock { $0.append(milliseconds.count) } }
            self.client = client
        }

        /// The waits before repeated requests, in milliseconds.
        var waits: [Int64] { pauses.withLock { $0 } }
        var requests: [String] { seen.withLock { $0 } }
        /// The request lines without the version of HTTP.
        var lines: [String] {
            requests.map { String($0.prefix { $0 != "\r\n" }.dropLast(" HTTP/1.1".count)) }
        }
        func stop() { server.stop() }

        static func answer(_ status: Int, _ body: String = "", headers: String = "") -> String {
            "HTTP/1.1 \(status) X\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }

        static func feed(_ ids: [String]) -> String {
            "<feed xmlns=\"http://www.w3.org/2005/Atom\">"
                + ids.map {
                    "<entry><title>\($0)</title><content><GcmRegistrationDescription><RegistrationId>\($0)"
                        + "</RegistrationId><GcmRegistrationId>h</GcmRegistrationId></GcmRegistrationDescription>"
                        + "</content></entry>"
                }.joined() + "</feed>"
        }
    }

    @Test(
        "An id is the last segment of the answer's location",
        arguments: ["Location", "location", "Content-Location"])
    func newID(header: String) throws {
        let hub = try Hub { _, _ in
            Hub.answer(201, headers: "\(header): https://ns.example/hub/registrationids/12-3-1?api-version=2020-06\r\n")
        }
        defer { hub.stop() }
        #expect(hub.client.makeRegistrationID() == .success("12-3-1"))
        #expect(hub.lines == ["POST /hub/registrationids?api-version=2020-06"])
        let request = try #require(hub.requests.first)
        #expect(request.contains("\r\nContent-Length: 0\r\n"))
        #expect(request.contains("\r\nAuthorization: SharedAccessSignature sr=https%3A%2F%2F127.0.0.1"))
    }

    @Test(
        "An answer without a location, or with that of all ids, is invalid",
        arguments: ["", "Location: https://ns.example/hub/registrationids/?api-version=2020-06\r\n"])
    func noID(headers: String) throws {
        let hub = try Hub { _, _ in Hub.answer(201, headers: headers) }
        defer { hub.stop() }
        #expect(hub.client.makeRegistrationID() == .failure(.unreadable(reason: "the answer names no registration id")))
    }

    @Test("A hub that agrees to HTTP/2 is asked over it", arguments: [HTTPVersions.agreed, .http2])
    func overHTTP2(versions: HTTPVersions) throws {
        let certificates = try TestCertificates.shared()
        let server = try ScriptedServer(tls: certificates.good.withHTTP2) { wire in
            let peer = try HTTP2Peer(wire)
            let call = try peer.readCall()
            try peer.answer(call.stream)
        }
        defer { server.stop() }
        let client = HubClient(
            try HubConnectionString(
                "Endpoint=sb://127.0.0.1:\(server.port)/;SharedAccessKeyName=Full;SharedAccessKey=key"),
            hub: "hub", timeout: .minutes(1), tls: TLSFiles(caFile: certificates.authorityFile),
            versions: versions)
        guard case .response(let answer) = client.perform(.get, "registrations") else {
            Issue.record("there is no answer")
            return
        }
        #expect(answer.status == 200 && answer.isHTTP2)
    }

    @Test("A registration is put over any other, and deleted in any version")
    func putAndDelete() throws {
        let hub = try Hub { _, _ in Hub.answer(200) }
        defer { hub.stop() }
        let registration = try HubRegistration(.gcm(token: "h"), tags: ["a"])
        guard case .success = hub.client.put(registration, at: "1-2/ä") else {
            Issue.record("the registration is refused")
            return
        }
        guard case .success = hub.client.deleteRegistration("1-2") else {
            Issue.record("the deletion is refused")
            return
        }
        #expect(
            hub.lines == [
                "PUT /hub/registrations/1-2%2F%C3%A4?api-version=2020-06",
                "DELETE /hub/registrations/1-2?api-version=2020-06",
            ])
        #expect(!hub.requests[0].contains("If-Match"))
        #expect(hub.requests[0].contains("\r\nContent-Type: application/atom+xml;type=entry;charset=utf-8\r\n"))
        #expect(hub.requests[0].hasSuffix(String(decoding: registration.entry, as: UTF8.self)))
        #expect(hub.requests[1].contains("\r\nIf-Match: *\r\n"))
    }

    @Test("A handle is searched as a channel of every push service, page after page")
    func byHandle() throws {
        let hub = try Hub { _, number in
            number < 2
                ? Hub.answer(200, Hub.feed(["\(number)"]), headers: "X-MS-ContinuationToken: a%2Fb%3D\(number)\r\n")
                : Hub.answer(200, Hub.feed([]))
        }
        defer { hub.stop() }
        guard case .success(let found) = hub.client.registrations(ofHandle: "https://w/?a=1&b='x'") else {
            Issue.record("the list is refused")
            return
        }
        #expect(found.map(\.id) == ["0", "1"])
        let list =
            "GET /hub/registrations?$top=20&$filter=ChannelUri%20eq%20%27https%3A%2F%2Fw%2F%3Fa%3D1%26b%3D%27%27x"
            + "%27%27%27"
        #expect(
            hub.lines == [
                list + "&api-version=2020-06", list + "&continuationtoken=a%2Fb%3D0&api-version=2020-06",
                list + "&continuationtoken=a%2Fb%3D1&api-version=2020-06",
            ])
    }

    @Test("An Apple token is searched in capitals, as the hub returns it")
    func appleHandle() throws {
        let hub = try Hub { _, _ in Hub.answer(200, Hub.feed([])) }
        defer { hub.stop() }
        #expect(hub.client.registrations(ofHandle: "0aff") == .success([]))
        #expect(
            hub.lines == ["GET /hub/registrations?$top=20&$filter=ChannelUri%20eq%20%270AFF%27&api-version=2020-06"])
    }

    @Test("Registrations are listed by a tag")
    func byTag() throws {
        let hub = try Hub { _, _ in Hub.answer(200, Hub.feed(["1", "2"])) }
        defer { hub.stop() }
        guard case .success(let found) = hub.client.registrations(ofTag: "username:a#b") else {
            Issue.record("the list is refused")
            return
        }
        #expect(found.map(\.id) == ["1", "2"])
        #expect(hub.lines == ["GET /hub/tags/username%3Aa%23b/registrations?$top=20&api-version=2020-06"])
    }

    @Test(
        "The hub's refusals are distinguished",
        arguments: [
            (404, .notFound(detail: "no & none.TrackingId:1")), (410, .gone(detail: "no & none.TrackingId:1")),
            (412, .preconditionFailed(detail: "no & none.TrackingId:1")),
            (403, .refused(status: 403, retryAfterSeconds: 61, detail: "no & none.TrackingId:1")),
            (401, .refused(status: 401, retryAfterSeconds: 61, detail: "no & none.TrackingId:1")),
        ] as [(Int, HubFailure)])
    func refusals(status: Int, failure: HubFailure) throws {
        let hub = try Hub { _, _ in
            Hub.answer(
                status, "<Error><Code>\(status)</Code><Detail>no &amp; none.TrackingId:1</Detail></Error>",
                headers: "Retry-After: 61\r\n")
        }
        defer { hub.stop() }
        #expect(hub.client.makeRegistrationID() == .failure(failure))
        #expect(hub.client.registrations(ofHandle: "h") == .failure(failure))
        #expect(failure.status == status)
        guard case .failure(failure) = hub.client.put(try HubRegistration(.gcm(token: "h"), tags: []), at: "1"),
            case .failure(failure) = hub.client.deleteRegistration("1")
        else {
            Issue.record("another failure")
            return
        }
    }

    @Test("Each request has a tracking id of its own, which a failure names when the hub does not")
    func trackingID() throws {
        let hub = try Hub { _, number in number < 2 ? Hub.answer(403) : "" }
        defer { hub.stop() }
        var details: [String?] = []
        for _ in 0..<3 {
            guard case .failure(let failure) = hub.client.makeRegistrationID() else {
                Issue.record("the request is taken")
                return
            }
            details.append(failure.detail)
        }
        let ids = hub.requests.compactMap { $0.firstMatch(of: /\r\nTrackingId: ([-0-9a-f]{36})\r\n/)?.1 }
        #expect(Set(ids).count == 3)
        #expect(details[0] == "TrackingId:\(ids[0])")
        #expect(details[1] == "TrackingId:\(ids[1])")
        #expect(details[2]?.hasSuffix(" TrackingId:\(ids[2])") == true)
    }

    @Test(
        "A request is repeated when the hub says \"later\", after the time that it asks for",
        arguments: [
            (429, "Retry-After: 7\r\n", [7_000]), (403, "Retry-After: 60\r\n", [60_000]), (503, "", [1_000]),
            (429, "Retry-After: 61\r\n", []), (403, "", []), (400, "Retry-After: 1\r\n", []),
        ] as [(Int, String, [Int64])])
    func patience(status: Int, headers: String, waits: [Int64]) throws {
        let hub = try Hub { _, number in
            number == 0
                ? Hub.answer(status, headers: headers)
                : Hub.answer(201, headers: "Location: https://x/hub/registrationids/9\r\n")
        }
        defer { hub.stop() }
        let result = hub.client.makeRegistrationID()
        #expect(hub.waits == waits)
        #expect((result == .success("9")) == !waits.isEmpty)
    }

    @Test("A hub that keeps saying \"later\" is asked four times, with growing waits")
    func impatience() throws {
        let hub = try Hub { _, _ in Hub.answer(429) }
        defer { hub.stop() }
        guard case .failure(.refused(429, 0, _)) = hub.client.registrations(ofHandle: "h") else {
            Issue.record("another failure")
            return
        }
        #expect(hub.waits == [1_000, 2_000, 4_000])
        #expect(hub.lines.count == 4)
    }

    @Test("An absent hub and an answer that is not a feed are failures of their own")
    func noAnswer() throws {
        let hub = try Hub { _, number in number == 0 ? Hub.answer(200, "<entry/>") : "" }
        defer { hub.stop() }
        guard case .failure(.unreadable) = hub.client.registrations(ofHandle: "h"),
            case .failure(.unanswered) = hub.client.registrations(ofHandle: "h")
        else {
            Issue.record("another failure")
            return
        }
    }

    @Test("The first registration of a handle is kept and its doubles deleted, even if one is already gone")
    func doubles() throws {
        let hub = try Hub { line, _ in
            line.hasPrefix("GET")
                ? Hub.answer(200, Hub.feed(["1", "2", "3"])) : Hub.answer(line.contains("2") ? 404 : 200)
        }
        defer { hub.stop() }
        #expect(hub.client.id(forHandle: "h") == .success("1"))
        #expect(
            hub.lines.dropFirst() == [
                "DELETE /hub/registrations/2?api-version=2020-06", "DELETE /hub/registrations/3?api-version=2020-06",
            ])
    }

    @Test("On a shared hub only native registrations with the user's own tag are doubles; others are named")
    func ownDoubles() throws {
        func entry(_ id: String, _ kind: String, _ tags: String) -> String {
            "<entry><title>\(id)</title><content><\(kind)RegistrationDescription><RegistrationId>\(id)"
                + "</RegistrationId><Tags>\(tags)</Tags><GcmRegistrationId>h</GcmRegistrationId>"
                + "</\(kind)RegistrationDescription></content></entry>"
        }
        let feed =
            "<feed xmlns=\"http://www.w3.org/2005/Atom\">" + entry("1", "GcmTemplate", "u:ida,promo")
            + entry("2", "Gcm", "vip") + entry("3", "Gcm", "u:ida,news")
            + entry("4", "Gcm", "u:ida,$InstallationId:{i}") + entry("5", "Gcm", "u:ida") + "</feed>"
        let hub = try Hub { line, _ in Hub.answer(200, line.hasPrefix("GET") ? feed : "") }
        defer { hub.stop() }
        guard case .success(let own) = hub.client.id(forHandle: "h", tag: "u:ida") else {
            Issue.record("there is no id")
            return
        }
        #expect(own.id == "3" && own.others.map(\.id) == ["1", "2", "4"])
        #expect(hub.lines.dropFirst() == ["DELETE /hub/registrations/5?api-version=2020-06"])
    }

    @Test("An unknown handle, or no handle, gets a new id", arguments: ["h", nil])
    func newHandle(handle: String?) throws {
        let hub = try Hub { line, _ in
            line.hasPrefix("GET")
                ? Hub.answer(200, Hub.feed([]))
                : Hub.answer(201, headers: "Location: https://x/hub/registrationids/9\r\n")
        }
        defer { hub.stop() }
        #expect(hub.client.id(forHandle: handle) == .success("9"))
        #expect(hub.lines.count == (handle == nil ? 1 : 2))
    }
}
