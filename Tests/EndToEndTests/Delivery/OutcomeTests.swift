import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Each kind of event, end to end", .realKafka("Each kind of event, end to end"))
struct OutcomeTests {
    private static let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// A kind of event, and the summary of the result that each push service must get.
    private struct Case {
        /// Absent when it cannot be read.
        var id: String?
        var publication: Publication
        var results: [String: String]
    }

    @Test("Every kind of event gets exactly the results of the design")
    func everyKind() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [
            .status(400) { ($0.user, $0.pns) = ("split", "wns") },
            .status(503) { ($0.user, $0.callsPerKey) = ("flaky", 1) },
            .status(404) { $0.user = "gone" },
        ]
        try await Fixture.run(plan) { fixture in
            let cases = Self.delivered() + Self.failed()
            let worker = try await fixture.startWorker()
            let tombstone = Publication(key: Array("user".utf8), value: nil)
            try await fixture.publish([tombstone] + cases.map(\.publication) + [tombstone])
            try await fixture.waitForResults(cases.map(\.results.count).reduce(0, +))
            try await fixture.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)

            let oracle = try await Oracle(fixture)
            var expected: [String: [String: String]] = [:]
            for item in cases {
                let request = try #require(oracle.requests.first { $0.value == item.publication.value })
                expected[item.id ?? request.place] = item.results
                guard item.results.values.contains(where: { $0.hasPrefix("delivered") }) else { continue }
                for service in item.results.keys {
                    let key = "\(item.id ?? request.place):\(service)"
                    #expect(oracle.calls.contains { $0.notification == key }, "\(key) was not called")
                }
            }
            oracle.expectResults(expected)
            oracle.expectNothingPassed(try await fixture.committed())
            oracle.expectCalls { $0.hasPrefix("flaky:") ? 2 : 1 }
            // The split event's, and one for each event that fails.
            #expect(fixture.deadLetters.count == 1 + Self.failed().count)
        }
    }

    private static let ok = "delivered 200 attempts 1"

    private static func moment(_ secondsFromNow: Double) -> String {
        ISO8601DateFormatter().string(from: Date.now.addingTimeInterval(secondsFromNow))
    }

    private static func delivered() -> [Case] {
        let plain = """
            {"id":"plain","user":"anna","pns":["apns","GCM","apns"],"message":"Grüße","source":"shop",\
            "campaign":"spring","time":"2026-01-02T03:04:05Z","expiresAt":"\(moment(3_600))","unknown":{"a":[1]}}
            """
        let structured = """
            {"specversion":"1.0","type":"t","id":"structured","source":"/crm",\
            "data":{"user":"berta","pns":["wns"],"message":"Hello"}}
            """
        let attributes: [StoredRecord.Header] = [
            .init("ce_specversion", "1.0"), .init("ce_type", "t"), .init("ce_id", "binary"),
            .init("ce_source", "/crm"), .init("ce_traceparent", traceparent),
        ]
        var bulk = Publication(id: "bulk", user: "dora")
        bulk.topic = "notifications.bulk"
        return [
            Case(id: "plain", publication: Publication(user: "anna", text: plain), results: ["apns": ok, "gcm": ok]),
            Case(
                id: "structured",
                publication: Publication(
                    user: "berta", text: structured,
                    headers: [.init("content-type", "application/cloudevents+json; charset=utf-8")]),
                results: ["wns": ok]),
            Case(
                id: "binary",
                publication: Publication(
                    user: "carl", text: #"{"user":"carl","pns":["gcm"],"message":"Hello"}"#, headers: attributes),
                results: ["gcm": ok]),
            Case(
                publication: Publication(user: "nameless", text: #"{"user":"nameless","pns":"apns","message":"x"}"#),
                results: ["apns": ok]),
            Case(id: "bulk", publication: bulk, results: ["apns": ok]),
            Case(id: "tag", publication: Publication(id: "tag", user: "A.b@c#d:e-f_9"), results: ["apns": ok]),
            Case(
                id: "split", publication: Publication(id: "split", user: "split", pns: ["apns", "gcm", "wns"]),
                results: ["apns": ok, "gcm": ok, "wns": "dead-lettered rejected 400 attempts 1"]),
            Case(
                id: "flaky", publication: Publication(id: "flaky", user: "flaky"),
                results: ["apns": "delivered 200 attempts 2"]),
            Case(
                id: "later", publication: Publication(id: "later", user: "emil", more: ["notBefore": moment(2)]),
                results: ["apns": ok]),
        ]
    }

    private static func failed() -> [Case] {
        func failing(_ id: String, _ publication: Publication, _ results: [String: String]) -> Case {
            Case(id: id, publication: publication, results: results)
        }
        return [
            failing(
                "gone", Publication(id: "gone", user: "gone"), ["apns": "dead-lettered rejected 404 attempts 1"]),
            failing(
                "late", Publication(id: "late", user: "fritz", pns: ["apns", "wns"], more: ["expiresAt": moment(-60)]),
                ["apns": "expired attempts 0", "wns": "expired attempts 0"]),
            failing("sms", Publication(id: "sms", user: "gerd", pns: ["apns", "sms"]), ["": "dead-lettered invalid"]),
            failing("josé", Publication(id: "josé", user: "josé"), ["": "dead-lettered invalid"]),
            failing("empty", Publication(id: "empty", user: "hans", message: ""), ["": "dead-lettered invalid"]),
            Case(
                id: "big",
                publication: Publication(
                    id: "big", user: "ida", more: ["note": String(repeating: "x", count: 66_000)]),
                results: ["": "dead-lettered oversized"]),
            Case(
                id: "broken",
                publication: Publication(user: "kurt", text: #"{"id":"broken","user":"#),
                results: ["": "dead-lettered malformed"]),
        ]
    }

    @Test("A result has exactly the members of the design, and a device gets exactly the message")
    func results() async throws {
        try await Fixture.run { fixture in
            let message = "Quote \" backslash \\ tab \t line \u{2028} zero-width \u{200B} emoji 👩‍👩‍👧 ü + & # %"
            try Self.register("phone", user: "anna", at: fixture.backend)
            _ = try await fixture.startWorker()
            var traced = Publication(id: "traced", user: "anna", message: message, more: ["source": "shop"])
            traced.headers = [.init("traceparent", Self.traceparent), .init("authorization", "Basic c2VjcmV0")]
            let broken = Publication(key: nil, value: [0xFF, 0x00, 0x7B])
            let past = Publication(
                id: "late", user: "anna", more: ["expiresAt": "2020-01-01T00:00:00Z", "campaign": "c"])
            try await fixture.publish([traced, broken, past])
            try await fixture.waitForResults(3)

            let always: Set = ["outcome", "completedAt", "origin"]
            let results = try fixture.results
            for (id, members) in [
                "traced": always.union(["id", "pns", "user", "status", "attempts", "firstAttemptAt", "source"]),
                "late": always.union(["id", "pns", "user", "attempts", "campaign", "detail"]),
                "": always.union(["reason", "detail"]),
            ] {
                let result = try #require(results.first { $0.id ?? "" == id })
                #expect(result.members == members)
                #expect(result.record.headers.isEmpty)
                let request = try #require(fixture.requests.first { $0.place == result.origin })
                #expect(result.record.key == request.key)
            }
            let payload = try #require(fixture.backend.payloads(ofHandle: "phone").first)
            let object = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: [String: String]]
            #expect(object?["aps"]?["alert"] == "From herald: \(message)")
            #expect(fixture.backend.calls.map(\.traceparent) == [Self.traceparent])
            #expect(fixture.backend.calls.map(\.notification) == ["traced:apns"])
        }
    }

    /// Registers an Apple device of a user with the reference backend, like an app.
    private static func register(_ handle: String, user: String, at backend: ReferenceBackend) throws {
        let password = Data("\(user):\(user)".utf8).base64EncodedString()
        let headers = ["Authorization": "Basic \(password)", "Content-Type": "application/json"]
        let answer = try PlainHTTP.request(
            port: backend.port, "POST", "/api/register?handle=\(handle)", headers: headers, body: "")
        let id = answer.text.trimmingCharacters(in: ["\""])
        let put = try PlainHTTP.request(
            port: backend.port, "PUT", "/api/register/\(id)", headers: headers,
            body: #"{"Platform":"apns","Handle":"\#(handle)","Tags":[]}"#)
        #expect(put.status == 200)
    }
}
