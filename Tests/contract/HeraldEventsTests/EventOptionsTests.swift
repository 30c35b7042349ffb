import HeraldBytes
import HeraldEvents
import Testing

@Suite("An event's options for its push services")
struct EventOptionsTests {
    private func text(_ options: String) -> String {
        #"{"user":"ann","message":"Hi","pns":"apns","options":\#(options)}"#
    }

    @Test("Options are read in place, and unknown ones are ignored")
    func all() {
        let decoding = Decoding(
            text(#"{"pushType":"background","other":{"priority":1},"priority":"high","collapseId":"order-17"}"#))
        #expect(decoding.failure == nil)
        #expect(decoding.text(decoding.event.options.pushType) == "background")
        #expect(decoding.text(decoding.event.options.collapseID) == "order-17")
        #expect(decoding.event.options.isUrgent == true)
        #expect(!decoding.event.options.pushType.isInScratch)
    }

    @Test("Escapes are resolved, even in names")
    func escapes() {
        let decoding = Decoding(text(#"{"push\u0054ype":"al\u0065rt","priority":"norm\u0061l","collapseId":"a\"b"}"#))
        #expect(decoding.failure == nil)
        #expect(decoding.text(decoding.event.options.pushType) == "alert")
        #expect(decoding.text(decoding.event.options.collapseID) == "a\"b")
        #expect(decoding.event.options.isUrgent == false)
    }

    @Test("An event without options has none", arguments: ["null", "{}", #"{"priority":null,"pushType":null}"#])
    func none(options: String) {
        let decoding = Decoding(text(options))
        #expect(decoding.failure == nil)
        #expect(!decoding.event.options.pushType.isPresent && !decoding.event.options.collapseID.isPresent)
        #expect(decoding.event.options.isUrgent == nil)
    }

    @Test(
        "An option that breaks a rule is invalid, and the reason names the rule",
        arguments: [
            ("1", "options is a number; it has to be an object"), ("[]", "options is an array"),
            (#""high""#, "options is a string"), (#"{"priority":1}"#, "options.priority is a number"),
            (#"{"priority":"urgent"}"#, "options.priority has to be high or normal"),
            (#"{"priority":""}"#, "options.priority has to be high or normal"),
            (#"{"priority":"high\u0000aaaaaaaaaaaaaaa"}"#, "options.priority has to be high or normal"),
            (#"{"pushType":true}"#, "options.pushType is a boolean; it has to be a string"),
            (#"{"pushType":"alert\r\nX: y"}"#, "options.pushType has to be 1 to 32 lower-case letters"),
            (#"{"pushType":""}"#, "options.pushType has to be"), (#"{"pushType":"Alert"}"#, "options.pushType has"),
            (#"{"collapseId":{}}"#, "options.collapseId is an object"),
            (#"{"collapseId":"a b"}"#, "options.collapseId has to be 1 to 64 printable ASCII"),
            (#"{"collapseId":"é"}"#, "options.collapseId has to be"),
            (#"{"collapseId":"\#(String(repeating: "x", count: 65))"}"#, "options.collapseId has to be"),
            (#"{"pushType":"\#(String(repeating: "x", count: 33))"}"#, "options.pushType has to be"),
        ])
    func invalid(options: String, detail: String) {
        let decoding = Decoding(text(options))
        #expect(decoding.failure?.reason == .invalid)
        #expect(decoding.failure?.detail.contains(detail) == true, "\(decoding.failure?.detail ?? "none")")
    }

    @Test("A repeated option is malformed, like every known field")
    func twice() {
        let decoding = Decoding(text(#"{"priority":"high","priority":"high"}"#))
        #expect(decoding.failure?.reason == .malformed)
        #expect(decoding.failure?.detail.contains("holds the key priority twice") == true)
    }

    @Test("The data of a CloudEvent has options as well")
    func cloudEvent() {
        let decoding = Decoding(
            #"{"specversion":"1.0","type":"t","source":"s","id":"e","data":"# + text(#"{"priority":"high"}"#) + "}",
            headers: [("content-type", "application/cloudevents+json")])
        #expect(decoding.failure == nil)
        #expect(decoding.event.options.isUrgent == true)
    }
}
