import Foundation
import HeraldEvents
import HeraldText
import HeraldTime
import TestSupport
import Testing

/// Rules that the compiler cannot check: documents, schemas and examples name each word.
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

    @Test("Each outcome appears in the documents, and has an example and a place in the schema")
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

    @Test("Alert rules, dashboards and the soak's oracle have the existing outcomes and ends of calls")
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

    @Test("Each dead-letter reason appears in the documents with its remedy")
    func deadLetterReasons() throws {
        try expect(DeadLetterReason.allCases.map(\.rawValue), in: ["docs/DEAD-LETTERS.md", "docs/RUNBOOK.md"])
    }

    @Test("Each retry reason appears in the runbook")
    func retryReasons() throws {
        try expect(RetryReason.allCases.map(\.rawValue), in: ["docs/RUNBOOK.md"])
    }

    @Test("Each outage appears in the documents")
    func outages() throws {
        try expect(OutageReason.common.map(\.word), in: ["docs/BACKEND.md"])
    }

    @Test("Each finding of a worker appears in the documents")
    func readiness() throws {
        let words = FindingKey.allCases.prefix { $0 != .noWorker }.map(\.rawValue)
        try expect(words + OutageReason.common.map { "outage-\($0.word)" }, in: ["docs/METRICS.md"])
    }

    @Test("Findings, the runbook's sections and the alerts agree")
    func findings() throws {
        let anchors = Set(
            try text("docs/RUNBOOK.md").matches(of: #/(?m)^#+ (.+)$/#).map { match in
                match.output.1.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" }
            })
        // The runbook section of each alert.
        let rules = try text("deploy/prometheus/rules.yaml").split(separator: "- alert: ").dropFirst().map { rule in
            (String(rule.prefix { $0.isLetter }), rule.firstMatch(of: #/RUNBOOK[.]md#([a-z-]+)/#).map { String($0.1) })
        }
        let sections = Dictionary(uniqueKeysWithValues: rules)
        for key in FindingKey.allCases {
            let entry = key.entry
            #expect(anchors.contains(entry.section), "\(key) has no section \(entry.section)")
            #expect(!entry.title.isEmpty && entry.step.last != "." && entry.severity != .good, "\(key)")
            if let alert = entry.alert { #expect(sections[alert] == entry.section, "\(alert) of \(key)") }
        }
        for reason in OutageReason.common {
            let finding = Finding(outage: reason.word, "it is so", step: "look")
            #expect(anchors.contains(finding.section), "\(finding.section)")
            #expect(finding.alert.flatMap { sections[$0] } == "outage-", "its label completes it")
        }
        // A section with a finding's name belongs to it.
        for key in FindingKey.allCases where anchors.contains(key.rawValue) && key.entry.alert == nil {
            #expect(key.entry.section == key.rawValue, "\(key)")
        }
    }

    @Test("A finding is read as it is written, and so is a newer worker's")
    func findingJSON() throws {
        var finding = Finding(
            .noProgress, "nothing was committed", place: ["t/0"], since: WallTime(milliseconds: 5_000), step: "look",
            numbers: ["events": 7])
        func read() throws -> Finding {
            try JSONDecoder().decode(Finding.self, from: Data(finding.json.compact.utf8))
        }
        #expect(try read() == finding && finding.alert == "HeraldCommitsStall")
        #expect(finding.sentence == "Nothing was committed: look." && finding.stepSentence == "Look.")
        (finding.key, finding.since, finding.command) = ("moon", nil, [])
        #expect(try read() == finding && finding.alert == nil && !finding.isOutage)
    }

    @Test("Each word of a call without an answer appears in the runbook")
    func callFailures() throws {
        try expect(CallFailure.allCases.map(\.label), in: ["docs/RUNBOOK.md"])
    }

    @Test("The list of ends that the compiler cannot generate has every case")
    func lists() {
        for meaning in AnswerClass.allCases { #expect(CallEnd.allCases.contains(.answered(meaning))) }
        for end in CallEnd.allCases { #expect(CallEnd(word: end.word) == end) }
    }
}
