import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import Testing

@Suite("Limits, misbehaviour and feedback of the emulated hub")
struct HubLimitTests {
    @Test("Above its sends per minute it answers 429, or 403, with the time to wait", arguments: [429, 403])
    func throttle(status: Int) throws {
        let caller = try HubCaller.start {
            $0.sendsPerMinute = 2
            $0.throttleStatus = status
        }
        #expect(try caller.send("apple").status == 201)
        #expect(try caller.send("apple").status == 201)
        let response = try caller.send("apple")
        #expect(response.status == status)
        #expect((1...60).contains(response.retryAfterSeconds))
        #expect(try response.xml()["Detail"]?.text.contains("throttled") == true)
        #expect(caller.emulator.sends.map(\.status) == [201, 201, status])
    }

    @Test("Above its quota of pushes it answers 403 without a time to wait")
    func quota() throws {
        let caller = try HubCaller.start { $0.pushQuota = 2 }
        try caller.registerApple("1", "AA", tags: "a")
        try caller.registerApple("2", "BB", tags: "a")
        #expect(try caller.send("apple", tags: "a").status == 201)
        let response = try caller.send("apple", tags: "a")
        #expect(response.status == 403)
        #expect(response.headers["Retry-After"] == nil)
        #expect(try response.xml()["Detail"]?.text.contains("quota") == true)
    }

    @Test("The reference backend's rules make it fail by user, format and number, with or without a delivery")
    func misbehaviour() throws {
        let caller = try HubCaller.start()
        try caller.registerApple("1", "AA", tags: "username:ann")
        caller.emulator.misbehave([
            .status(503) {
                $0.user = "ann"
                $0.callsPerKey = 2
                $0.retryAfter = "7"
            },
            .status(500) {
                $0.pns = "fcmv1"
                $0.isCarriedOut = true
            },
            .hangUp { $0.path = "/registrations/*" },
        ])
        let refused = try caller.send("apple", tags: "username:ann")
        #expect(refused.status == 503)
        #expect(refused.retryAfterSeconds == 7)
        #expect(try caller.send("apple", tags: "username:ann").status == 503)
        #expect(caller.emulator.payloads(ofHandle: "AA").isEmpty)
        #expect(try caller.send("apple", tags: "username:ann").status == 201)
        #expect(caller.emulator.payloads(ofHandle: "AA").count == 1)
        #expect(try caller.send("fcmv1", #"{"message":{}}"#).status == 500)
        #expect(caller.emulator.sends.last?.messageID != nil)
        #expect(throws: HubCaller.Failure.self) { try caller.call("GET", "registrations/1") }
        #expect(try caller.call("POST", "registrationids").status == 201)
    }

    @Test("This machine changes the rules and reads the sends over HTTP, without a token")
    func controls() throws {
        let caller = try HubCaller.start().with(authorization: "")
        let url = "\(caller.emulator.url)/sandbox/"
        let rules = #"[{"pns":"apple","status":418}]"#
        #expect(try caller.request("PUT", url: url + "misbehaviour", body: rules).status == 200)
        #expect(try caller.request("GET", url: url + "misbehaviour").text.contains(#""status":418"#))
        let proper = HubCaller(emulator: caller.emulator, string: caller.emulator.connectionString)
        #expect(try proper.send("apple", tags: "a").status == 418)
        let line = try caller.request("GET", url: url + "calls").text
        #expect(line.contains(#""format":"apple","tags":"a""#))
        #expect(try caller.request("DELETE", url: url + "misbehaviour").status == 200)
        #expect(
            try proper.send("apple", headers: ["ServiceBusNotification-DeviceHandle": "H"], path: "messages?direct")
                .status == 201)
        #expect(try caller.request("GET", url: url + "inbox/H").text.contains(#""platform":"apns""#))
        #expect(try caller.request("DELETE", url: url + "calls").status == 200)
        #expect(caller.emulator.sends.isEmpty)
        #expect(try caller.request("PUT", url: url + "misbehaviour", body: "{").status == 400)
    }

    @Test("The feedback container lists and serves reports about devices that are gone, page by page")
    func feedback() throws {
        let caller = try HubCaller.start { $0.outcomes = [HubOutcomeRule("ExpiredChannel", platform: .apns)] }
        for number in 1...3 { try caller.registerApple("r\(number)", "A\(number)", tags: "a") }
        let id = try caller.message(caller.send("apple", tags: "a"))
        let answer = try caller.call("GET", "feedbackcontainer")
        #expect(answer.status == 200)
        let container = try #require(URLComponents(string: answer.text))
        func get(_ path: String = "", _ query: String = "") throws -> SingleRequest.Response {
            var address = container
            address.path += path
            address.query = (address.query ?? "") + query
            return try caller.with(authorization: "").request("GET", url: address.string ?? "")
        }
        var (names, marker): ([String], String?) = ([], "")
        while let current = marker {
            let list = try get("", "&restype=container&comp=list&maxresults=2&marker=\(current)").xml()
            #expect(list.name == "EnumerationResults")
            names += list["Blobs"]?.children.compactMap { $0["Name"]?.text } ?? []
            marker = list["NextMarker"].flatMap { $0.text.isEmpty ? nil : $0.text }
        }
        #expect(names.count == 3)
        let feedback = try get("/\(names[0])").xml()
        #expect(
            feedback.children.map(\.name) == [
                "FeedbackTime", "NotificationSystemError", "Platform", "PnsHandle", "RegistrationId", "NotificationId",
            ])
        #expect(feedback["NotificationSystemError"]?.text == "ExpiredChannel")
        #expect(feedback["PnsHandle"]?.text == "A1")
        #expect(feedback["RegistrationId"]?.text == "r1")
        #expect(feedback["NotificationId"]?.text == id)
        #expect(try get("/nothing").status == 404)
        let wrong = answer.text.replacing("sig=", with: "sig=1")
        #expect(try caller.request("GET", url: wrong + "&comp=list").status == 403)
        #expect(try HubCaller.start { $0.tier = .basic }.call("GET", "feedbackcontainer").status == 403)
    }
}
