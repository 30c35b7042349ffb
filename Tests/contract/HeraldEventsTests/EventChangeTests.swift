import HeraldEvents
import Testing

@Suite("Changing an event's bytes")
struct EventChangeTests {
    private func changed(
        _ value: String, _ change: EventChange, headers: [(String, String)] = []
    ) -> String? {
        var list = HeaderList()
        for (name, text) in headers { list.append(name, text) }
        return change.applied(to: Array(value.utf8), headers: list).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A member is replaced in its place, whatever its value, and all other bytes stay")
    func replaced() {
        let value = #" { "user" : 7, "x":[1.50, {"user":"no"}],"message":"a\"b" ,"pns":["apnss"]} "#
        #expect(
            changed(value, EventChange(user: "bob", message: "say \"hi\"\n", pushServices: ["apns", "gcm"]))
                == #" { "user" : "bob", "x":[1.50, {"user":"no"}],"message":"say \"hi\"\n" ,"pns":["apns","gcm"]} "#)
    }

    @Test("A missing member is added at the beginning, in an empty object alone")
    func inserted() {
        #expect(changed(#"{"message":"x"}"#, EventChange(user: "bob")) == #"{"user":"bob","message":"x"}"#)
        #expect(changed("{ }", EventChange(user: "bob", message: "x")) == #"{"user":"bob","message":"x" }"#)
    }

    @Test(
        "Other parts are set as texts, or as the JSON of a number or object; an empty one is taken away"
    )
    func content() {
        let change = EventChange(content: [
            .title: "say \"hi\"", .badge: "3", .data: #"{"a":"b"}"#, .image: "", .link: "shop://1",
        ])
        #expect(
            changed(#"{"user":"ann","image":"http://x","title":7,"data":{"c":"d"},"badge":"x"}"#, change)
                == #"{"link":"shop://1","user":"ann","image":null,"title":"say \"hi\"","data":{"a":"b"},"badge":3}"#)
        #expect(changed(#"{"badge":1}"#, EventChange(content: [.badge: "many"])) == #"{"badge":"many"}"#)
        #expect(!change.isEmpty && EventChange().isEmpty)
    }

    @Test("In a structured CloudEvent the data is changed, in a binary one the value")
    func cloudEvents() {
        let structured = #"{"specversion":"1.0","id":"1","source":"s","type":"t","user":"x","data":{"user":"ann"}}"#
        #expect(
            changed(
                structured, EventChange(user: "bob", message: "m"),
                headers: [("content-type", "application/cloudevents+json")])
                == #"{"specversion":"1.0","id":"1","source":"s","type":"t","user":"x","data":{"message":"m","user":"bob"}}"#
        )
        #expect(
            changed(#"{"user":"ann"}"#, EventChange(user: "bob"), headers: [("ce_id", "1"), ("ce_specversion", "1.0")])
                == #"{"user":"bob"}"#)
    }

    @Test("After a schema registry's frame the object is changed and the frame stays")
    func frame() {
        let frame: [UInt8] = [0, 0, 0, 0, 0x7B]
        let value = frame + Array(#"{"user":"ann"}"#.utf8)
        #expect(
            EventChange(user: "bob").applied(to: value, headers: HeaderList())
                == frame + Array(#"{"user":"bob"}"#.utf8))
    }

    @Test("A value that is not a JSON object cannot be changed", arguments: ["", "no", "[1]", "{\"a\":1", "\"text\""])
    func unchangeable(value: String) {
        #expect(changed(value, EventChange(user: "bob")) == nil)
    }
}
