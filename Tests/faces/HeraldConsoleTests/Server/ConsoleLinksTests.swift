import Foundation
import HeraldEvents
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("Links to traces and alerts")
struct ConsoleLinksTests {
    @Test(
        "name a web address with the placeholder after the host",
        arguments: [
            ("https://traces.example.com/trace/{traceId}", true), ("http://localhost:3000/explore?q={traceId}", true),
            ("https://traces.example.com/#/{traceId}/x", true),
            ("https://traces.example.com/trace", false), ("javascript:alert('{traceId}')", false),
            ("https://{traceId}/", false), ("https://{traceId}.example.com/{traceId}", false),
            ("https://traces.example.com{traceId}", false), ("//traces.example.com/{traceId}", false),
            ("https:///{traceId}", false), ("", false),
        ])
    func templates(_ text: String, _ isOne: Bool) {
        #expect(ConsoleLinks.isTemplate(text, naming: ConsoleLinks.traceName) == isOne)
    }

    @Test("name each alert of the rules, and every step that leads to an alert's section knows its name")
    func alerts() throws {
        let file = Repository.root.appending(path: "deploy/prometheus/rules.yaml")
        let rules = try String(contentsOf: file, encoding: .utf8)
        let names = rules.matches(of: #/- alert: ([A-Za-z]+)/#).map { String($0.1) }
        #expect(Set(names) == Set(NextStep.alerts))
        #expect(NextStep.lag.alert == "HeraldLag" && NextStep.nameWorkers.alert == nil)
        let steps = ReadinessReason.allCases.map { NextStep.against($0) }
        for step in steps where step.section.hasPrefix("herald") { #expect(step.alert != nil) }
    }
}
