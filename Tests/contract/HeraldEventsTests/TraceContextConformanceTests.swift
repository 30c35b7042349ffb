import HeraldEvents
import TestSupport
import Testing

/// W3C's requirements on a service that receives a `traceparent`, here in a record's header.
@Suite("W3C's tests of a traceparent")
struct TraceContextConformanceTests {
    private func isTaken(_ traceparent: String) -> Bool {
        let decoding = Decoding(eventJSON(), headers: [("traceparent", traceparent)])
        #expect(decoding.failure == nil, "an event never fails for its trace")
        return decoding.event.traceparent.isPresent
    }

    @Test(
        "A valid traceparent is passed on, even of a future version and with unknown flags",
        arguments: TraceContextCases.valid)
    func valid(traceparent: String) { #expect(isTaken(traceparent)) }

    @Test("A traceparent with an invalid version is dropped", arguments: TraceContextCases.wrongVersions)
    func version(traceparent: String) { #expect(!isTaken(traceparent)) }

    @Test("A traceparent with an invalid trace id, span id or flags is dropped", arguments: TraceContextCases.wrongIDs)
    func ids(traceparent: String) { #expect(!isTaken(traceparent)) }

    @Test("A future version's traceparent with further fields is dropped, where W3C would keep its ids")
    func future() {
        #expect(!isTaken("cc-\(TraceContextCases.trace)-\(TraceContextCases.parent)-01-what-the-future-will-be-like"))
    }
}
