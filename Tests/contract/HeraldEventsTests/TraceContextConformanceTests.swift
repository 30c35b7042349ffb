import HeraldEvents
import Testing

/// What W3C's own tests of Trace Context (w3c/trace-context, `test/test.py`) ask of a service that gets a `traceparent`, here
/// in a record's header.
///
/// Two of them are of HTTP alone: a header in two lines, and white space around its value.
@Suite("W3C's tests of a traceparent")
struct TraceContextConformanceTests {
    private static let trace = "12345678901234567890123456789012"
    private static let parent = "1234567890123456"

    private func isTaken(_ traceparent: String) -> Bool {
        let decoding = Decoding(eventJSON(), headers: [("traceparent", traceparent)])
        #expect(decoding.failure == nil, "an event never fails for its trace")
        return decoding.event.traceparent.isPresent
    }

    @Test(
        "One that is valid is taken along, also of a version to come and with unknown flags",
        arguments: [
            "00-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-00", "cc-\(trace)-\(parent)-01",
            "00-\(trace)-\(parent)-ff",
        ])
    func valid(traceparent: String) { #expect(isTaken(traceparent)) }

    @Test(
        "One with a wrong version is dropped",
        arguments: [
            "ff-\(trace)-\(parent)-01", ".0-\(trace)-\(parent)-01", "0.-\(trace)-\(parent)-01",
            "000-\(trace)-\(parent)-01",
            "0000-\(trace)-\(parent)-01", "0-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-01.",
            "00-\(trace)-\(parent)-01-what-the-future-will-be-like", "cc-\(trace)-\(parent)-01.what-the-future",
        ])
    func version(traceparent: String) { #expect(!isTaken(traceparent)) }

    @Test(
        "One with a wrong trace or span id or flags is dropped",
        arguments: [
            "00-00000000000000000000000000000000-\(parent)-01", "00-.2345678901234567890123456789012-\(parent)-01",
            "00-1234567890123456789012345678901.-\(parent)-01", "00-\(trace)3-\(parent)-01",
            "00-1234567890123456789012345678901-\(parent)-01", "00-\(trace)-0000000000000000-01",
            "00-\(trace)-.234567890123456-01", "00-\(trace)-123456789012345.-01", "00-\(trace)-\(parent)7-01",
            "00-\(trace)-123456789012345-01", "00-\(trace)-\(parent)-.0", "00-\(trace)-\(parent)-0.",
            "00-\(trace)-\(parent)-001", "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)", "", "foobar",
            "00-ABCDEF78901234567890123456789012-\(parent)-01",
        ])
    func ids(traceparent: String) { #expect(!isTaken(traceparent)) }

    @Test(
        "One of a version to come with more behind is dropped, where W3C would keep its ids")
    func future() { #expect(!isTaken("cc-\(Self.trace)-\(Self.parent)-01-what-the-future-will-be-like")) }
}
