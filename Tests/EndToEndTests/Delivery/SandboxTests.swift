import Foundation
import HeraldKafka
import HeraldSandbox
import HeraldTime
import TestSupport
import Testing

@Suite("herald sandbox on a broker with workers", .realKafka("The sandbox on a broker"), .hangLimit)
struct SandboxTests {
    /// A sandbox on the fixture's topics.
    ///
    /// - Parameter prefix: Put before the names of its topics.
    private func sandbox(_ fixture: Fixture, prefix: String = "", _ words: [String] = []) throws -> RunningHerald {
        let topics = [
            "requests": "notifications", "results": "notifications.results", "retry": "notifications.retry",
            "dead-letter": "notifications.dead-letter", "campaigns": "notifications.campaigns",
        ]
        return try RunningHerald(
            [
                "sandbox", "-o", "json", "--brokers", fixture.bootstrapServers, "--retry-delays",
                fixture.settings.delays.joined(separator: ","),
            ] + topics.flatMap { ["--topics-\($0)", fixture.topic(prefix + $1)] } + words,
            keepsErrors: true)
    }

    @Test("It takes no event from the workers, and gets all events published after its start")
    func ownGroup() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<10))
            try await fixture.waitForResults(10)
            let running = try sandbox(fixture)
            let addresses = try await running.object()
            try await fixture.publish(Batch.events(10..<70))
            let port = try #require((addresses["backendURL"] as? String).flatMap { URL(string: $0)?.port })
            var own: [String] = []
            let isDone = try await eventually {
                let calls = try PlainHTTP.request(
                    port: UInt16(port), "GET", "/sandbox/calls", headers: ["Authorization": "Basic dGVzdDp0ZXN0"])
                own = calls.text.split(separator: "\n").map(String.init)
                return own.count >= 60 && fixture.backend.calls.count >= 70
            }
            #expect(isDone, "the sandbox has \(own.count) calls, the workers \(fixture.backend.calls.count)")
            #expect(Set(fixture.backend.calls.compactMap(\.user)) == Set((0..<70).map { "user-\($0)" }))
            #expect(own.count == 60 && !own.contains { $0.contains(#""user":"user-9""#) })
            #expect(worker.isRunning)
        }
    }

    @Test("It warns of live workers on the same topics, and of no others")
    func beside() async throws {
        try await Fixture.run { fixture in
            // The default group, which the sandbox does not join, and a group that no settings name.
            let groups = ["herald", "\(fixture.name)-others"]
            for group in groups { _ = try await fixture.startWorker(changing: ["kafka.group": group]) }
            let runs: [(prefix: String, words: [String], isWarned: Bool)] = [
                ("", [], true), ("", ["--kafka-group", "\(fixture.name)-own"], true), ("own.", [], false),
            ]
            for run in runs {
                let running = try sandbox(fixture, prefix: run.prefix, run.words)
                _ = try await running.object()
                running.signal(SIGTERM)
                let error = try await running.end().error
                for group in groups {
                    let warning = "1 member of the group \(group) consumes these topics too"
                    #expect(error.contains(warning) == run.isWarned, "\(run): \(error)")
                }
            }
        }
    }

    @Test("It begins on topics that it has just made, whose leaders are not known everywhere yet")
    func newTopics() async throws {
        try await Fixture.run { fixture in
            let addresses = try await sandbox(fixture, prefix: "own.").object()
            let topics = try #require(addresses["topics"] as? [String: Any])
            #expect(topics["requests"] as? [String] == [fixture.topic("own.notifications")])
        }
    }

    @Test("Its group is named in its line, and is gone when the sandbox has ended")
    func groupEnds() async throws {
        try await Fixture.run { fixture in
            let running = try sandbox(fixture)
            let addresses = try await running.object()
            let group = try #require(addresses["group"] as? String)
            let admin = try fixture.kafka.admin()
            let isThere = try await eventually {
                try await Blocking.run { try admin.describeGroup(group, timeout: .seconds(5)).exists }
            }
            #expect(isThere)
            try running.closeInput()
            #expect(try await running.end().status == 0)
            let left = try await Blocking.run { try admin.describeGroup(group, timeout: .seconds(5)) }
            #expect(!left.exists, "\(left)")
        }
    }

    @Test("A group with present or former members is refused before any event is taken")
    func usedGroup() async throws {
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            let first = try await sandbox(fixture, ["--kafka-group", fixture.name]).end()
            #expect(first.status == 1)
            #expect(first.error.contains("the group \(fixture.name) has"), "\(first.error)")
            #expect(first.error.contains(" member"), "\(first.error)")
            try await fixture.publish(Batch.events(0..<10))
            try await fixture.waitForResults(10)
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            let second = try await sandbox(fixture, ["--kafka-group", fixture.name]).end()
            #expect(second.status == 1 && second.error.contains("has offsets"), "\(second.error)")
            try await Oracle(fixture).expectResults(Batch.delivered(0..<10))
        }
    }
}
