import HeraldEvents
import HeraldText
import Testing

@testable import HeraldTools

@Suite("The preparation of events for records")
struct EventPreparationTests {
    private func preparation(
        base: String = "run", eventBytes: Int = 65_536, services: PushServices = .standard
    ) -> EventPreparation {
        EventPreparation(
            decoder: RecordDecoder(pushServices: services, maxEventBytes: eventBytes), idBase: base)
    }

    private func line(_ text: String, number: Int = 7) -> TextLine {
        TextLine(number: number, bytes: Array(text.utf8), byteCount: text.utf8.count)
    }

    @Test(
        "An event without an id gets one, and an event without room for it stays unchanged",
        arguments: [
            (
                #"{"user":"u","message":"m","pns":"apns"}"#, "run-7",
                #"{"id":"run-7","user":"u","message":"m","pns":"apns"}"#
            ),
            (
                #" {"user":"u","message":"{","pns":"apns","x":{}} "#, "run-7",
                #" {"id":"run-7","user":"u","message":"{","pns":"apns","x":{}} "#
            ),
            (
                #"{"user":"u","message":"m","pns":"apns","id":"mine"}"#, "mine",
                #"{"user":"u","message":"m","pns":"apns","id":"mine"}"#
            ),
            (
                #"{"user":"u","message":"m","pns":"apns","id":null}"#, nil,
                #"{"user":"u","message":"m","pns":"apns","id":null}"#
            ),
        ] as [(String, String?, String)])
    func ids(text: String, id: String?, value: String) throws {
        var preparation = preparation()
        let event = try preparation.prepare(line(text))
        #expect(event.id == id && event.user == "u" && event.line == 7)
        #expect(String(decoding: event.value, as: UTF8.self) == value)
    }

    @Test("A line with a specversion is a structured CloudEvent, and becomes a record unchanged")
    func cloudEvent() throws {
        var preparation = preparation()
        let text =
            #"{"data":{"user":"u","message":"m","pns":"wns"},"specversion":"1.0","type":"t","source":"s","id":"i"}"#
        let event = try preparation.prepare(line(text))
        #expect(event.isCloudEvent && event.id == "i" && event.user == "u")
        #expect(String(decoding: event.value, as: UTF8.self) == text)
        #expect(try !preparation.prepare(line(#"{"user":"u","message":"m","pns":"apns"}"#)).isCloudEvent)
        let mistake = #expect(throws: InputError.self) {
            try preparation.prepare(line(#"{"specversion":"0.3","type":"t","source":"s","id":"i","data":{}}"#))
        }
        #expect(mistake?.message.contains("specversion is not 1.0") == true)
    }

    @Test("A line at the size limit gets no id, and a line one byte longer is refused")
    func size() throws {
        let text = #"{"user":"u","message":"m","pns":"apns"}"#
        var exact = preparation(eventBytes: text.utf8.count)
        #expect(try exact.prepare(line(text)).id == nil)
        var small = preparation(eventBytes: text.utf8.count - 1)
        let mistake = #expect(throws: InputError.self) { try small.prepare(line(text)) }
        #expect(mistake?.message.hasPrefix("oversized: ") == true && mistake?.line == 7)
    }

    @Test(
        "An event that Herald would refuse is refused, with its reason and without the message",
        arguments: [
            (#"{"user":"josé","message":"SECRET","pns":"apns"}"#, DeadLetterReason.invalid, "U+00E9"),
            (#"{"user":"u","message":"SECRET","pns":"sms"}"#, .invalid, "apns, gcm, wns"),
            (#"{"user":"u","message":"SECRET"}"#, .invalid, "pns is missing"),
            (#"["SECRET"]"#, .malformed, "not a JSON object"),
        ])
    func mistakes(text: String, reason: DeadLetterReason, words: String) {
        var preparation = preparation()
        let mistake = #expect(throws: InputError.self) { try preparation.prepare(line(text)) }
        #expect(mistake?.message.hasPrefix("\(reason.rawValue): ") == true)
        #expect(mistake?.description.contains(words) == true, "\(String(describing: mistake))")
        #expect(mistake?.description.contains("SECRET") == false)
    }

    @Test("A base that makes an id too long is a mistake, not a reason to omit the id")
    func longBase() {
        var preparation = preparation(base: String(repeating: "x", count: 127))
        let mistake = #expect(throws: InputError.self) {
            try preparation.prepare(line(#"{"user":"u","message":"m","pns":"apns"}"#))
        }
        #expect(mistake?.message.contains("128 characters") == true)
    }

    @Test("A single event takes the base as its id unless it has its own, and aliases are resolved")
    func single() throws {
        let services = try PushServices(names: ["apns", "gcm"], aliases: ["fcm": "gcm"])
        let preparation = preparation(services: services)
        let event = try preparation.prepare(NotificationEvent(user: "u", message: "m", pushServices: ["FCM"]))
        #expect(event.id == "run" && event.pushServices == PushServiceSet(index: 1))
        let own = try preparation.prepare(NotificationEvent(id: "a", user: "u", message: "m", pushServices: ["apns"]))
        #expect(own.id == "a")
        #expect(throws: InputError.self) {
            try preparation.prepare(NotificationEvent(user: "u", message: "", pushServices: ["apns"]))
        }
    }

    @Test("New ids are 32 hexadecimal digits, different each time")
    func randomIDs() {
        let ids = (0..<100).map { _ in EventPreparation.randomID() }
        #expect(Set(ids).count == 100)
        #expect(ids.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }
}
