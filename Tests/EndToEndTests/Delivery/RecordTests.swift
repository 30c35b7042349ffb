import Foundation
import HeraldSandbox
import TestSupport
import Testing

@Suite("Retry records and dead letters", .realKafka("Retry records and dead letters"))
struct RecordTests {
    /// A key and headers that survive only if they are passed on unread: bytes that are not text, a name twice, an
    /// empty value, a null.
    private static let headers: [StoredRecord.Header] = [
        .init("x-bytes", [0x00, 0xFF, 0xC3]), .init("X-Twice", "one"), .init("X-Twice", "two"), .init("x-empty", []),
        .init("x-null", nil as [UInt8]?), .init("x-last", "end"),
    ]

    private static func odd(_ value: String) -> Publication {
        Publication(key: [0xDE, 0xAD, 0x00], value: Array(value.utf8), headers: headers)
    }

    private func expectUntouched(_ record: StoredRecord, _ request: StoredRecord) {
        #expect(record.key == request.key)
        #expect(record.value == request.value)
        #expect(record.originalHeaders == request.headers)
    }

    /// Checks and removes the headers with times, so that the others can be compared.
    private func takeMoments(
        _ names: [String], from headers: inout [String: String], since start: Int64
    ) {
        for name in names {
            let moment = headers.removeValue(forKey: name).flatMap { Int64($0) } ?? 0
            #expect((start...Int64(Date.now.timeIntervalSince1970 * 1_000) + 60_000).contains(moment), "\(name)")
        }
    }

