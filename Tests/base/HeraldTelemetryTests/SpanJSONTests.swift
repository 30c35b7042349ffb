import HeraldBytes
import HeraldTelemetry
import Testing

@Suite("Spans in OTLP's JSON")
struct SpanJSONTests {
    private static let context = TraceContext(
        traceID: TraceID(high: 0x0AF7_6519_16CD_43DD, low: 0x8448_EB21_1C80_319C), spanID: 0xB7AD_6B71_6920_3331,
        isSampled: true)
    private static let head =
        #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"herald"}}]},"#
        + #""scopeSpans":[{"scope":{"name":"herald","version":"1.2.3"},"spans":["#

    private static func text(_ spans: [TraceSpan]) -> String {
        let writer = SpanJSON(resource: [SpanAttribute("service.name", "herald")], version: "1.2.3")
        return String(decoding: writer.encoded(spans), as: UTF8.self)
    }

    @Test("A root has no parent, ids are hexadecimal, and 64-bit numbers are strings")
    func root() {
        let span = TraceSpan(
            Self.context, parent: nil, name: "process notifications", kind: .consumer,
            startNanoseconds: 1_700_000_000_123_456_789, endNanoseconds: 1_700_000_001_000_000_000,
            attributes: [
                SpanAttribute("messaging.system", "kafka"), SpanAttribute("messaging.kafka.offset", Int64.max),
                SpanAttribute("herald.outcomes", ["apns delivered", #"gcm "quoted""#]),
            ])
        #expect(
            Self.text([span])
                == Self.head
                + #"{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","flags":1,"#
                + #""name":"process notifications","kind":5,"startTimeUnixNano":"1700000000123456789","#
                + #""endTimeUnixNano":"1700000001000000000","attributes":["#
                + #"{"key":"messaging.system","value":{"stringValue":"kafka"}},"#
                + #"{"key":"messaging.kafka.offset","value":{"intValue":"9223372036854775807"}},"#
                + #"{"key":"herald.outcomes","value":{"arrayValue":{"values":["#
                + #"{"stringValue":"apns delivered"},{"stringValue":"gcm \"quoted\""}]}}}]}]}]}]}"#)
    }

    @Test("Parent, link and failure appear when a span has them")
    func others() {
        let remote = TraceSpan(
            Self.context, parent: SpanParent(spanID: 1, isRemote: true), name: "n", kind: .client, startNanoseconds: 5,
            endNanoseconds: 4, attributes: [],
            link: TraceContext(traceID: TraceID(high: 0, low: 2), spanID: 3, isSampled: false), failure: "503")
        let local = TraceSpan(
            Self.context, parent: SpanParent(spanID: 255, isRemote: false), name: "n", kind: .producer,
            startNanoseconds: 0, endNanoseconds: 0, attributes: [])
        let ids = #"{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331""#
        #expect(
            Self.text([remote, local])
                == Self.head + ids
                + #","parentSpanId":"0000000000000001","flags":769,"name":"n","kind":3,"startTimeUnixNano":"5","#
                + #""endTimeUnixNano":"5","attributes":[],"#
                + #""links":[{"traceId":"00000000000000000000000000000002","spanId":"0000000000000003","flags":768}],"#
                + #""status":{"code":2,"message":"503"}},"# + ids
                + #","parentSpanId":"00000000000000ff","flags":257,"name":"n","kind":4,"startTimeUnixNano":"0","#
                + #""endTimeUnixNano":"0","attributes":[]}]}]}]}"#)
    }
}
