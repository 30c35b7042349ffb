import HeraldBytes
import HeraldSandbox
import TestSupport
import Testing

/// W3C's tests of Trace Context, from a record on a broker to the request at the backend.
@Suite("W3C's tests of a traceparent, over a worker", .realKafka("W3C's tests of a traceparent"))
struct TraceContextTests {
    private static let wrong = TraceContextCases.wrongVersions + TraceContextCases.wrongIDs

    /// An event for each of them, for a user of its own.
    private static let events = (TraceContextCases.valid + wrong).enumerated().map { number, traceparent in
        var event = Publication(id: "\(number)", user: "user-\(number)")
        event.headers = [.init("traceparent", traceparent), .init("tracestate", "rojo=1,congo=2")]
        return event
    }

    /// The `traceparent` that a worker with these settings sends for each of them.
    private static func sent(_ settings: [String: String]) async throws -> [String?] {
        var plan = Fixture.Plan()
        plan.settings = settings
        var sent: [String?] = []
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(events)
            try await fixture.waitForResults(events.count)
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let calls = Dictionary(grouping: fixture.backend.calls, by: \.user)
            #expect(calls.count == events.count && calls.values.allSatisfy { $0.count == 1 })
            sent = events.indices.map { calls["user-\($0)"]?.first?.traceparent }
        }
        return sent
    }

    @Test("Without traces the backend gets a valid one unchanged, and none in place of a wrong one")
    func passedOn() async throws {
        let sent = try await Self.sent([:])
        #expect(sent == TraceContextCases.valid.map { $0 } + Self.wrong.map { _ in nil })
    }

    @Test("With traces the call is a span of the named trace, or of a new one in place of a wrong one")
    func continued() async throws {
        let collector = try StubCollector()
        defer { collector.stop() }
        let sent = try await Self.sent(["traces.url": collector.url]).map { $0.flatMap(Self.context) }
        let valid = TraceContextCases.valid.map(Self.context)
        for (call, given) in zip(sent, valid) {
            #expect(call?.traceID == given?.traceID && call?.isSampled == given?.isSampled)
            // Unsampled ones are only passed on.
            #expect((call?.spanID == given?.spanID) == (given?.isSampled == false))
        }
        let begun = sent.dropFirst(valid.count)
        #expect(begun.allSatisfy { $0 != nil && $0?.traceID != valid.first??.traceID })
        #expect(Set(begun.map { $0?.traceID }).count == Self.wrong.count, "each wrong one is a trace of its own")
    }

    private static func context(_ text: String) -> TraceContext? { TraceContext(text.utf8.span.bytes) }
}
