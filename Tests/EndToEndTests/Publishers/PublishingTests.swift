import Foundation
import HeraldEvents
import HeraldSandbox
import HeraldText
import TestSupport
import Testing

/// One of the examples whose language is on this machine.
private struct Example: Sendable {
    var language: String
    var command: [String]
}

/// Finds the requirements of the examples.
private struct Examples {
    enum Language: String {
        case swift = "Swift"
        case python = "Python"
        case java = "Java"
        case typeScript = "TypeScript"
        case go = "Go"
    }

    /// Where the examples of a document are, and their names.
    struct Names {
        var document: String
        var folder: String
        var program: String
        var python: String
        var java: String
        var typeScript: String

        static let publish = Self(
            document: "PUBLISHING", folder: "publish", program: "publish-example", python: "publish.py",
            java: "Publish.java", typeScript: "publish")
        static let optOut = Self(
            document: "PREFERENCES", folder: "opt-out", program: "opt-out-example", python: "opt_out.py",
            java: "OptOut.java", typeScript: "opt-out")
    }

    let names: Names
    /// The test's own folder.
    let directory: URL

    /// The runnable examples in these languages; the others are named at the end of the run.
    func found(_ languages: [Language]) throws -> [Example] {
        try languages.compactMap { language in
            let command =
                switch language {
                case .swift: [Bundle.main.bundleURL.appending(path: names.program).path]
                case .python: python()
                case .java: java()
                case .typeScript: try typeScript()
                case .go: try go()
                }
            if command == nil { SkippedSuites.note(absent: "docs/\(names.document).md in \(language.rawValue)") }
            return command.map { Example(language: language.rawValue, command: $0) }
        }
    }

    private func path(_ name: String) -> String {
        Repository.root.appending(path: "docs/examples/\(names.folder)/\(name)").path
    }

    /// Whether a command succeeds.
    private func runs(_ command: String...) -> Bool {
        let log = directory.appending(path: "probe-\(UUID().uuidString)")
        return (try? ChildProcess(command, output: log))?.wait() == 0
    }

    private func python() -> [String]? {
        ["/usr/bin/python3", "python3"].first { runs($0, "-c", "import confluent_kafka") }.map {
            [$0, path(names.python)]
        }
    }

    private func java() -> [String]? {
        guard let home = ProcessInfo.processInfo.environment["KAFKA_HOME"], runs("java", "-version") else { return nil }
        return ["java", "-cp", "\(home)/libs/*", path(names.java)]
    }

    private func typeScript() throws -> [String]? {
        let modules = ["node_modules", "../shared/clients/node_modules"].map { Repository.root.appending(path: $0) }
            .first { FileManager.default.fileExists(atPath: $0.appending(path: "kafkajs").path) }
        guard let modules, runs("node", "--version") else { return nil }
        let folder = directory.appending(path: "typescript")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = folder.appending(path: "\(names.typeScript).mjs")
        try FileManager.default.copyItem(atPath: path("\(names.typeScript).ts"), toPath: script.path)
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "node_modules"), withDestinationURL: modules.standardizedFileURL)
        return ["node", script.path]
    }

    /// Only if its modules can be fetched, too.
    private func go() throws -> [String]? {
        let folder = directory.appending(path: "go")
        try FileManager.default.copyItem(atPath: path("go"), toPath: folder.path)
        guard runs("go", "build", "-C", folder.path, "-mod=mod", "-o", "example") else { return nil }
        return [folder.appending(path: "example").path]
    }
}

@Suite(
    "The examples for other services", .realKafka("The examples for other services"))
struct PublishingTests {
    @Test("In Swift and Python an event is published, delivered, and its results are read back")
    func examples() async throws {
        try await expectDelivery(from: [.swift, .python])
    }

    @Test(
        "In Java, TypeScript and Go an event is published, delivered, and its results are read back",
        .long("compilers and virtual machines"))
    func otherLanguages() async throws {
        try await expectDelivery(from: [.java, .typeScript, .go])
    }

