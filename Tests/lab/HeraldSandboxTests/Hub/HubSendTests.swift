import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import Testing

@Suite("Sends to the emulated hub")
struct HubSendTests {
    @Test("A send reaches the devices of its format with the tag, and all of them without one")
    func recipients() throws {
        let caller = try HubCaller.start()
        try caller.registerApple("1", "aa", tags: "username:ann")
        try caller.registerApple("2", "BB", tags: "username:bob")
        let fcm = HubCaller.entry(
            "FcmV1RegistrationDescription", "<FcmV1RegistrationId>f</FcmV1RegistrationId>", tags: "username:ann")
        #expect(try caller.put("3", fcm).status == 200)
        let response = try caller.send("apple", tags: "username:ann", #"{"aps":{"alert":"one"}}"#)
        #expect(response.status == 201)
        #expect(response.body.isEmpty)
        #expect(response.headers["Content-Length"] == "0")
        #expect(response.headers["TrackingId"]?.isEmpty == false)
        #expect(try caller.send("apple", #"{"aps":{"alert":"all"}}"#).status == 201)
        #expect(try caller.send("fcmV1", tags: "username:ann", #"{"message":{}}"#, path: "messages/").status == 201)
        #expect(
            caller.emulator.payloads(ofHandle: "AA") == [#"{"aps":{"alert":"one"}}"#, #"{"aps":{"alert":"all"}}"#])
        #expect(caller.emulator.payloads(ofHandle: "BB") == [#"{"aps":{"alert":"all"}}"#])
        #expect(caller.emulator.payloads(ofHandle: "f") == [#"{"message":{}}"#])
    }

    @Test("Only the standard tier returns a message's address", arguments: HubTier.allCases)
    func location(tier: HubTier) throws {
        let caller = try HubCaller.start { $0.tier = tier }
        let location = try caller.send("apple").headers["Location"]
        guard tier == .standard else {
            #expect(location == nil)
            return
        }
        let start = "\(caller.emulator.url)/herald/messages/NH-"
        #expect(location?.hasPrefix(start) == true)
        #expect(location?.hasSuffix("-06?api-version=2020-06") == true)
    }

    @Test(
        "An incomplete or wrong send is answered 400 with the reason",
        arguments: [
            (["Format": ""], #"{}"#, "application/json"), (["Format": "fcm"], "{}", "application/json"),
            (["Format": "apple"], "{", "application/json"), (["Format": "apple"], "{}", "text/plain"),
            (["Format": "fcmv1"], #"{"data":{}}"#, "application/json"), (["Format": "apple"], "[]", "application/json"),
            (["Format": "windows"], "<toast/>", "application/xml"),
            (["Format": "windows", "X-WNS-Type": "wns/raw"], "<toast/>", "application/xml"),
            (["Format": "windows", "X-WNS-Type": "wns/toast"], "<toast>", "application/xml"),
            (["Format": "windows", "X-WNS-Type": "wns/toast"], "a & b", "application/xml"),
            (["Format": "template"], #"{"a":1}"#, "application/json"),
            (["Format": "apple", "Tags": "a ||"], "{}", "application/json"),
            (["Format": "apple", "Tags": "josé"], "{}", "application/json"),
            (["Format": "apple", "apns-priority": "11"], "{}", "application/json"),
            (["Format": "apple", "apns-priority": "0"], "{}", "application/json"),
            (["Format": "apple", "apns-expiration": "soon"], "{}", "application/json"),
            (["Format": "apple", "Apns-Expiry": "soon"], "{}", "application/json"),
        ])
    func mistakes(headers: [String: String], body: String, type: String) throws {
        let caller = try HubCaller.start()
        var all: [String: String] = [:]
        for (name, value) in headers where !value.isEmpty {
            let isOfHub = ["Format", "Tags", "Apns-Expiry"].contains(name)
            all[isOfHub ? "ServiceBusNotification-\(name)" : name] = value
        }
        let response = try caller.call("POST", "messages", headers: all, body: body, type: type)
        #expect(response.status == 400)
        #expect(try response.xml()["Detail"]?.text.isEmpty == false)
        #expect(caller.emulator.sends.map(\.status) == [400])
    }

    @Test("Each form of an expiry, and each content type that an SDK writes, is accepted")
    func forms() throws {
        let caller = try HubCaller.start()
        for expiry in ["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.0000000Z", "01/31/2030 13:00:00"] {
            let headers = ["ServiceBusNotification-Apns-Expiry": expiry]
            #expect(try caller.send("apple", headers: headers, type: "application/json").status == 201)
        }
        for priority in ["1", "5", "10"] {
            #expect(try caller.send("apple", headers: ["apns-priority": priority]).status == 201)
        }
        let toast = #"<?xml version="1.0" encoding="utf-16"?><toast><visual/></toast>"#
        #expect(
            try caller.send(
                "windows", toast, headers: ["X-WNS-Type": "wns/toast"], type: "application/xml;charset=utf-8"
            ).status == 201)
        #expect(
            try caller.send("windows", "raw", headers: ["X-WNS-Type": "wns/raw"], type: "application/octet-stream")
                .status == 201)
        #expect(
            try caller.send("baidu", "a=b", type: "application/x-www-form-urlencoded").status == 201)
    }

    @Test("More than 64 KiB is answered 413; a push service's limit shows in telemetry, or at once")
    func sizes() throws {
        let caller = try HubCaller.start()
        let large = #"{"a":"\#(String(repeating: "x", count: 65_536))"}"#
        #expect(try caller.send("apple", large).status == 413)
        try caller.registerApple("1", "AA", tags: "a")
        let middle = #"{"a":"\#(String(repeating: "x", count: 4_096))"}"#
        #expect(try caller.send("apple", middle).status == 201)
        #expect(caller.emulator.sends.last?.outcomes == [.apns: ["InvalidNotificationSize": 1]])
        #expect(try caller.send("apple", middle, headers: ["apns-push-type": "voip"]).status == 201)
        #expect(caller.emulator.sends.last?.outcomes == [.apns: ["Success": 1]])
        let strict = try HubCaller.start { $0.guesses.refusesLargePayloads = true }
        #expect(try strict.send("apple", middle).status == 400)
    }
}
