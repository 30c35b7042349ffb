import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite(
    "Records as large as the topics allow", .realKafka("Records as large as the topics allow"),
    .hangLimit)
struct LargeRecordTests {
    /// A binary CloudEvent for `user` with this source.
    private static func binary(_ id: String, user: String, source: String, more: [StoredRecord.Header] = [])
        -> Publication
    {
        var event = Publication(user: user, text: #"{"user":"\#(user)","pns":["apns"],"message":"Hello"}"#)
        event.headers =
            [
                .init("ce_specversion", "1.0"), .init("ce_type", "test"), .init("ce_id", id),
                .init("ce_source", source),
            ] + more
        return event
    }

    /// A plain event with a header of the publisher's own.
    private static func padded(_ id: String, user: String, bytes: Int, more: [String: String] = [:]) -> Publication {
        var event = Publication(id: id, user: user, more: more)
        event.headers = [.init("x-padding", String(repeating: "x", count: bytes))]
        return event
    }

    @Test(
        "Four records that would be too large again as results, retries and dead letters delay no others",
        arguments: ["atomic", "at-least-once"])
    func four(guarantee: String) async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.guarantee": guarantee]
        plan.misbehaviour = [.status(400) { $0.user = "refused" }, .status(503) { $0.user = "failing" }]
        try await Fixture.run(plan) { fixture in
            let text = String(repeating: "s", count: 60_000)
            let four = [
                Self.binary("quotes", user: "anna", source: String(repeating: "\"", count: 530_000)),
                Self.binary("plain", user: "refused", source: String(repeating: "s", count: 600_000)),
                Self.padded("source", user: "refused", bytes: 980_000, more: ["source": text]),
                Self.padded("campaign", user: "failing", bytes: 980_000, more: ["campaign": text]),
            ]
            _ = try await fixture.startWorker()
            try await fixture.publish(four + Batch.events(0..<100))
            try await fixture.waitForResults(104)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            let dead = ["": "dead-lettered oversized"]
            oracle.expectResults(
                Batch.delivered(0..<100).merging(["quotes": dead, "plain": dead, "source": dead, "campaign": dead]) {
                    $1
                })
            oracle.expectCalls { _ in 1 }
            #expect(fixture.deadLetters.count == 4)
            for letter in fixture.deadLetters {
                #expect(letter.value != nil)
                #expect(letter.heraldHeaders["herald-detail"]?.contains("at most") == true)
                #expect(letter.heraldHeaders["herald-source"] == nil && letter.heraldHeaders["herald-campaign"] == nil)
            }
        }
    }

    @Test(
        "A record that just fits its topic is retried and kept with only the parts that the call needs",
        arguments: ["atomic", "at-least-once"])
    func degraded(guarantee: String) async throws {
        var plan = Fixture.Plan()
        plan.settings = ["delivery.guarantee": guarantee, "retry.immediate": "0", "retry.delays": "[1s]"]
        plan.misbehaviour = [.status(400) { $0.user = "refused" }, .status(503) { $0.user = "failing" }]
        for topic in ["notifications.retry.1s", "notifications.dead-letter"] {
            plan.topicConfigurations[topic] = ["max.message.bytes": "1048588"]
        }
        try await Fixture.run(plan) { fixture in
            // A topic accepts 1 048 588 bytes; these leave some 300 of them.
            let records = [
                Self.binary(
                    "retried", user: "failing", source: "shop",
                    more: [.init("x-padding", String(repeating: "x", count: 1_048_200))]),
                Self.padded("refused", user: "refused", bytes: 1_048_300),
                Publication(key: Array("value".utf8), value: Array(repeating: UInt8(ascii: "v"), count: 1_048_480)),
                Publication(key: Array(repeating: UInt8(ascii: "k"), count: 1_048_400), value: Array("key".utf8)),
                {
                    var event = Publication(id: "key", user: "carla")
                    event.key = Array(repeating: UInt8(ascii: "k"), count: 1_048_400)
                    return event
                }(),
            ]
            _ = try await fixture.startWorker()
            try await fixture.publish(records + Batch.events(0..<100))
            try await fixture.waitForResults(105)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            func outcome(_ id: String) -> [String] { oracle.results.filter { $0.id == id }.map(\.summary) }
            #expect(outcome("retried") == ["dead-lettered attempts-exhausted 503 attempts 2"])
            #expect(outcome("refused") == ["dead-lettered rejected 400 attempts 1"])
            #expect(outcome("key") == ["delivered 200 attempts 1"])
            #expect(oracle.results.filter { $0.outcome == "delivered" }.count == 101)

            let retry = try #require(fixture.retries.first)
            #expect(retry.value == records[0].value)
            #expect(retry.originalHeaders.map(\.name) == ["ce_specversion", "ce_type", "ce_id", "ce_source"])
            #expect(retry.heraldHeaders["herald-omitted"] == "history,detail,headers")
            let omitted = Dictionary(
                fixture.deadLetters.map {
                    ($0.heraldHeaders["herald-reason"] ?? "", $0.heraldHeaders["herald-omitted"])
                }
            ) { first, _ in first }
            #expect(omitted["attempts-exhausted"] == "history,headers")
            #expect(omitted["rejected"] == "history,detail,headers")
            #expect(omitted["oversized"] == "detail,value")
            #expect(omitted["malformed"] == "detail,key")
        }
    }
}
