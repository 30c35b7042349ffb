import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("The reference backend")
struct ReferenceBackendTests {
    @Test(
        "answers 403 to missing or wrong credentials, for every request",
        arguments: [
            ("POST", "/api/register"), ("PUT", "/api/register/1"), ("DELETE", "/api/register/1"),
            ("POST", "/api/notifications?pns=gcm&to_tag=a"), ("POST", "/api/notifications"), ("GET", "/api/inbox/h"),
            ("GET", "/sandbox/calls"), ("PUT", "/sandbox/misbehaviour"), ("GET", "/nothing"),
        ])
    func credentials(method: String, target: String) throws {
        let (backend, _) = try SandboxClient.start()
        let wrong = [
            nil, SandboxClient.basic("ann", "bob"), SandboxClient.basic("", ""), "Basic !!", "Basic YW5u", "Bearer x",
            "Basic", SandboxClient.basic("ann", "Ann"), SandboxClient.basic("e\u{301}", "\u{E9}"),
        ]
        for authorization in wrong {
            let headers = authorization.map { ["Authorization": $0] } ?? [:]
            #expect(
                try PlainHTTP.request(port: backend.port, method, target, headers: headers).status == 403,
                "\(authorization ?? "none")")
        }
    }

    @Test("answers 403 to a foreign host name (DNS rebinding), even with the right password")
    func rebinding() throws {
        let (backend, _) = try SandboxClient.start()
        defer { backend.stop() }
        for (host, status) in [
            ("evil.example", 403), ("127.0.0.1.evil.example:80", 403), ("localhost:1", 200), ("[::1]", 200),
        ] {
            let connection = try PlainHTTP(port: backend.port)
            try connection.send(
                "GET /api/inbox/h HTTP/1.1\r\nHost: \(host)\r\nAuthorization: \(SandboxClient.basic("ann", "ann"))\r\n\r\n"
            )
            #expect(try connection.readAnswer().status == status, "\(host)")
        }
    }

    @Test("accepts the user name as password, even with a colon, in any spelling of the scheme")
    func rightCredentials() throws {
        let (backend, _) = try SandboxClient.start()
        for authorization in [
            SandboxClient.basic("ann", "ann"), SandboxClient.basic("josé", "josé"), "bAsIc YW5uOmFubg==",
        ] {
            let answer = try PlainHTTP.request(
                port: backend.port, "GET", "/api/inbox/h", headers: ["Authorization": authorization])
            #expect(answer.status == 200)
        }
    }

    @Test("answers 400 to a user whose name would be an expression of tags", arguments: ["a||b", "(a", "!a", "a&&b"])
    func expression(user: String) throws {
        let (backend, client) = try SandboxClient.start()
        let name = try #require(user.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        #expect(try client.notify("gcm", name).status == 400)
        backend.stop()
    }

    @Test("issues a new registration id as a JSON string each time")
    func newIDs() throws {
        let (backend, client) = try SandboxClient.start()
        let ids = try (0..<5).map { _ in try client.newID() }
        #expect(Set(ids).count == 5)
        #expect(!ids.contains(""))
        #expect(try client.newID(handle: "unknown") != ids[0])
        backend.stop()
    }

    @Test("answers the first of a handle's registrations and deletes the others")
    func sameHandle() throws {
        let (backend, client) = try SandboxClient.start()
        let ids = try (0..<3).map { _ in try client.newID() }
        for id in ids.reversed() { #expect(try client.put(id, "gcm", "a b+c/d") == 200) }
        #expect(try client.newID(handle: "a%20b%2Bc%2Fd") == ids[0])
        #expect(try client.put(ids[0], "gcm", "a b+c/d") == 200)
        #expect(try client.put(ids[1], "gcm", "a b+c/d") == 410)
        #expect(try client.put(ids[2], "gcm", "a b+c/d") == 410)
        #expect(try client.notify("gcm", "ann").status == 200)
        #expect(backend.payloads(ofHandle: "a b+c/d").count == 1)
    }

    @Test(
        "accepts wns, gcm and apns and answers 400 to every other platform",
        arguments: [
            ("wns", 200), ("gcm", 200), ("apns", 200), ("mpns", 400), ("fcm", 400), ("", 400), ("APNS", 400),
        ])
    func platforms(platform: String, status: Int) throws {
        let (backend, client) = try SandboxClient.start()
        #expect(try client.put(client.newID(), platform, "h") == status)
        backend.stop()
    }

    @Test(
        "answers 400 to a registration that cannot be read",
        arguments: [
            "", "{", "[]", #"{"Platform":"gcm"}"#, #"{"Platform":"gcm","Handle":1,"Tags":[]}"#,
            #"{"Platform":"gcm","Handle":"h","Tags":"a"}"#, #"{"Platform":"gcm","Handle":"","Tags":[]}"#,
        ])
    func badRegistration(body: String) throws {
        let (backend, client) = try SandboxClient.start()
        #expect(try client.call("PUT", "/api/register/\(client.newID())", body: body).status == 400)
        backend.stop()
    }

    @Test("reads the names of a registration in any case and treats absent tags as an empty list")
    func namesInAnyCase() throws {
        let (backend, client) = try SandboxClient.start()
        let id = try client.newID()
        #expect(try client.call("PUT", "/api/register/\(id)", body: #"{"platform":"gcm","HANDLE":"h"}"#).status == 200)
        backend.stop()
    }

    @Test("answers 410 to an id that was deleted or never issued, and 200 to a deletion, even a repeated one")
    func gone() throws {
        let (backend, client) = try SandboxClient.start()
        #expect(try client.put("never-given", "gcm", "h") == 410)
        let id = try client.register("gcm", "h")
        #expect(try client.call("DELETE", "/api/register/\(id)").status == 200)
        #expect(try client.put(id, "gcm", "h") == 410)
        #expect(try client.call("DELETE", "/api/register/\(id)").status == 200)
        #expect(try client.notify("gcm", "ann").status == 200)
        #expect(backend.payloads(ofHandle: "h").isEmpty)
    }

    @Test("does not know the ids of another run")
    func otherRun() throws {
        let (first, client) = try SandboxClient.start()
        let (second, other) = try SandboxClient.start()
        #expect(try other.put(client.newID(), "gcm", "h") == 410)
        first.stop()
        second.stop()
    }

    @Test("answers 403 to another user's tag and accepts the caller's own")
    func tags() throws {
        let (backend, client) = try SandboxClient.start()
        let id = try client.newID()
        #expect(try client.put(id, "gcm", "h", tags: ["news", "username:bob"]) == 403)
        #expect(try client.put(id, "gcm", "h", tags: ["username:"]) == 403)
        #expect(try client.put(id, "gcm", "h", tags: ["news", "username:ann"]) == 200)
        #expect(try client.notify("gcm", "ann").status == 200)
        #expect(backend.payloads(ofHandle: "h").count == 1)
    }

    @Test("gives a device to its last user, with its last handle")
    func replaced() throws {
        let (backend, client) = try SandboxClient.start()
        let id = try client.register("gcm", "old")
        #expect(try client.with(user: "bob").put(id, "apns", "new") == 200)
        for pns in ["gcm", "apns"] {
            for user in ["ann", "bob"] { #expect(try client.notify(pns, user, "to \(user)").status == 200) }
        }
        #expect(backend.payloads(ofHandle: "old").isEmpty)
        #expect(try client.inbox("new").map(\.payload) == [#"{"aps":{"alert":"From ann: to bob"}}"#])
    }

    @Test("sends only to the devices of that service and user")
    func recipients() throws {
        let (backend, ann) = try SandboxClient.start()
        let bob = ann.with(user: "bob")
        try ann.register("gcm", "ann-gcm")
        try ann.register("wns", "ann-wns")
        try bob.register("gcm", "bob-gcm-1")
        try bob.register("gcm", "bob-gcm-2")
        #expect(try ann.notify("GCM", "bob", "Hallo").status == 200)
        for handle in ["bob-gcm-1", "bob-gcm-2"] {
            #expect(backend.payloads(ofHandle: handle) == [#"{"data":{"message":"From ann: Hallo"}}"#])
        }
        #expect(backend.payloads(ofHandle: "ann-gcm").isEmpty)
        #expect(backend.payloads(ofHandle: "ann-wns").isEmpty)
        #expect(try ann.notify("apns", "nobody").status == 200)
    }

    @Test(
        "answers 400 to half a query and to a body other than a JSON string",
        arguments: [
            ("?pns=gcm", #""m""#), ("?to_tag=ann", #""m""#), ("?pns=gcm&to_tag=", #""m""#), ("?pns=&to_tag=a", #""m""#),
            ("?pns=gcm&to_tag=ann", ""), ("?pns=gcm&to_tag=ann", "m"), ("?pns=gcm&to_tag=ann", "{}"),
            ("?pns=gcm&to_tag=ann", "1"), ("?pns=gcm&to_tag=ann", "null"), ("?pns=gcm&to_tag=ann", #""m" 1"#),
            ("?pns=gcm&to_tag=ann", "\"a\nb\""), ("", #""m""#), ("?pns=gcm&pns=wns&to_tag=ann", #""m""#),
        ])
    func badNotification(query: String, body: String) throws {
        let (backend, client) = try SandboxClient.start()
        #expect(try client.call("POST", "/api/notifications\(query)", body: body).status == 400)
        backend.stop()
    }

    @Test("answers 500 to an unknown push service", arguments: ["fcm", "mpns", "apns2"])
    func unknownService(pns: String) throws {
        let (backend, client) = try SandboxClient.start()
        #expect(try client.notify(pns, "ann").status == 500)
        backend.stop()
    }

    @Test("greets the caller's own devices on every service without query and body")
    func greeting() throws {
        let (backend, ann) = try SandboxClient.start()
        for platform in ["wns", "gcm", "apns"] { try ann.register(platform, "ann-\(platform)") }
        try ann.with(user: "bob").register("gcm", "bob")
        #expect(try ann.call("POST", "/api/notifications").status == 200)
        let toast =
            #"<toast><visual><binding template="ToastText01"><text id="1">Hello, ann</text></binding></visual></toast>"#
        #expect(backend.payloads(ofHandle: "ann-wns") == [toast])
        #expect(backend.payloads(ofHandle: "ann-gcm") == [#"{"data":{"message":"Hello, ann"}}"#])
        #expect(backend.payloads(ofHandle: "ann-apns") == [#"{"aps":{"alert":"Hello, ann"}}"#])
        #expect(backend.payloads(ofHandle: "bob").isEmpty)
    }

    @Test("lists a device's inbox oldest first, with service, payload and time, and an unknown one as empty")
    func inbox() throws {
        let (backend, client) = try SandboxClient.start()
        try client.register("gcm", "https://push/?a=1+2")
        for message in ["1", "2"] { _ = try client.notify("gcm", "ann", message) }
        let received = try client.inbox("https%3A%2F%2Fpush%2F%3Fa%3D1%2B2")
        #expect(received.map(\.payload) == ["1", "2"].map { #"{"data":{"message":"From ann: \#($0)"}}"# })
        #expect(received.allSatisfy { $0.pns == "gcm" && $0.at.wholeMatch(of: /\d{4}-\d\d-\d\dT.+Z/) != nil })
        #expect(try client.inbox("stranger").isEmpty)
        backend.stop()
    }

    @Test("keeps the newest notifications of a device and counts those it dropped")
    func boundedInbox() throws {
        let (backend, client) = try SandboxClient.start { $0.inboxLimit = 3 }
        try client.register("gcm", "h")
        for number in 1...5 { _ = try client.notify("gcm", "ann", "\(number)") }
        #expect(backend.payloads(ofHandle: "h") == (3...5).map { #"{"data":{"message":"From ann: \#($0)"}}"# })
        #expect(try client.call("GET", "/api/inbox/h").headers["sandbox-dropped"] == "2")
    }

    @Test(
        "answers 404 and 405 at addresses and for methods it does not have",
        arguments: [
            ("GET", "/", 404), ("GET", "/api/register/a/b", 404), ("GET", "/api/register", 405),
            ("GET", "/api/notifications", 405), ("PUT", "/api/inbox/h", 405), ("POST", "/API/Register", 200),
        ])
    func elsewhere(method: String, target: String, status: Int) throws {
        let (backend, client) = try SandboxClient.start()
        #expect(try client.call(method, target).status == status)
        backend.stop()
    }

    @Test("explains an error as JSON, or as XML to clients that accept it")
    func errorBodies() throws {
        let (backend, client) = try SandboxClient.start()
        let json = try client.call("GET", "/a<b>")
        #expect(json.text == #"{"Message":"there is nothing at /a<b>"}"#)
        let xml = try client.call("GET", "/a<b>", headers: ["Accept": "application/xml"])
        #expect(xml.text == "<Error><Message>there is nothing at /a&lt;b&gt;</Message></Error>")
        #expect(xml.headers["content-type"] == "application/xml; charset=utf-8")
        backend.stop()
    }
}
