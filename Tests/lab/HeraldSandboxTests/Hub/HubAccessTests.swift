import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import HeraldTime
import TestSupport
import Testing

@Suite("The emulated hub and tokens")
struct HubAccessTests {
    @Test("A client needs TLS with the hub's own authority")
    func tls() throws {
        let caller = try HubCaller.start()
        let trusted = TLSFiles(caFile: try TestCertificates.shared().authorityFile)
        let outcome = SingleRequest(
            .get, url: caller.emulator.url, authorization: nil, timeout: .minutes(1), proxy: nil, tls: trusted
        ).perform()
        guard case .failure = outcome else {
            Issue.record("a hub of an unknown authority was trusted")
            return
        }
        #expect(throws: (any Error).self) {
            try PlainHTTP.request(port: caller.emulator.port, "GET", "/herald/messages")
        }
        caller.emulator.stop()
    }

    @Test("A regenerated key voids the previous one at once; its rule keeps its rights")
    func regeneration() throws {
        let caller = try HubCaller.start()
        #expect(try caller.send("apple").status == 201)
        var fresh = caller
        fresh.string = caller.emulator.regenerateKey()
        #expect(try caller.send("apple").status == 401)
        #expect(try fresh.send("apple").status == 201)
    }

    @Test(
        "The audience of each of Microsoft's SDKs is accepted",
        arguments: [
            // azure-sdk-for-js, azure-notificationhubs-dotnet, azure-notificationhubs-java-backend
            "https%3A%2F%2F127.0.0.1%3A{port}%2F", "http%3a%2f%2f127.0.0.1%2fherald%2fmessages%2f",
            "https%3a%2f%2f127.0.0.1%3a{port}%2fherald%2fmessages%3fapi-version%3d2020-06",
            "sb%3A%2F%2F127.0.0.1%2FHERALD",
        ])
    func audiences(audience: String) throws {
        let caller = try HubCaller.start()
        let audience = audience.replacing("{port}", with: "\(caller.emulator.port)")
        #expect(try caller.with(authorization: caller.token(audience)).send("apple").status == 201)
    }

    @Test(
        "A foreign, forged, expired, broken or missing token is answered 401 with the reason",
        arguments: ["audience", "hub", "part", "signature", "name", "ended", "broken", "scheme", "none"])
    func refused(mistake: String) throws {
        let caller = try HubCaller.start()
        let own = "https%3A%2F%2F127.0.0.1%2F"
        let (authorization, detail) =
            switch mistake {
            case "audience": (try caller.token("https%3A%2F%2Fcontoso.servicebus.windows.net%2F"), "InvalidAudience: ")
            case "hub": (try caller.token("https%3A%2F%2F127.0.0.1%2Fother%2F"), "InvalidAudience: ")
            case "part": (try caller.token("https%3A%2F%2F127.0.0.1%2Fherald%2Fmess"), "InvalidAudience: ")
            case "signature": (try caller.token(own).replacing("&se=", with: "&se=1"), "InvalidSignature: ")
            case "name": (try caller.token(own) + "x", "InvalidSignature: ")
            case "ended": (try caller.token(own, expiresIn: 0), "ExpiredToken: ")
            case "broken": ("SharedAccessSignature sr=a", "MalformedToken: ")
            case "scheme": ("Basic YTph", "MalformedToken: ")
            default: ("", "MissingToken: ")
            }
        let response = try caller.with(authorization: authorization).send("apple")
        #expect(response.status == 401)
        let error = try response.xml()
        #expect(error.name == "Error")
        #expect(error["Code"]?.text == "401")
        #expect(error["Detail"]?.text.hasPrefix(detail) == true)
        #expect(error["Detail"]?.text.contains(".TrackingId:") == true)
        #expect(caller.emulator.sends.map(\.status) == [401])
    }

    @Test("The signature is over the audience as sent, in upper or lower case")
    func rawAudience() throws {
        let caller = try HubCaller.start()
        let small = try caller.token("https%3a%2f%2f127.0.0.1%2f")
        #expect(try caller.with(authorization: small).send("apple").status == 201)
        let changed = small.replacing("%3a", with: "%3A")
        #expect(try caller.with(authorization: changed).send("apple").status == 401)
    }

    @Test("A listen-only key registers devices; everything else is answered 403 without a body")
    func rights() throws {
        let listener = try HubCaller.start().listener
        #expect(try listener.call("POST", "registrationids").status == 201)
        #expect(try listener.registerApple("1-2-3", "AB", tags: "a").status == 200)
        #expect(try listener.call("GET", "registrations?$filter=ChannelUri+eq+%27AB%27").status == 200)
        for (method, path) in [("GET", "registrations"), ("GET", "tags/a/registrations"), ("GET", "messages/1")] {
            let response = try listener.call(method, path)
            #expect(response.status == 403)
            #expect(response.body.isEmpty)
        }
        let response = try listener.send("apple")
        #expect(response.status == 403)
        #expect(response.body.isEmpty)
    }

    @Test("Another hub, and an address that no hub has, are answered 404")
    func notFound() throws {
        let caller = try HubCaller.start()
        #expect(try caller.call("POST", "registrationids", hub: "other").status == 404)
        #expect(try caller.call("GET", "nothing").status == 404)
        #expect(try caller.call("PUT", "messages").status == 405)
        #expect(try caller.call("POST", "REGISTRATIONIDs/", hub: "HERALD").status == 201)
    }
}