    private func expectDelivery(from languages: [Examples.Language]) async throws {
        var plan = Fixture.Plan()
        plan.settings = ["backend.body": "object"]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker()
            let examples = try await Blocking.run {
                try Examples(names: .publish, directory: fixture.directory).found(languages)
            }
            let runs = examples.map { example in
                let log = fixture.directory.appending(path: "example-\(example.language).log")
                let words = [fixture.bootstrapServers, "user-\(example.language)", "Hello from \(example.language)"]
                let topics = [
                    "REQUESTS_TOPIC": fixture.topic("notifications"),
                    "RESULTS_TOPIC": fixture.topic("notifications.results"),
                ]
                let run = Blocking.begin {
                    try Java.start(example.command.prefix(1).filter { $0 == "java" }) {
                        try ChildProcess(example.command + words, environment: topics, output: log).wait()
                    }
                }
                return (example.language, run, log)
            }
            for (language, run, log) in runs {
                let status = try await run.value
                let output = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                #expect(status == 0, "\(language): \(output.suffix(2_000))")
                let results = output.split(separator: "\n").filter { $0.contains(#""outcome""#) }
                #expect(results.count == 2 && results.allSatisfy { $0.contains("delivered") }, "\(language): \(output)")
            }
            try await fixture.catchUp()
            for example in examples {
                let user = "user-\(example.language)"
                let calls = fixture.backend.calls.filter { $0.user == user }
                #expect(calls.compactMap(\.pns).sorted() == ["apns", "gcm"])
                for call in calls {
                    #expect(
                        JSONValue.object(call.content).compact
                            == #"{"title":"Your parcel","link":"https://shop.example/orders/17","#
                            + #""image":"https://cdn.example/parcel.png"}"#, "\(example.language)")
                }
                #expect(fixture.requests.filter { $0.keyText == user }.count == 1)
            }
            // The same key goes to the same partition, whoever publishes it.
            try await fixture.publish(examples.map { Publication(id: $0.language, user: "user-\($0.language)") })
            try await fixture.catchUp()
            for example in examples {
                let places = fixture.requests.filter { $0.keyText == "user-\(example.language)" }.map(\.partition)
                #expect(places.count == 2 && Set(places).count == 1, "\(example.language): \(places)")
            }
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
        }
    }

    @Test("In Swift and Python it is written what a user does not want")
    func optOuts() async throws { try await expectOptOut(from: [.swift, .python]) }

    @Test(
        "In Java, TypeScript and Go it is written what a user does not want", .long("compilers and virtual machines"))
    func optOutsInOtherLanguages() async throws { try await expectOptOut(from: [.java, .typeScript, .go]) }

    private func expectOptOut(from languages: [Examples.Language]) async throws {
        var plan = Fixture.Plan()
        plan.more = ["notifications.preferences"]
        try await Fixture.run(plan) { fixture in
            let examples = try await Blocking.run {
                try Examples(names: .optOut, directory: fixture.directory).found(languages)
            }
            let entries = ["promotional", "pns:apns", "source:shop"]
            for example in examples {
                let log = fixture.directory.appending(path: "opt-out-\(example.language).log")
                let words = [fixture.bootstrapServers, "user-\(example.language)"] + entries
                let topics = ["PREFERENCES_TOPIC": fixture.topic("notifications.preferences")]
                let status = try await Blocking.run {
                    try Java.start(example.command.prefix(1).filter { $0 == "java" }) {
                        try ChildProcess(example.command + words, environment: topics, output: log).wait()
                    }
                }
                let output = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                #expect(status == 0, "\(example.language): \(output.suffix(2_000))")
            }
            try await fixture.catchUp()
            for example in examples {
                let records = fixture.records("notifications.preferences").filter {
                    $0.keyText == "user-\(example.language)"
                }
                #expect(records.count == 1)
                for record in records {
                    let value = try #require(record.value)
                    let (word, problem) = Preference.reading(value.span.bytes, pushServices: .standard)
                    #expect(problem == nil && word.optOut.entries == entries, "\(example.language): \(word)")
                    #expect(word.updatedAt != nil && word.by != nil, "\(example.language)")
                }
            }
        }
    }

    /// The blocks of shell commands in docs/PUBLISHING.md, in their order.
    private static func shellBlocks() throws -> [String] {
        let text = try String(contentsOf: Repository.root.appending(path: "docs/PUBLISHING.md"), encoding: .utf8)
        return text.components(separatedBy: "```sh\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    @Test("The shell commands work as documented: events and both forms of CloudEvents arrive, and a check")
    func commands() async throws {
        let blocks = try Self.shellBlocks()
        #expect(blocks.count == 4)
        try await Fixture.run { fixture in
            let worker = try await fixture.startWorker()
            let herald = Bundle.main.bundleURL.appending(path: "herald").path
            let hasClient = FileManager.default.isExecutableFile(atPath: "/usr/bin/kcat")
            if !hasClient { SkippedSuites.note(absent: "docs/PUBLISHING.md in kcat") }
            for (index, block) in blocks.enumerated() where hasClient || !block.contains("kcat ") {
                let script = block.replacing("localhost:9092", with: fixture.bootstrapServers)
                    .replacing("-t notifications ", with: "-t \(fixture.topic("notifications")) ")
                    .replacing("herald publish", with: "'\(herald)' publish")
                let log = fixture.directory.appending(path: "block-\(index).log")
                let process = try ChildProcess(["/bin/bash", "-e", "-o", "pipefail", "-c", script], output: log)
                let status = try await Blocking.run { process.wait() }
                let output = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
                #expect(status == 0, "\(block)\n\(output)")
                if block.contains("herald publish") { #expect(output.contains("2 events checked")) }
            }
            if hasClient {
                try await fixture.waitForResults(4)
                let calls = fixture.backend.calls.map { "\($0.user ?? "")/\($0.pns ?? "")" }.sorted()
                #expect(calls == ["alice/apns", "alice/apns", "tenant:alice/apns", "tenant:alice/gcm"])
                let results = try fixture.results
                #expect(Set(results.compactMap(\.id)) == ["order-17-shipped", "order-18", "order-19"])
                #expect(results.count == 4 && results.allSatisfy { $0.outcome == "delivered" })
            }
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
        }
    }
}
