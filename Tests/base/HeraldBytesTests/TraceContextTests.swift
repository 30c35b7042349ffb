import HeraldBytes
import Testing

@Suite("Trace contexts")
struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"

    private func read(_ text: String) -> TraceContext? { TraceContext(text.utf8.span.bytes) }

    @Test("A traceparent is read and written", arguments: [("01", true), ("00", false)])
    func roundTrip(flags: String, isSampled: Bool) throws {
        let text = "00-\(Self.trace)-b7ad6b7169203331-\(flags)"
        let context = try #require(read(text))
        #expect(context.traceID == TraceID(high: 0x0AF7_6519_16CD_43DD, low: 0x8448_EB21_1C80_319C))
        #expect(context.spanID == 0xB7AD_6B71_6920_3331 && context.isSampled == isSampled)
        #expect(String(decoding: context.bytes, as: UTF8.self) == text)
    }

    @Test("Other versions and flags are read, and written as this version's")
    func later() throws {
        let context = try #require(read("cc-\(Self.trace)-0000000000000001-ff"))
        #expect(String(decoding: context.bytes, as: UTF8.self) == "00-\(Self.trace)-0000000000000001-01")
    }

    @Test(
        "A malformed traceparent is ignored",
        arguments: [
            "", "00", "00-\(trace)-b7ad6b7169203331-0", "00-\(trace)-b7ad6b7169203331-01-",
            "ff-\(trace)-b7ad6b7169203331-01", "00-\(trace)-0000000000000000-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00_\(trace)-b7ad6b7169203331-01",
            "00-\(trace)-b7ad6b7169203331 01", "00-\(trace.uppercased())-b7ad6b7169203331-01",
            "0g-\(trace)-b7ad6b7169203331-01", "00-\(trace)-b7ad6b716920333:-01",
        ])
    func malformed(text: String) {
        #expect(read(text) == nil)
    }

    @Test("Half of a trace's id may be zeros", arguments: [TraceID(high: 0, low: 1), TraceID(high: 1, low: 0)])
    func half(traceID: TraceID) {
        let context = TraceContext(traceID: traceID, spanID: 1, isSampled: true)
        #expect(TraceContext(context.bytes.span.bytes) == context)
    }
}
