import Foundation
import HeraldEvents
import TestSupport
import Testing

/// What no compiler sees: documents, schemas and examples that name each word.
@Suite("The vocabulary")
struct VocabularyTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    }

    private func expect(_ words: [String], in pages: [String], _ form: (String) -> String = { "`\($0)`" }) throws {
        for page in pages {
            let text = try text(page)
            for word in words { #expect(text.contains(form(word)), "\(page) does not name \(word)") }
        }
    }

    @Test("Each outcome stands in the documents, and has an example and a place in the schema")
    func outcomes() throws {
        try expect(Outcome.allCases.map(\.rawValue), in: ["README.md", "docs/PUBLISHING.md"])
        let folder = Repository.root.appending(path: "docs/examples/result/valid")
        let examples = try FileManager.default.contentsOfDirectory(atPath: folder.path).map {
            try NotificationResult(decoding: Array(Data(contentsOf: folder.appending(path: $0))))
        }
        #expect(Set(examples.map(\.outcome)) == Set(Outcome.allCases))
        let schema = try #require(
            try JSONSerialization.jsonObject(with: Data(text("docs/schemas/result.schema.json").utf8)) as? [String: Any]
        )
        let properties = try #require(schema["properties"] as? [String: [String: Any]])
        #expect(
            properties["firstOutcome"]?["enum"] as? [String]
                == Outcome.allCases.filter(\.makesDuplicates).map(\.rawValue))
    }

    @Test("Alert rules, dashboards and the soak's oracle have the outcomes and ends of calls that there are")
    func programs() throws {
        let alarming = Outcome.allCases.filter(\.isAlarming).map(\.rawValue).joined(separator: "|")
        let rules = try text("deploy/prometheus/rules.yaml")
        #expect(rules.contains("rate(herald_notifications_total{outcome=~\"\(alarming)\"}[15m])"), "HeraldManyFail")
        let known = Set(Outcome.allCases.map(\.rawValue) + CallEnd.allCases.map(\.word))
        let matcher = #/_(?:notifications|calls)_total\{[^}]*\b(?:outcome|result)(?:=~|!=|=)\\?"([^"\\]+)/#
        for page in ["prometheus/rules.yaml", "prometheus/rules-test.yaml", "grafana/generate.py"] {
            let matches = try text("deploy/" + page).matches(of: matcher)
            #expect(!matches.isEmpty, "\(page)")
            for match in matches {
                let words = match.output.1.split(separator: "|").map(String.init)
                #expect(known.isSuperset(of: words), "\(page): \(words)")
            }
        }
        let oracle = Outcome.allCases.map { "\"\($0.rawValue)\": \($0.hasDeadLetter ? "True" : "False")" }
        #expect(try text("Soak/oracle.py").contains("OUTCOMES = {\(oracle.joined(separator: ", "))}"))
    }

    @Test("docs/METRICS.md has the words of each outcome and of each end of a call, in their order")
    func metrics() throws {
        func list(_ words: [String]) -> String { words.map { "`\($0)`" }.joined(separator: ", ") }
        let page = try text("docs/METRICS.md").replacing("\n  ", with: " ")
        #expect(page.contains("`outcome`: \(list(Outcome.allCases.map(\.rawValue)))."))
        #expect(page.contains("`result`: \(list(CallEnd.allCases.map(\.word)))."))
    }

    @Test("Each dead-letter reason stands in the documents with what to do")
    func deadLetterReasons() throws {
        try expect(DeadLetterReason.allCases.map(\.rawValue), in: ["docs/DEAD-LETTERS.md", "docs/RUNBOOK.md"])
    }

    @Test("Each retry reason stands in the runbook")
    func retryReasons() throws {
        try expect(RetryReason.allCases.map(\.rawValue), in: ["docs/RUNBOOK.md"])
    }

    @Test("Each outage stands in the documents, and has a section of the runbook")
    func outages() throws {
        try expect(OutageReason.allCases.map(\.rawValue), in: ["docs/BACKEND.md"])
    }

    @Test("Each reason of /readyz stands in the documents, and has a section of the runbook")
    func readiness() throws {
        let words = ReadinessReason.allCases.map(\.word)
        try expect(words, in: ["docs/METRICS.md"])
        try expect(words, in: ["docs/RUNBOOK.md"]) { "# \($0)\n" }
        try expect(ReadinessWarning.allCases.map(\.rawValue), in: ["docs/METRICS.md"])
    }

    @Test("Each word of a call without an answer stands in the runbook")
    func callFailures() throws {
        try expect(CallFailure.allCases.map(\.label), in: ["docs/RUNBOOK.md"])
    }

    @Test("The lists of ends and reasons that the compiler cannot make have every case")
    func lists() throws {
        let file = try text("Sources/contract/HeraldEvents/Vocabulary/ReadinessReason.swift")
        let cases = file.prefix(upTo: try #require(file.range(of: "static let allCases")).lowerBound)
            .matches(of: #/\n    case (\w+)\n/#)
        #expect(cases.count == ReadinessReason.allCases.count - OutageReason.allCases.count && !cases.isEmpty)
        for reason in ReadinessReason.allCases { #expect(ReadinessReason(word: reason.word) == reason) }
        for meaning in AnswerClass.allCases { #expect(CallEnd.allCases.contains(.answered(meaning))) }
        for end in CallEnd.allCases { #expect(CallEnd(word: end.word) == end) }
    }
}
