import Foundation
import TestSupport
import Testing

/// A command of `herald` as printed in a document.
private struct DocumentedCommand: Hashable {
    var document: String
    var text: String

    /// The commands in the blocks of README.md and docs/, each once.
    static func all() throws -> [DocumentedCommand] {
        let documents = Repository.root.appending(path: "docs")
        let names = try FileManager.default.contentsOfDirectory(atPath: documents.path)
            .filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        var seen: Set<String> = []
        return try (["README.md"] + names.sorted()).flatMap { name in
            try commands(in: String(contentsOf: Repository.root.appending(path: name), encoding: .utf8))
                .filter { seen.insert($0).inserted }.map { DocumentedCommand(document: name, text: $0) }
        }
    }

    private static func commands(in text: String) -> [String] {
        var isFenced = false
        let lines = text.replacing("\\\n", with: " ").split(separator: "\n", omittingEmptySubsequences: false)
        return lines.compactMap { line in
            if line.hasPrefix("```") { isFenced.toggle() }
            guard isFenced || line.hasPrefix("    ") else { return nil }
            let command = line.trimming { $0 == " " || $0 == "$" }
            return command.hasPrefix("herald ") ? String(command) : nil
        }
    }

    /// The reason for not running it here; `nil` if it is run.
    var reasonToSkip: String? {
        let services = ["worker", "console", "sandbox", "backend", "hub", "feedback"]
        if services.contains(where: { text.hasPrefix("herald \($0) ") }) { return "runs until it is stopped" }
        if text.hasPrefix("herald register ") { return "needs a notification hub" }
        if text.hasPrefix("herald init") { return "InitTests" }
        if text.contains("<<") { return "PublishingTests" }
        if text.contains("--edit") { return "opens an editor" }
        return nil
    }
}

extension StringProtocol {
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> SubSequence {
        guard let first = firstIndex(where: { !isTrimmed($0) }), let last = lastIndex(where: { !isTrimmed($0) }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}

@Suite("Printed commands", .realKafka("Printed commands"), .hangLimit)
struct DocumentedCommandsTests {
    @Test(
        "Every command of README and docs is understood, and does something on a broker", .long("some sixty processes"))
    func commands() async throws {
        let all = try DocumentedCommand.all()
        let run = all.filter { $0.reasonToSkip == nil }
        #expect(run.count > 50 && all.count - run.count < 25, "\(all.count - run.count) of \(all.count) are not run")
        var plan = Fixture.Plan()
        plan.more = Fixture.replayTopics
        try await Fixture.run(plan) { fixture in
            _ = try await fixture.startWorker()
            try await fixture.publish(Batch.events(0..<3))
            try await fixture.publishDeadLetters(0..<3)
            try await fixture.waitForResults(3)
            let audience = "user,first_name\nann,Ann\nbob,Bob\n"
            try audience.write(
                to: fixture.directory.appending(path: "users.csv"), atomically: true, encoding: .utf8)
            let reminder = #"{"user":"ann","pns":["apns"],"message":"m"}"#
            try reminder.write(
                to: fixture.directory.appending(path: "reminders.jsonl"), atomically: true, encoding: .utf8)
            let program = Bundle.main.bundleURL.appending(path: "herald").path
            let settings = try fixture.settingsFile().path
            for command in run {
                let text = Self.filledIn(command.text, fixture)
                let script = """
                    herald() { '\(program)' "$@" --config '\(settings)'; }
                    unset HERALD_KAFKA_BOOTSTRAP_SERVERS
                    cd '\(fixture.directory.path)'; set -o pipefail
                    \(text)
                    """
                let log = fixture.directory.appending(path: "command-\(UUID().uuidString).log")
                let process = try ChildProcess(["/bin/bash", "-c", script], output: log)
                let status = try await Blocking.run { process.wait() }
                let output = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                // Done, failed with a sentence, partly done, or in need of a confirmation.
                #expect([0, 1, 3, 4].contains(status), "\(command.document): \(text)\n\(status) \(output)")
                #expect(!output.contains("Try: herald"), "\(command.document): \(text)\n\(output)")
            }
        }
    }

    /// The command with existing places and names.
    private static func filledIn(_ text: String, _ fixture: Fixture) -> String {
        text.replacing(" --config herald.yaml", with: "")
            .replacing("PARTITION:OFFSET", with: "0:0").replacing(" NAME", with: " spring")
            .replacing("USER", with: "alice").replacing("notifications/", with: "\(fixture.topic("notifications"))/")
            .replacing("--wait 10m", with: "--wait 30s").replacing("--wait 5m", with: "--wait 30s")
    }

    @Test("The loop that settles results survives idle times, and settles later results")
    func resultsLoop() async throws {
        let python = try await ["/usr/bin/python3", "python3"].asyncFirst { python in
            let log = FileManager.default.temporaryDirectory.appending(path: "probe-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: log) }
            return try await Blocking.run {
                try ChildProcess([python, "-c", "import confluent_kafka"], output: log).wait() == 0
            }
        }
        guard let python else {
            return SkippedSuites.note(absent: "confluent-kafka for Python, for docs/PUBLISHING.md")
        }
        let text = try String(contentsOf: Repository.root.appending(path: "docs/PUBLISHING.md"), encoding: .utf8)
        let block = try #require(
            text.components(separatedBy: "```python\n").dropFirst().first?.components(separatedBy: "\n```").first)
        try await Fixture.run { fixture in
            _ = try await fixture.startWorker()
            let loop = block.replacing("localhost:9092", with: fixture.bootstrapServers)
                .replacing("\"notifications.results\"", with: "\"\(fixture.topic("notifications.results"))\"")
                .replacing("shop-outcomes", with: "\(fixture.name)-outcomes")
            #expect(loop.contains(fixture.bootstrapServers) && loop.contains("\(fixture.name)-outcomes"))
            let program = """
                import json
                import confluent_kafka
                from confluent_kafka import KafkaException

                class Consumer(confluent_kafka.Consumer):
                    def consume(self, *words, **more):
                        records = super().consume(*words, **more)
                        if not records: print("idle", flush=True)
                        return records

                def settle(*words): print("settled", *words, flush=True)

                \(loop)
                """
            let file = fixture.directory.appending(path: "loop.py")
            try program.write(to: file, atomically: true, encoding: .utf8)
            let log = fixture.directory.appending(path: "loop.log")
            let process = try ChildProcess([python, file.path], output: log)
            defer { process.kill() }
            func lines() -> [String] {
                ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
            }
            // Each one is a second without results.
            try await fixture.wait("ten idle seconds") {
                #expect(process.isRunning, "\(lines())")
                return !process.isRunning || lines().count { $0 == "idle" } >= 10
            }
            try await fixture.publish(
                (0..<3).map { number in
                    Publication(
                        user: "ann",
                        text: #"{"id":"e\#(number)","user":"ann","pns":["apns"],"message":"m","source":"shop"}"#)
                })
            try await fixture.wait("three are settled") {
                !process.isRunning || lines().count { $0.hasPrefix("settled") } == 3
            }
            let before = lines().count { $0 == "idle" }
            try await fixture.wait("ten more") {
                !process.isRunning || lines().count { $0 == "idle" } >= before + 10
            }
            #expect(process.isRunning, "\(lines())")
            #expect(lines().count { $0.hasPrefix("settled") } == 3)
        }
    }
}

extension Sequence {
    fileprivate func asyncFirst(where isWanted: (Element) async throws -> Bool) async rethrows -> Element? {
        for element in self where try await isWanted(element) { return element }
        return nil
    }
}
