import HeraldEvents
import Testing

@Suite("Values of a schema registry's serializer")
struct SchemaRegistryTests {
    /// The magic byte and the id 258 of a schema.
    private static let frame: [UInt8] = [0, 0, 0, 1, 2]

    @Test("An event in JSON is read after the magic byte and the schema's id")
    func json() {
        let decoding = Decoding(Self.frame + Array(eventJSON(["message": #""H\u00e9""#]).utf8))
        #expect(decoding.failure == nil)
        #expect(decoding.id == "e-1" && decoding.user == "ann" && decoding.message == "Hé")
    }

    @Test("A CloudEvent's event is read likewise, structured or binary")
    func cloudEvents() {
        let data = eventJSON(["id": nil])
        let envelope = #"{"specversion":"1.0","id":"c-1","source":"/s","type":"t","data":\#(data)}"#
        let structured = Decoding(
            Self.frame + Array(envelope.utf8), headers: [("content-type", "application/cloudevents+json")])
        #expect(structured.failure == nil && structured.id == "c-1" && structured.user == "ann")
        let binary = Decoding(
            Self.frame + Array(data.utf8),
            headers: [("ce_specversion", "1.0"), ("ce_id", "c-2"), ("ce_source", "/s"), ("ce_type", "t")])
        #expect(binary.failure == nil && binary.id == "c-2" && binary.user == "ann")
    }

    @Test(
        "Avro and Protobuf are malformed, and the detail names the readable formats and the schema",
        arguments: [[0x06, 0x61, 0x6E, 0x6E], [0x00, 0x0A, 0x03, 0x61, 0x6E, 0x6E], [0x7B, 0x61]] as [[UInt8]])
    func binaryFormats(payload: [UInt8]) {
        let failure = Decoding(Self.frame + payload).failure
        #expect(failure?.reason == .malformed)
        #expect(failure?.detail.contains("schema id 258") == true, "\(failure?.detail ?? "")")
        #expect(failure?.detail.contains("not Avro or Protobuf") == true)
    }

    @Test("A frame without a value, or cut off, is malformed", arguments: 1...5)
    func cutOff(count: Int) {
        #expect(Decoding(Array(Self.frame.prefix(count))).failure?.reason == .malformed)
    }
}
