import HeraldBytes
import HeraldEvents
import HeraldTime
import Testing

@Suite("The rules of an event's fields")
struct EventRulesTests {
    @Test("A plain event is read in place")
    func plain() {
        let decoding = Decoding(
            #"{"id":"e-1","user":"ann@example.com","message":"Hi \"there\"","pns":["apns","gcm"],"source":"shop","#
                + #""campaign":"spring","time":"2026-11-21T08:40:26Z","expiresAt":"2026-11-21T09:00:00+00:00","#
                + #""notBefore":"2026-11-21T08:50:00Z","unknown":[1,{"a":null}]}"#)
        #expect(decoding.failure == nil)
        #expect(decoding.id == "e-1")
        #expect(decoding.user == "ann@example.com")
        #expect(decoding.message == #"Hi "there""#)
        #expect(decoding.pushServices == ["apns", "gcm"])
        #expect(decoding.text(decoding.event.source) == "shop")
        #expect(decoding.text(decoding.event.campaign) == "spring")
        #expect(decoding.event.expiresAt == WallTime(milliseconds: 1_795_251_600_000))
        #expect(decoding.event.notBefore == WallTime(milliseconds: 1_795_251_000_000))
        #expect(!decoding.event.user.isInScratch)
        #expect(decoding.event.message.isInScratch)
        #expect(!decoding.event.origin.isPresent)
        #expect(decoding.event.originPartition == 3)
        #expect(decoding.event.originOffset == 42)
    }

    @Test(
        "An event without an id, or with a null id, is identified by its place", arguments: [nil, "null"] as [String?])
    func defaultID(id: String?) {
        let decoding = Decoding(eventJSON(["id": id]))
        #expect(decoding.failure == nil)
        #expect(decoding.id == "notifications/3/42")
    }

    @Test(
        "An id has 1 to 128 characters of any kind",
        arguments: [
            ("a", true), (String(repeating: "x", count: 128), true), (String(repeating: "🎉", count: 128), true),
            ("a\\r\\nX: 1", true), ("\\u0000", true), ("", false), (String(repeating: "x", count: 129), false),
            (String(repeating: "é", count: 129), false),
        ])
    func idLength(id: String, isGood: Bool) {
        let decoding = Decoding(eventJSON(["id": "\"\(id)\""]))
        #expect((decoding.failure == nil) == isGood)
        #expect(decoding.failure?.reason == (isGood ? nil : .invalid))
        #expect(decoding.event.id.isPresent == isGood)
    }

    @Test(
        "A field of the wrong type is invalid",
        arguments: ["id", "user", "message", "source", "campaign", "time", "expiresAt", "notBefore"],
        ["1", "true", "[]", "{}", "[\"a\"]"])
    func wrongType(field: String, value: String) {
        let decoding = Decoding(eventJSON([field: value]))
        #expect(decoding.failure?.reason == .invalid)
        #expect(decoding.failure?.detail.hasPrefix("\(field) is ") == true)
    }

    @Test("A required field that is missing, null or empty is invalid", arguments: ["user", "message", "pns"])
    func required(field: String) {
        for value in [nil, "null", "\"\""] as [String?] {
            let decoding = Decoding(eventJSON([field: value]))
            #expect(decoding.failure?.reason == .invalid)
            #expect(decoding.failure?.detail.hasPrefix(field) == true)
        }
    }

    @Test(
        "An optional field that is null counts as absent",
        arguments: ["source", "campaign", "time", "expiresAt", "notBefore"])
    func optionalNull(field: String) {
        #expect(Decoding(eventJSON([field: "null"])).failure == nil)
    }

    @Test("A time that is not a date-time is invalid", arguments: ["time", "expiresAt", "notBefore"])
    func badTime(field: String) {
        for text in ["", "tomorrow", "2026-11-21", "2026-02-30T00:00:00Z", "1795250426"] {
            #expect(Decoding(eventJSON([field: "\"\(text)\""])).failure?.reason == .invalid)
        }
        #expect(Decoding(eventJSON([field: #""2026-11-21T08:40:26\u005A""#])).failure == nil)
    }

    @Test("A message has at most 4096 bytes of UTF-8, counted after its escapes are resolved")
    func messageSize() {
        let longest = String(repeating: "é", count: 2_048)
        #expect(Decoding(eventJSON(["message": "\"\(longest)\""])).failure == nil)
        #expect(Decoding(eventJSON(["message": "\"\(longest)x\""])).failure?.reason == .oversized)
        let escaped = String(repeating: "\\u00e9", count: 2_048)
        #expect(Decoding(eventJSON(["message": "\"\(escaped)\""])).message == longest)
    }

    @Test("A failure never repeats the message's text")
    func noMessageText() {
        let secret = "the code is 271828"
        let decoding = Decoding(eventJSON(["message": "\"\(secret)\"", "user": "\"a b\""]))
        #expect(decoding.failure?.detail.contains("271828") == false)
    }

    @Test("A value over the limit is oversized without being read, one at the limit is read")
    func valueSize() {
        let value = eventJSON()
        let exact = RecordDecoder(maxEventBytes: value.utf8.count)
        #expect(Decoding(value, decoder: exact).failure == nil)
        #expect(Decoding(value + " ", decoder: exact).failure?.reason == .oversized)
    }

    @Test(
        "Push services are one name or a list, in any case, each counted once",
        arguments: [
            (#""apns""#, ["apns"]), (#"["WNS","apns","Apns"]"#, ["apns", "wns"]), (#"[ "gcm" , "fcm" ]"#, ["gcm"]),
            (#""FCM""#, ["gcm"]), (#"["\u0061pns"]"#, ["apns"]),
        ])
    func pushServices(pns: String, names: [String]) throws {
        let services = try PushServices(names: ["apns", "gcm", "wns"], aliases: ["fcm": "gcm"])
        let decoding = Decoding(eventJSON(["pns": pns]), decoder: RecordDecoder(pushServices: services))
        #expect(decoding.failure == nil)
        #expect(decoding.pushServices == names)
        #expect(decoding.event.scratch.isEmpty)
    }

    @Test(
        "Unknown push services, and values that are no names, are invalid",
        arguments: [
            #""mpns""#, #"["apns","sms"]"#, "[]", #"["apns",1]"#, #"["apns",null]"#, "7", "{}", #""apns,gcm""#,
            #"[[]]"#,
            #"" apns""#, #"["apns",""]"#,
        ])
    func badPushServices(pns: String) {
        #expect(Decoding(eventJSON(["pns": pns])).failure?.reason == .invalid)
    }

    @Test("The reason names the unknown push service and the allowed ones")
    func unknownPushService() {
        let detail = Decoding(eventJSON(["pns": #""sms""#])).failure?.detail
        #expect(detail == "pns holds \"sms\"; allowed are apns, gcm, wns, fcm")
    }

    @Test("An event that breaks a rule still has its id and user for the result")
    func identityOfFailures() {
        let decoding = Decoding(eventJSON(["pns": #""sms""#, "source": #""shop""#]))
        #expect(decoding.id == "e-1")
        #expect(decoding.user == "ann")
        #expect(decoding.text(decoding.event.source) == "shop")
        let nameless = Decoding(eventJSON(["pns": #""sms""#, "id": nil]))
        #expect(nameless.id == "notifications/3/42")
        #expect(Decoding("{").id == nil)
    }

    @Test("A reused event keeps no data of the former one")
    func reuse() {
        var event = DecodedEvent()
        let decoder = RecordDecoder()
        var headers = HeaderList()
        headers.append("herald-replays", "2")
        headers.append("herald-origin", "notifications/0/1")
        let first = Array(eventJSON(["message": #""a\nb""#, "expiresAt": #""2026-11-21T08:40:26Z""#]).utf8)
        let second = Array(eventJSON(["id": nil]).utf8)
        var failure = decoder.decode(
            topicKind: .request, topic: "t", partition: 0, offset: 7, value: first.span.bytes, headers: headers,
            into: &event)
        #expect(failure == nil)
        failure = decoder.decode(
            topicKind: .request, topic: "t", partition: 0, offset: 8, value: second.span.bytes,
            headers: HeaderList(), into: &event)
        #expect(failure == nil)
        #expect(event.expiresAt == nil)
        #expect(event.replays == 0)
        #expect(!event.origin.isPresent)
        #expect(String(decoding: event.scratch, as: UTF8.self) == "t/0/8")
    }
}
