import HeraldTime
import Testing

@testable import HeraldEvents

@Suite("Values of other programs")
struct ForeignValueTests {
    private static let event = #"{"id":"e","user":"ann","pns":"apns","message":"Hi"}"#
    private static let quoted = #"{\"id\":\"e\",\"user\":\"ann\"}"#
    private static let change = #"{"before":null,"after":{"id":1},"source":{"db":"shop"},"op":"c","ts_ms":1}"#

    private func detail(_ value: [UInt8], _ headers: [(String, String?)] = []) -> String {
        Decoding(value, headers: headers).failure?.detail ?? "an event"
    }

    @Test("A string that contains an object may have been serialized twice, and the detail asks this")
    func twice() {
        let words = "; it is a string that holds an object: was it serialized twice?"
        let value = Array("\"\(Self.quoted)\"".utf8)
        #expect(detail(value).hasSuffix(words))
        #expect(detail([0, 0, 0, 0, 1] + value).hasSuffix(words))
        #expect(detail(Array(#""eyJpZCI6ImUifQ==""#.utf8)).hasSuffix(words))
        let envelope = #"{"specversion":"1.0","id":"i","source":"s","type":"t","data":"\#(Self.quoted)"}"#
        #expect(detail(Array(envelope.utf8), [("content-type", "application/cloudevents+json")]).hasSuffix(words))
        for other in [#""Hi""#, #""{" x"#, #""user": "{","#] {
            #expect(!detail(Array(other.utf8)).contains("twice"), "\(other)")
        }
    }

    @Test("An array is named")
    func array() {
        #expect(detail(Array("[\(Self.event)]".utf8)).hasSuffix("; it is an array, and a record holds one event"))
    }

    @Test("The envelopes of Kafka Connect and Debezium are named with the setting that removes them")
    func envelopes() {
        let connect = #"{"schema":{"type":"struct"},"payload":\#(Self.event)}"#
        #expect(detail(Array(connect.utf8)).contains("value.converter.schemas.enable=false"))
        #expect(detail(Array(Self.change.utf8)).contains("a change event of Debezium"))
        let both = detail(Array(#"{"schema":{},"payload":\#(Self.change)}"#.utf8))
        #expect(both.contains("schemas.enable=false") && both.contains("Debezium"))
    }

    @Test("An event with such members beside its own is valid, and its other mistakes are reported as usual")
    func ownMembers() {
        #expect(Decoding(eventJSON(["schema": "1", "payload": "{}", "op": "1", "after": "1"])).failure == nil)
        #expect(!detail(Array(eventJSON(["schema": "1", "payload": "{}", "pns": "1"]).utf8)).contains("Connect"))
    }

    @Test("UTF-16 is named, in either byte order, with a mark or without", arguments: [true, false])
    func utf16(isLittle: Bool) {
        let units = Array(Self.event.utf16)
        let bytes = units.flatMap { unit in
            let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return isLittle ? pair.reversed() : pair
        }
        let mark: [UInt8] = isLittle ? [0xFF, 0xFE] : [0xFE, 0xFF]
        #expect(detail(bytes) == "the value is UTF-16; Herald reads UTF-8")
        #expect(detail(mark + bytes) == "the value is UTF-16; Herald reads UTF-8")
    }
}