    @Test("An event whose services end differently is split, and the records show it header by header")
    func split() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [
            .status(400) { $0.pns = "wns" }, .status(429) { ($0.pns, $0.callsPerKey) = ("gcm", 2) },
        ]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            let start = Int64(Date.now.timeIntervalSince1970 * 1_000)
            try await fixture.publish([
                Self.odd(
                    """
                     {"message":"\\u0048i", "id":"s1","user":"anna", "pns" : ["wns","gcm","apns"],\
                    "source":"shop","campaign":"spring"}
                    """)
            ])
            try await fixture.waitForResults(3)
            try await fixture.catchUp()
            let request = try #require(fixture.requests.first)
            #expect(fixture.deadLetters.count == 1)
            try expectLetter(try #require(fixture.deadLetters.first), of: request, since: start)
            #expect(fixture.retries.map { $0.topic.split(separator: ".").last } == ["1s", "2s"])
            for (index, retry) in fixture.retries.enumerated() {
                try expectRetry(retry, attempts: index + 1, of: request, since: start)
            }
            try await Oracle(fixture).expectResults([
                "s1": [
                    "apns": "delivered 200 attempts 1", "gcm": "delivered 200 attempts 3",
                    "wns": "dead-lettered rejected 400 attempts 1",
                ]
            ])
        }
    }

    /// The headers common to every record of the event.
    private func commonHeaders(_ request: StoredRecord) -> [String: String] {
        [
            "herald-id": "s1", "herald-origin": request.place, "herald-origin-timestamp": "\(request.timestamp)",
            "herald-source": "shop", "herald-campaign": "spring",
        ]
    }

    private func expectLetter(_ letter: StoredRecord, of request: StoredRecord, since start: Int64) throws {
        expectUntouched(letter, request)
        var headers = letter.heraldHeaders
        try expectHistory(headers.removeValue(forKey: "herald-history"), service: "wns", statuses: [400])
        let detail = headers.removeValue(forKey: "herald-detail") ?? ""
        #expect(detail.contains("400") && !detail.contains("\n") && detail.utf8.count <= 1_024)
        takeMoments(["herald-first-attempt-at", "herald-dead-lettered-at"], from: &headers, since: start)
        #expect(
            headers
                == commonHeaders(request).merging([
                    "herald-pns": "wns", "herald-attempts": "1", "herald-reason": "rejected", "herald-status": "400",
                ]) { $1 })
    }

    private func expectRetry(
        _ retry: StoredRecord, attempts: Int, of request: StoredRecord, since start: Int64
    ) throws {
        expectUntouched(retry, request)
        var headers = retry.heraldHeaders
        try expectHistory(
            headers.removeValue(forKey: "herald-history"), service: "gcm",
            statuses: Array(repeating: 429, count: attempts))
        #expect(headers.removeValue(forKey: "herald-detail")?.contains("429") == true)
        takeMoments(["herald-first-attempt-at", "herald-not-before"], from: &headers, since: start)
        #expect(
            headers
                == commonHeaders(request).merging([
                    "herald-pns": "gcm", "herald-attempts": "\(attempts)", "herald-reason": "throttled",
                    "herald-status": "429",
                ]) { $1 })
    }

    private func expectHistory(_ text: String?, service: String, statuses: [Int]) throws {
        let history = try #require(
            JSONSerialization.jsonObject(with: Data((text ?? "").utf8)) as? [[String: Any]])
        #expect(history.map { $0["pns"] as? String } == Array(repeating: service, count: statuses.count))
        #expect(history.map { $0["status"] as? Int } == statuses)
        #expect(history.allSatisfy { $0["at"] is String && $0["ms"] is Int })
    }

    private static let undeliverable: [(reason: String, value: String, id: String?)] = [
        ("malformed", #"{"id":"m","user""#, "m"),
        ("malformed", "\u{FEFF}[1,2]", nil),
        ("invalid", #"{"id":"i1","user":"a b","pns":"apns","message":"x"}"#, "i1"),
        ("invalid", #"{"id":"i2","user":"anna","pns":[],"message":"x"}"#, "i2"),
        (
            "oversized", #"{"id":"o","user":"anna","pns":"apns","message":"\#(String(repeating: "x", count: 5_000))"}"#,
            "o"
        ),
        ("expired", #"{"id":"e","user":"anna","pns":"apns","message":"x","expiresAt":"2020-01-01T00:00:00Z"}"#, "e"),
    ]

    @Test("An unreadable or unsendable record becomes a dead letter with its bytes, key and headers")
    func undeliverable() async throws {
        try await Fixture.run { fixture in
            _ = try await fixture.startWorker()
            let start = Int64(Date.now.timeIntervalSince1970 * 1_000)
            try await fixture.publish(Self.undeliverable.map { Self.odd($0.value) })
            try await fixture.waitForResults(Self.undeliverable.count)
            try await fixture.catchUp()
            #expect(fixture.deadLetters.count == Self.undeliverable.count)
            for (reason, value, id) in Self.undeliverable {
                let request = try #require(fixture.requests.first { $0.value == Array(value.utf8) })
                let letter = try #require(fixture.deadLetters.first { $0.value == request.value })
                expectUntouched(letter, request)
                var headers = letter.heraldHeaders
                let detail = headers.removeValue(forKey: "herald-detail")
                #expect((1...1_024).contains(detail?.utf8.count ?? 0))
                takeMoments(["herald-dead-lettered-at"], from: &headers, since: start)
                var expected = [
                    "herald-origin": request.place, "herald-origin-timestamp": "\(request.timestamp)",
                    "herald-attempts": "0", "herald-reason": reason,
                ]
                expected["herald-id"] = id
                if reason == "expired" { expected["herald-pns"] = "apns" }
                #expect(headers == expected)
            }
            #expect(fixture.backend.calls.isEmpty)
        }
    }

    @Test("Headers with Herald's names are replaced and never doubled, and a producer's forgeries do not count")
    func forged() async throws {
        var plan = Fixture.Plan()
        plan.misbehaviour = [.status(503)]
        plan.settings = ["retry.delays": "[1s]"]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            var publication = Publication(id: "real", user: "anna")
            publication.headers = [
                .init("herald-id", "forged"), .init("herald-attempts", "7"), .init("herald-reason", "expired"),
                .init("herald-not-before", "1"), .init("herald-status", "200"), .init("herald-detail", "secret"),
                .init("herald-source", "forged"), .init("x-mine", "kept"), .init("herald-id", "again"),
            ]
            try await fixture.publish([publication])
            try await fixture.waitForResults(1)
            try await fixture.catchUp()
            let retry = try #require(fixture.retries.first)
            let letter = try #require(fixture.deadLetters.first)
            for (record, attempts, reason) in [(retry, "1", "transient"), (letter, "2", "attempts-exhausted")] {
                #expect(record.originalHeaders == [.init("x-mine", "kept")])
                let headers = record.heraldHeaders
                #expect(headers["herald-id"] == "real")
                #expect(headers["herald-attempts"] == attempts)
                #expect(headers["herald-reason"] == reason)
                #expect(headers["herald-status"] == "503")
                #expect(headers["herald-source"] == nil)
                #expect(headers["herald-detail"]?.contains("secret") == false)
            }
            #expect(letter.heraldHeaders["herald-not-before"] == nil)
            #expect(fixture.backend.calls.map(\.notification) == ["real:apns", "real:apns"])
        }
    }
}
