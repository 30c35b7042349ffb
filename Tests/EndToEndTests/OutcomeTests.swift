import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Each kind of event, end to end", .realKafka("Each kind of event, end to end"))
struct OutcomeTests {
    private static let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// A kind of event, and the summary of the result that each push service has to get.
    private struct Case {
        var publication: Publication
        var results: [String: String]
    }

    @Test("Every kind of event gets exactly the results of the design, and no others")
    func everyKind() async throws {
        var plan = World.Plan()
        plan.misbehaviour = [
            .status(400) { ($0.user, $0.pns) = ("split", "wns") },
            .status(503) { ($0.user, $0.callsPerKey) = ("flaky", 1) },
            .status(404) { $0.user = "gone" },
        ]
        try await World.run(plan) { world in
            let cases = Self.cases()
            let worker = try await world.startWorker()
            try await world.publish(cases.map(\.value.publication) + [Self.tombstone, Self.withoutID])
            try await world.waitForResults(cases.values.map(\.results.count).reduce(1, +))
            try await world.waitUntilAllIsCommitted()
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)

            let oracle = try await Oracle(world)
            var expected = cases.mapValues(\.results)
            let nameless = try #require(world.requests.first { $0.keyText == "nameless" })
            expected[nameless.place] = ["apns": "delivered 200 attempts 1"]
            oracle.expectResults(expected)
            oracle.expectNothingPassed(try await world.committed())
            oracle.expectCalls { key in
                key.hasPrefix("flaky:") ? 2 : 1
            }
            let delivered = Set(oracle.calls.filter { $0.status == 200 }.map { $0.idempotencyKey })
            #expect(delivered.contains("\(nameless.place):apns"))
            #expect(world.deadLetters.count == 8)
        }
    }

    private static let tombstone = Publication(key: Array("user".utf8), value: nil)
    private static let withoutID = Publication(
        user: "nameless", text: #"{"user":"nameless","pns":"apns","message":"no id"}"#)

    private static func cases() -> [String: Case] {
        let ok = "delivered 200 attempts 1"
        let past = ISO8601DateFormatter().string(from: Date.now.addingTimeInterval(-60))
        let future = ISO8601DateFormatter().string(from: Date.now.addingTimeInterval(3_600))
        let soon = ISO8601DateFormatter().string(from: Date.now.addingTimeInterval(2))
        var cases: [String: Case] = [:]
        func add(_ id: String, _ publication: Publication, _ results: [String: String]) {
            cases[id] = Case(publication: publication, results: results)
        }
        add(
            "plain",
            Publication(
                user: "anna",
                text: """
                    {"id":"plain","user":"anna","pns":["apns","GCM","apns"],"message":"Grüße","source":"shop",\
                    "campaign":"spring","time":"2026-01-02T03:04:05Z","expiresAt":"\(future)","unknown":{"a":[1]}}
                    """), ["apns": ok, "gcm": ok])
        add(
            "structured",
            Publication(
                user: "berta",
                text: """
                    {"specversion":"1.0","type":"t","id":"structured","source":"/crm",\
                    "data":{"user":"berta","pns":["wns"],"message":"Hello"}}
                    """, headers: [.init("content-type", "application/cloudevents+json; charset=utf-8")]),
            ["wns": ok])
        add(
            "binary",
            Publication(
                user: "carl", text: #"{"user":"carl","pns":["gcm"],"message":"Hello"}"#,
                headers: [
                    .init("ce_specversion", "1.0"), .init("ce_type", "t"), .init("ce_id", "binary"),
                    .init("ce_source", "/crm"), .init("ce_traceparent", traceparent),
                ]), ["gcm": ok])
        var bulk = Publication(id: "bulk", user: "dora")
        bulk.topic = "notifications.bulk"
        add("bulk", bulk, ["apns": ok])
        add("alphabet", Publication(id: "alphabet", user: "A.b@c#d:e-f_9"), ["apns": ok])
        add(
            "split", Publication(id: "split", user: "split", pns: ["apns", "gcm", "wns"]),
            [
                "apns": ok, "gcm": ok, "wns": "dead-lettered rejected 400 attempts 1",
            ])
        add("flaky", Publication(id: "flaky", user: "flaky"), ["apns": "delivered 200 attempts 2"])
        add("gone", Publication(id: "gone", user: "gone"), ["apns": "dead-lettered rejected 404 attempts 1"])
        add("later", Publication(id: "later", user: "emil", more: ["notBefore": soon]), ["apns": ok])
        add(
            "late", Publication(id: "late", user: "fritz", pns: ["apns", "wns"], more: ["expiresAt": past]),
            ["apns": "expired attempts 0", "wns": "expired attempts 0"])
        add("sms", Publication(id: "sms", user: "gerd", pns: ["apns", "sms"]), ["": "dead-lettered invalid"])
        add("josé", Publication(id: "josé", user: "josé"), ["": "dead-lettered invalid"])
        add("empty", Publication(id: "empty", user: "hans", message: ""), ["": "dead-lettered invalid"])
        add(
            "big", Publication(id: "big", user: "ida", more: ["note": String(repeating: "x", count: 66_000)]),
            ["": "dead-lettered oversized"])
        add("", Publication(user: "kurt", text: #"{"id":"broken","user":"#), ["": "dead-lettered malformed"])
        return cases
    }

    @Test("A result has exactly the members of the design, and a device gets exactly the message")
    func results() async throws {
        try await World.run { world in
            let message = "Quote \" backslash \\ tab \t line \u{2028} zero-width \u{200B} emoji 👩‍👩‍👧 ü + & # %"
            try Self.register("phone", user: "anna", at: world.backend)
            _ = try await world.startWorker()
            var traced = Publication(id: "traced", user: "anna", message: message, more: ["source": "shop"])
            traced.headers = [.init("traceparent", Self.traceparent), .init("authorization", "Basic c2VjcmV0")]
            let broken = Publication(key: nil, value: [0xFF, 0x00, 0x7B])
            let past = Publication(
                id: "late", user: "anna", more: ["expiresAt": "2020-01-01T00:00:00Z", "campaign": "c"])
            try await world.publish([traced, broken, past])
            try await world.waitForResults(3)

            let always: Set = ["outcome", "completedAt", "origin"]
            let results = try world.results
            for (id, members) in [
                "traced": always.union(["id", "pns", "user", "status", "attempts", "firstAttemptAt", "source"]),
                "late": always.union(["id", "pns", "user", "attempts", "campaign"]),
                "": always.union(["reason"]),
            ] {
                let result = try #require(results.first { $0.id ?? "" == id })
                #expect(result.members == members)
                #expect(result.record.headers.isEmpty)
                let request = try #require(world.requests.first { $0.place == result.origin })
                #expect(result.record.key == request.key)
            }
            let payload = try #require(world.backend.payloads(ofHandle: "phone").first)
            let object = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: [String: String]]
            #expect(object?["aps"]?["alert"] == "From herald: \(message)")
            #expect(world.backend.calls.map(\.traceparent) == [Self.traceparent])
            #expect(world.backend.calls.map(\.idempotencyKey) == ["traced:apns"])
        }
    }

    /// Registers an Apple device of a user with the reference backend, as an app does.
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
