import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import TestSupport
import Testing

@Suite("Direct, batch, test and scheduled sends to the emulated hub")
struct HubMoreSendsTests {
    @Test("A direct send reaches its handle alone, with or without a value", arguments: ["direct", "direct=true"])
    func direct(query: String) throws {
        let caller = try HubCaller.start()
        let response = try caller.send(
            "apple", headers: ["ServiceBusNotification-DeviceHandle": "AA"], path: "messages?\(query)")
        #expect(response.status == 201)
        #expect(caller.emulator.payloads(ofHandle: "AA").count == 1)
        #expect(caller.emulator.sends.map(\.kind) == [.direct])
        #expect(try caller.send("apple", path: "messages?\(query)").status == 400)
    }

    @Test("A refused send is recorded with its kind")
    func refusedKinds() throws {
        let caller = try HubCaller.start()
        #expect(try caller.send("apple", "{", path: "messages").status == 400)
        #expect(try caller.send("apple", "{", path: "messages?direct").status == 400)
        #expect(try caller.send("apple", "{", path: "messages/$batch?direct").status == 400)
        #expect(try caller.send("apple", "{", path: "schedulednotifications").status == 400)
        #expect(caller.emulator.sends.map(\.kind) == [.tags, .direct, .batch, .scheduled])
    }

    private func batch(_ caller: HubCaller, devices: String, type: String) throws -> SingleRequest.Response {
        let body =
            "--nh-x\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n"
            + #"{"message":{}}"# + "\r\n--nh-x\r\nContent-Type: application/json\r\n"
            + "Content-Disposition: inline; name=devices\r\n\r\n\(devices)\r\n--nh-x--"
        return try caller.send("fcmv1", body, path: "messages/$batch?direct", type: type)
    }

    @Test(
        "A batch reaches each of its handles, for every form of its boundary",
        arguments: [#"multipart/mixed; boundary = "nh-x""#, "multipart/mixed; boundary=nh-x"])
    func batch(type: String) throws {
        let caller = try HubCaller.start { $0.tier = .basic }
        #expect(try batch(caller, devices: #"["a","b"]"#, type: type).status == 201)
        #expect(caller.emulator.payloads(ofHandle: "a") == [#"{"message":{}}"#])
        #expect(caller.emulator.payloads(ofHandle: "b") == [#"{"message":{}}"#])
        #expect(caller.emulator.sends.map(\.outcomes) == [[.fcmv1: ["Success": 2]]])
        #expect(try batch(caller, devices: "[]", type: type).status == 400)
        #expect(try batch(caller, devices: #"["a",1]"#, type: type).status == 400)
        #expect(try batch(caller, devices: #"["a"]"#, type: "multipart/mixed; boundary=y").status == 400)
        let tooMany = "[" + (0...1_000).map { "\"h\($0)\"" }.joined(separator: ",") + "]"
        #expect(try batch(caller, devices: tooMany, type: type).status == 400)
        let most = "[" + (0..<1_000).map { "\"h\($0)\"" }.joined(separator: ",") + "]"
        #expect(try batch(caller, devices: most, type: type).status == 201)
        #expect(try batch(HubCaller.start { $0.tier = .free }, devices: #"["a"]"#, type: type).status == 403)
    }

    @Test("A test send reports the outcomes of at most ten devices, and is accepted ten times a minute")
    func test() throws {
        let caller = try HubCaller.start { $0.outcomes = [HubOutcomeRule("BadChannel", handle: "BAD")] }
        let bad = HubCaller.entry("FcmV1RegistrationDescription", "<FcmV1RegistrationId>BAD</FcmV1RegistrationId>")
        #expect(try caller.put("bad", bad).status == 200)
        for number in 1...12 { try caller.registerApple("\(number)", "\(10 + number)", tags: "a") }
        let response = try caller.send("apple", path: "messages?test")
        #expect(response.status == 201)
        let outcome = try response.xml()
        #expect(outcome.name == "NotificationOutcome")
        #expect(outcome["Success"]?.text == "10")
        #expect(outcome["Failure"]?.text == "0")
        let first = try #require(outcome["Results"]?.children.first)
        #expect(first.name == "RegistrationResult")
        #expect(first.children.map(\.name) == ["ApplicationPlatform", "PnsHandle", "RegistrationId", "Outcome"])
        let failed = try caller.send("fcmv1", #"{"message":{}}"#, path: "messages/?test=true").xml()
        #expect(failed["Failure"]?.text == "1")
        let nobody = try caller.send("apple", tags: "nobody", path: "messages?test").xml()
        #expect(nobody["Success"]?.text == "0")
        for _ in 4...10 { #expect(try caller.send("apple", path: "messages?test").status == 201) }
        #expect(try caller.send("apple", path: "messages?test").status == 429)
    }

    @Test("A scheduled send can be cancelled, once, and is then not delivered")
    func cancel() throws {
        let caller = try HubCaller.start()
        try caller.registerApple("1", "AA", tags: "a")
        let time = ISO8601DateFormatter().string(from: Date().addingTimeInterval(86_400)).dropLast()
        for form in ["\(time)", "\(time).000Z"] {
            let response = try caller.send(
                "apple", headers: ["ServiceBusNotification-ScheduleTime": form], path: "schedulednotifications")
            #expect(response.status == 201)
            let prefix = "\(caller.emulator.url)/herald/schedulednotifications/"
            #expect(response.headers["Location"]?.hasPrefix(prefix) == true)
            let id = try caller.message(response)
            #expect(try caller.call("GET", "messages/\(id)").xml()["State"]?.text == "Scheduled")
            #expect(try caller.call("DELETE", "schedulednotifications/\(id)").status == 200)
            #expect(try caller.call("DELETE", "schedulednotifications/\(id)").status == 404)
            #expect(try caller.call("GET", "messages/\(id)").xml()["State"]?.text == "Canceled")
        }
        #expect(caller.emulator.payloads(ofHandle: "AA").isEmpty)
    }

    @Test("A scheduled send is delivered at its time, and refused when that is too far ahead or invalid")
    func due() async throws {
        let caller = try HubCaller.start()
        try caller.registerApple("1", "AA", tags: "a")
        func schedule(_ seconds: Double) throws -> Int {
            let time = ISO8601DateFormatter().string(from: Date().addingTimeInterval(seconds))
            return try caller.send(
                "apple", headers: ["ServiceBusNotification-ScheduleTime": time], path: "schedulednotifications/"
            ).status
        }
        #expect(try schedule(1) == 201)
        #expect(try await eventually { caller.emulator.payloads(ofHandle: "AA").count == 1 })
        #expect(caller.emulator.sends.map(\.outcomes) == [[.apns: ["Success": 1]]])
        #expect(try schedule(8 * 86_400) == 400)
        #expect(try caller.send("apple", path: "schedulednotifications").status == 400)
        let basic = try HubCaller.start { $0.tier = .basic }
        let headers = ["ServiceBusNotification-ScheduleTime": "2020-01-01T00:00:00"]
        #expect(try basic.send("apple", headers: headers, path: "schedulednotifications").status == 403)
    }
}
