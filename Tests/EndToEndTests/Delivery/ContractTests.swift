import Foundation
import HeraldKafka
import HeraldSandbox
import TestSupport
import Testing

@Suite("Rights of settings, replays and producers", .realKafka("Rights of settings, replays and producers"))
struct ContractTests {
    @Test("A replay calls only the services that it names, with its fresh key, for the request that it names")
    func replay() async throws {
        try await Fixture.run { fixture in
            _ = try await fixture.startWorker()
            let origin = "\(fixture.topic("notifications"))/1/77"
            func replay(_ id: String, _ count: Int) -> Publication {
                var publication = Publication(id: id, user: "anna", pns: ["apns", "gcm", "wns"])
                publication.headers = [
                    .init("herald-pns", "wns,gcm"), .init("herald-origin", origin),
                    .init("herald-replays", "\(count)"), .init("herald-key", "fresh-\(id)"),
                    .init("herald-history", #"[{"at":"2026-01-02T03:04:05Z","pns":"gcm","status":503,"ms":7}]"#),
                ]
                return publication
            }
            try await fixture.publish([replay("again", 2), replay("too-often", 6)])
            try await fixture.waitForResults(4)
            let oracle = try await Oracle(fixture)
            oracle.expectResults([
                "again": ["gcm": "delivered 200 attempts 1", "wns": "delivered 200 attempts 1"],
                "too-often": [
                    "gcm": "dead-lettered replays-exhausted attempts 0",
                    "wns": "dead-lettered replays-exhausted attempts 0",
                ],
            ])
            #expect(oracle.results.allSatisfy { $0.origin == origin && $0.members.contains("replays") })
            #expect(Set(oracle.calls.compactMap(\.notification)) == ["fresh-again:gcm", "fresh-again:wns"])
            let letter = try #require(fixture.deadLetters.first)
            #expect(fixture.deadLetters.count == 1)
            #expect(Set(letter.remainingServices) == ["gcm", "wns"])
            #expect(letter.heraldHeaders["herald-replays"] == "6")
            #expect(letter.heraldHeaders["herald-key"] == "fresh-too-often")
            #expect(letter.heraldHeaders["herald-origin"] == origin)
            #expect(letter.heraldHeaders["herald-history"]?.contains(#""ms":7"#) == true)
        }
    }

    @Test("Aliases, other push services, other meanings of a status and other sizes apply as set")
    func settings() async throws {
        var plan = Fixture.Plan()
        plan.settings = [
            "backend.pushServices": "[apns, gcm]", "backend.aliases": "{fcm: gcm}",
            "backend.statuses": "{404: delivered, 403: rejected, 422: transient}", "limits.eventBytes": "200",
            "retry.delays": "[500ms]",
        ]
        plan.misbehaviour = [
            .status(404) { $0.user = "gone" }, .status(403) { $0.user = "forbidden" }, .status(422) { $0.user = "odd" },
        ]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish([
                Publication(id: "alias", user: "anna", pns: ["FCM", "gcm", "apns"]),
                Publication(id: "unknown", user: "anna", pns: ["wns"]), Publication(id: "gone", user: "gone"),
                Publication(id: "forbidden", user: "forbidden"), Publication(id: "odd", user: "odd"),
                Publication(id: "long", user: "anna", message: String(repeating: "x", count: 201)),
            ])
            try await fixture.waitForResults(7)
            let oracle = try await Oracle(fixture)
            oracle.expectResults([
                "alias": ["apns": "delivered 200 attempts 1", "gcm": "delivered 200 attempts 1"],
                "unknown": ["": "dead-lettered invalid"], "gone": ["apns": "delivered 404 attempts 1"],
                "forbidden": ["apns": "dead-lettered rejected 403 attempts 1"],
                "odd": ["apns": "dead-lettered attempts-exhausted 422 attempts 2"],
                "long": ["": "dead-lettered oversized"],
            ])
            #expect(Set(oracle.calls.filter { $0.user == "anna" }.map(\.pns)) == ["apns", "gcm"])
        }
    }

    @Test("Users that are any text are called, reported and found unchanged, where the settings allow them")
    func texts() async throws {
        let plan = CampaignPublishTests.plan { $0.settings["backend.users"] = "text" }
        // Without characters that the reference backend takes for an expression.
        let users = ["user+tag@example.org", "o'neil", "müller", "a b\"c\\d/e?f=h#i%20", "山田🎉", "-=@'ann"]
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(
                users.enumerated().map { Publication(id: "e\($0.offset)", user: $0.element) }
                    + [Publication(id: "bell", user: "a\u{7}")])
            try await fixture.waitForResults(users.count + 1)
            let oracle = try await Oracle(fixture)
            var expected = ["bell": ["": "dead-lettered invalid"]]
            for number in users.indices { expected["e\(number)"] = ["apns": "delivered 200 attempts 1"] }
            oracle.expectResults(expected)
            #expect(Set(oracle.calls.map(\.user)) == Set(users))
            let audience = fixture.directory.appending(path: "texts.csv")
            try "user,first_name\no'neil,O\nmüller,M\n".write(to: audience, atomically: true, encoding: .utf8)
            let run = try fixture.startTool(fixture.startWords(audience.path))
            #expect(try await run.waitForExit() == 0, "\(run.output)")
            #expect(fixture.backend.calls.suffix(2).allSatisfy { ["o'neil", "müller"].contains($0.user) })
            let found = try await fixture.tool("find", "--user", "o'neil", "-o", "jsonl")
            #expect(found.status == 0 && found.output.contains("\"e1\""), "\(found.output)")
        }
    }

    @Test("Events of an aborted transaction are never sent, and the markers between others delay nothing")
    func transactions() async throws {
        var plan = Fixture.Plan()
        plan.partitions = 1
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            for round in 0..<3 {
                try await Self.publish(
                    (0..<10).map { Publication(id: "kept\(round)_\($0)", user: "u\($0)") }, commits: true, in: fixture)
                try await Self.publish(
                    (0..<10).map { Publication(id: "aborted\(round)_\($0)", user: "u\($0)") }, commits: false,
                    in: fixture
                )
            }
            try await fixture.publish([Publication(id: "last", user: "anna")])
            try await fixture.waitForResults(31)
            try await fixture.waitUntilAllIsCommitted()
            let oracle = try await Oracle(fixture)
            #expect(oracle.calls.count == 31)
            #expect(!oracle.calls.contains { $0.notification?.hasPrefix("aborted") == true })
        }
    }

    private static func publish(_ publications: [Publication], commits: Bool, in fixture: Fixture) async throws {
        try await Blocking.run {
            let producer = try Producer(properties: [
                ("bootstrap.servers", fixture.bootstrapServers), ("transactional.id", fixture.name), ("linger.ms", "0"),
                ("retry.backoff.ms", "5"),
            ])
            try producer.initTransactions(timeout: Patience.timeout)
            try producer.beginTransaction()
            for publication in publications {
                try producer.publish(publication, to: producer.topic(fixture.topic(publication.topic)))
            }
            try producer.flush(timeout: Patience.timeout)
            if commits {
                try producer.commitTransaction(timeout: Patience.timeout)
            } else {
                try producer.abortTransaction(timeout: Patience.timeout)
            }
            producer.close()
        }
    }
}
