import HeraldEvents
import Testing

@Suite("CloudEvents")
struct CloudEventsTests {
    private static let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let structured =
        [("content-type", "application/cloudevents+json; charset=utf-8")] as [(String, String?)]
    private static let binary: [(String, String?)] = [
        ("ce_specversion", "1.0"), ("ce_id", "c-1"), ("ce_source", "/shop"), ("ce_type", "com.example.order"),
    ]

    private func envelope(_ members: [String: String?] = [:]) -> String {
        var all = [
            "specversion": #""1.0""#, "id": #""c-1""#, "source": #""/shop""#, "type": #""t""#,
            "data": #"{"user":"ann","message":"Hi","pns":["apns"],"campaign":"spring"}"#,
        ]
        for (name, value) in members { all[name] = value }
        return "{" + all.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    @Test(
        "A structured event has id, source and time outside and the rest in data, in any order",
        arguments: [
            "application/cloudevents+json", "Application/CloudEvents+JSON;charset=utf-8",
            " application/cloudevents+json ; x=y",
        ])
    func structured(contentType: String) {
        let decoding = Decoding(
            envelope(["time": #""2026-11-21T08:40:26Z""#, "subject": "1", "zzz": "{}"]),
            headers: [("content-type", contentType)])
        #expect(decoding.failure == nil)
        #expect(decoding.id == "c-1")
        #expect(decoding.text(decoding.event.source) == "/shop")
        #expect(decoding.user == "ann")
        #expect(decoding.message == "Hi")
        #expect(decoding.text(decoding.event.campaign) == "spring")
    }

    @Test(
        "An event without a CloudEvent's headers, or with HTTP's, is refused with the missing one"
    )
    func missingHeaders() {
        let bare = Decoding(envelope())
        #expect(bare.failure?.detail.contains("user is missing") == true)
        #expect(
            bare.failure?.detail.hasSuffix("its header content-type: application/cloudevents+json is missing") == true)
        let other = Decoding(envelope(), headers: [("content-type", "application/json; charset=utf-8")])
        let found =
            "its header content-type is application/json, and has to be content-type: application/cloudevents+json"
        #expect(other.failure?.detail.hasSuffix(found) == true, "\(String(describing: other.failure))")
        let both = Decoding(envelope(), headers: Self.binary + [("content-type", "application/json")])
        #expect(
            both.failure?.detail.contains("; the value looks like a structured CloudEvent, and its headers") == true)
        #expect(both.failure?.detail.contains("publish the data alone, or leave them out") == true)
        let http = Decoding(
            #"{"message":"Hi","pns":"apns"}"#, headers: [("CE-id", "1"), ("ce-specversion", "1.0"), ("ce-source", "s")])
        #expect(http.failure?.detail.hasSuffix("they are called ce_, and ce_specversion is missing") == true)
        let plain = Decoding(
            #"{"message":"Hi","pns":"apns","data":1}"#, headers: [("content-type", "application/json")])
        #expect(plain.failure?.detail.contains("header") == false)
        #expect(Decoding(#"{"user":"u","message":"Hi","pns":"apns"}"#, headers: [("ce-id", "1")]).failure == nil)
    }

    @Test("Fields for the envelope are ignored in the data, and the other way round")
    func separation() {
        let decoding = Decoding(
            envelope([
                "user": "7", "message": #""outside""#,
                "data": #"{"user":"ann","message":"Hi","pns":"apns","id":5,"source":[],"time":"never","id":6}"#,
            ]), headers: Self.structured)
        #expect(decoding.failure == nil)
        #expect(decoding.id == "c-1")
        #expect(decoding.message == "Hi")
    }

    @Test(
        "A structured event with an invalid envelope is malformed",
        arguments: [
            ["specversion": nil], ["specversion": #""0.3""#], ["specversion": "1.0"], ["id": nil], ["id": #""""#],
            ["id": "1"], ["source": nil], ["source": "null"], ["type": nil], ["type": "{}"], ["data": nil],
            ["data": "null"], ["data": #""{}""#], ["data": "[]"], ["data_base64": #""e30=""#], ["data": "{"],
        ] as [[String: String?]])
    func badEnvelope(members: [String: String?]) {
        #expect(Decoding(envelope(members), headers: Self.structured).failure?.reason == .malformed)
    }

    @Test("An invalid envelope still gives its user")
    func identityOfBadEnvelope() {
        let decoding = Decoding(envelope(["type": nil]), headers: Self.structured)
        #expect(decoding.id == "c-1")
        #expect(decoding.user == "ann")
    }

    @Test("Repeated keys are malformed outside and inside")
    func repeatedKeys() {
        let outside = envelope().dropLast() + #","id":"c-2"}"#
        #expect(Decoding(String(outside), headers: Self.structured).failure?.reason == .malformed)
        let inside = envelope(["data": #"{"user":"ann","user":"bob","message":"Hi","pns":"apns"}"#])
        #expect(Decoding(inside, headers: Self.structured).failure?.reason == .malformed)
    }

    @Test("The rules of the fields apply inside of an envelope")
    func rules() {
        let longID = envelope(["id": "\"\(String(repeating: "x", count: 129))\""])
        #expect(Decoding(longID, headers: Self.structured).failure?.reason == .invalid)
        #expect(Decoding(envelope(["time": #""now""#]), headers: Self.structured).failure?.reason == .invalid)
        let noUser = envelope(["data": #"{"message":"Hi","pns":"apns"}"#])
        #expect(Decoding(noUser, headers: Self.structured).failure?.reason == .invalid)
    }

    @Test(
        "Other forms of CloudEvents are malformed with a reason",
        arguments: ["application/cloudevents-batch+json", "application/cloudevents+avro", "application/cloudevents"])
    func otherForms(contentType: String) {
        let failure = Decoding(envelope(), headers: [("content-type", contentType)]).failure
        #expect(failure?.reason == .malformed)
        #expect(failure?.detail.contains("application/cloudevents+json") == true)
    }

    @Test("Other content types are ignored", arguments: ["application/json", "", "text/plain", ";"])
    func otherContentType(contentType: String) {
        #expect(Decoding(eventJSON(), headers: [("content-type", contentType)]).failure == nil)
        #expect(Decoding(eventJSON(), headers: [("content-type", nil)]).failure == nil)
    }

    @Test("A binary event has its id and source in headers and the rest in the value")
    func binary() {
        let decoding = Decoding(
            eventJSON(["id": "1", "source": "[]", "time": "false"]),
            headers: Self.binary + [("ce_time", "2026-11-21T08:40:26Z"), ("content-type", "application/json")])
        #expect(decoding.failure == nil)
        #expect(decoding.id == "c-1")
        #expect(decoding.text(decoding.event.source) == "/shop")
        #expect(decoding.user == "ann")
    }

    @Test("A binary event lacking a required header is malformed", arguments: 0..<4)
    func binaryLacking(index: Int) {
        var headers = Self.binary
        let name = headers.remove(at: index).0
        let failure = Decoding(eventJSON(), headers: headers).failure
        #expect(failure?.reason == .malformed)
        #expect(failure?.detail.contains(name) == true)
        for bad in ["", nil] as [String?] {
            #expect(Decoding(eventJSON(), headers: headers + [(name, bad)]).failure?.reason == .malformed)
        }
    }

    @Test("A binary event of another version, or with a bad time or a long id, is refused")
    func binaryBad() {
        #expect(
            Decoding(eventJSON(), headers: Self.binary + [("ce_specversion", "0.3")]).failure?.reason == .malformed)
        #expect(Decoding(eventJSON(), headers: Self.binary + [("ce_time", "now")]).failure?.reason == .invalid)
        let long = String(repeating: "x", count: 129)
        #expect(Decoding(eventJSON(), headers: Self.binary + [("ce_id", long)]).failure?.reason == .invalid)
    }

    @Test("A binary event without JSON still has its id")
    func binaryIdentity() {
        let decoding = Decoding("{", headers: Self.binary)
        #expect(decoding.failure?.reason == .malformed)
        #expect(decoding.id == "c-1")
    }

    @Test("The trace context comes from the record, or otherwise from the CloudEvent")
    func traceparent() {
        let own = "00-11111111111111111111111111111111-2222222222222222-00"
        let fromHeader = Decoding(eventJSON(), headers: [("traceparent", Self.traceparent)])
        #expect(fromHeader.text(fromHeader.event.traceparent) == Self.traceparent)
        let fromExtension = Decoding(eventJSON(), headers: Self.binary + [("ce_traceparent", Self.traceparent)])
        #expect(fromExtension.text(fromExtension.event.traceparent) == Self.traceparent)
        let fromField = Decoding(envelope(["traceparent": "\"\(Self.traceparent)\""]), headers: Self.structured)
        #expect(fromField.text(fromField.event.traceparent) == Self.traceparent)
        let both = Decoding(
            envelope(["traceparent": "\"\(Self.traceparent)\""]), headers: Self.structured + [("traceparent", own)])
        #expect(both.text(both.event.traceparent) == own)
        let plain = Decoding(eventJSON(["traceparent": "\"\(Self.traceparent)\""]))
        #expect(!plain.event.traceparent.isPresent)
    }

    @Test(
        "A malformed trace context is dropped without harm",
        arguments: [
            "", "00", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331\r\n1",
            "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ])
    func badTraceparent(text: String) {
        let decoding = Decoding(eventJSON(), headers: [("traceparent", text)])
        #expect(decoding.failure == nil)
        #expect(!decoding.event.traceparent.isPresent)
    }
}
