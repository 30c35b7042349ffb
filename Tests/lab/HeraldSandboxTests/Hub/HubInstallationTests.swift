import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import HeraldTime
import Testing

@Suite("Installations of the emulated hub")
struct HubInstallationTests {
    private static let device =
        #"{"installationId":"i","platform":"FCMV1","pushChannel":"f","userId":"ann","#
        + #""tags":["news"],"expirationTime":null,"#
        + #""templates":{"t":{"body":"{\"x\":\"$(text)\"}","headers":{},"tags":["tagged"]}}}"#

    private func put(_ caller: HubCaller, _ document: String = device) throws -> Int {
        try caller.call("PUT", "installations/i", body: document, type: "application/json").status
    }

    private func document(_ caller: HubCaller) throws -> [String: Any] {
        let response = try caller.call("GET", "installations/i/")
        #expect(response.status == 200)
        #expect(response.headers["Content-Type"] == "application/xml; charset=utf-8")
        return try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
    }

    @Test("A device is put, read and deleted, even repeatedly, with the service's statuses")
    func life() throws {
        let caller = try HubCaller.start().listener
        #expect(try caller.call("GET", "installations/i").status == 404)
        #expect(try put(caller) == 200)
        let read = try document(caller)
        #expect(read["installationId"] as? String == "i")
        #expect(read["pushChannel"] as? String == "f")
        #expect(read["tags"] as? [String] == ["news"])
        #expect(read["expirationTime"] as? String == "9999-12-31T23:59:59.9999999Z")
        #expect(read["pushChannelExpired"] as? Bool == false)
        #expect(try caller.call("DELETE", "installations/i").status == 204)
        #expect(try caller.call("DELETE", "installations/i").status == 204)
        #expect(try caller.call("GET", "installations/i").status == 404)
    }

    @Test("Sends reach it by its tags, its id and its user, natively and by template")
    func sends() throws {
        let caller = try HubCaller.start()
        #expect(try put(caller) == 200)
        for tags in ["news", "$InstallationId:{i}", "$UserId:{ann}", "news && !other"] {
            #expect(try caller.send("fcmv1", tags: tags, #"{"message":{"t":1}}"#).status == 201)
        }
        #expect(try caller.send("fcmv1", tags: "tagged", #"{"message":{}}"#).status == 201)
        #expect(try caller.send("template", tags: "tagged", #"{"text":"hi"}"#).status == 201)
        #expect(
            caller.emulator.payloads(ofHandle: "f")
                == Array(repeating: #"{"message":{"t":1}}"#, count: 4) + [#"{"x":"hi"}"#])
        let list = try caller.call("GET", "tags/$InstallationId:%7Bi%7D/registrations").xml()
        #expect(list.children.filter { $0.name == "entry" }.count == 2)
    }

    @Test("A PATCH adds, replaces and removes, in either content type")
    func patch() throws {
        let caller = try HubCaller.start()
        #expect(try put(caller) == 200)
        func patch(_ changes: String, _ type: String = "application/json-patch+json") throws -> Int {
            try caller.call("PATCH", "installations/i", body: changes, type: type).status
        }
        #expect(try patch(#"[{"op":"add","path":"/tags","value":"b"}]"#) == 200)
        #expect(try patch(#"[{"op":"remove","path":"/tags/news"},{"op":"add","path":"/tags","value":"c"}]"#) == 200)
        #expect(try patch(#"[{"op":"replace","path":"/pushChannel","value":"g"}]"#, "application/json") == 200)
        #expect(try patch(#"[{"op":"add","path":"/templates/u","value":"{\"body\":\"{}\",\"tags\":[]}"}]"#) == 200)
        #expect(try patch(#"[{"op":"remove","path":"/templates/t"},{"op":"remove","path":"/userId"}]"#) == 200)
        let read = try document(caller)
        #expect(read["tags"] as? [String] == ["b", "c"])
        #expect(read["pushChannel"] as? String == "g")
        #expect(read["userId"] == nil)
        #expect((read["templates"] as? [String: Any])?.keys.sorted() == ["u"])
        #expect(try caller.send("fcmv1", tags: "b && c", #"{"message":{}}"#).status == 201)
        #expect(caller.emulator.payloads(ofHandle: "g").count == 1)
        for wrong in [
            "{}", "[]", #"[{"op":"move","path":"/tags"}]"#, #"[{"op":"add","path":"/platform","value":"apns"}]"#,
            #"[{"op":"add","path":"/tags"}]"#, #"[{"op":"add","path":"/tags","value":"a/b"}]"#,
            #"[{"op":"remove","path":"/pushChannel"}]"#, #"[{"op":"add","path":"/templates/x/tags","value":"a"}]"#,
        ] {
            #expect(try patch(wrong) == 400, "\(wrong)")
        }
        #expect(try caller.call("PATCH", "installations/j", body: "[]").status == 404)
    }

    @Test(
        "An invalid installation is answered 400",
        arguments: [
            "", "[]", #"{"platform":"gcm"}"#, #"{"platform":"palm","pushChannel":"f"}"#,
            #"{"installationId":"j","platform":"gcm","pushChannel":"f"}"#,
            #"{"platform":"gcm","pushChannel":"f","tags":"a"}"#, #"{"platform":"gcm","pushChannel":"f","tags":["$a"]}"#,
            #"{"platform":"gcm","pushChannel":"f","templates":{"t":{}}}"#, #"{"platform":"browser","pushChannel":"f"}"#,
            #"{"platform":"browser","pushChannel":{"endpoint":"e"}}"#,
            #"{"platform":"gcm","pushChannel":"f","expirationTime":"soon"}"#,
        ])
    func mistakes(document: String) throws {
        #expect(try put(HubCaller.start(), document) == 400)
    }

    @Test("A browser's channel is an object, or text that contains one")
    func browser() throws {
        let caller = try HubCaller.start()
        let channel = #"{"endpoint":"e","p256dh":"p","auth":"a"}"#
        for value in [channel, "\"\(channel.replacing("\"", with: "\\\""))\""] {
            #expect(try put(caller, #"{"platform":"browser","pushChannel":\#(value)}"#) == 200)
            #expect(try caller.send("browser", #"{"title":"t"}"#).status == 201)
        }
        #expect(caller.emulator.payloads(ofHandle: "e").count == 2)
    }

    @Test("Writes may be queued: a new installation cannot be read at once")
    func queued() throws {
        let caller = try HubCaller.start { $0.guesses.installationDelay = .hours(1) }
        #expect(try put(caller) == 200)
        #expect(try caller.call("GET", "installations/i").status == 404)
    }
}
