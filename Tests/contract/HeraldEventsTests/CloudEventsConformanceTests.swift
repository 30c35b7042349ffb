import Foundation
import HeraldEvents
import TestSupport
import Testing

/// The CloudEvents project's conformance features for Kafka: attributes are read as they specify, and the data is the
/// event.
@Suite("The conformance features of CloudEvents for Kafka", .judged(by: .cloudEvents))
struct CloudEventsConformanceTests {
    @Test("The attributes and data of each scenario are read")
    func scenarios() throws {
        let scenarios = try Feature(Judge.cloudEvents.text()).scenarios
        #expect(scenarios.count == 3, "a new version has other scenarios: look at them")
        for scenario in scenarios {
            // Their data has no user to notify.
            let payload = scenario.payload.replacing(
                #""message":"#, with: #""user": "ann", "pns": ["apns"], "message":"#)
            let decoding = Decoding(payload, headers: scenario.headers.map { ($0.key, $0.value) })
            #expect(decoding.failure == nil, "\(scenario.name)")
            #expect(decoding.id == scenario.attributes["id"], "\(scenario.name)")
            #expect(decoding.text(decoding.event.source) == scenario.attributes["source"], "\(scenario.name)")
            let data = try JSONDecoder().decode([String: String].self, from: Data(scenario.data.utf8))
            #expect(decoding.message == data["message"], "\(scenario.name)")
        }
    }

    @Test("The scenarios lack only a user to be valid events")
    func complaints() throws {
        for scenario in try Feature(Judge.cloudEvents.text()).scenarios {
            let decoding = Decoding(scenario.payload, headers: scenario.headers.map { ($0.key, $0.value) })
            #expect(decoding.failure?.detail.contains("user is missing") == true, "\(scenario.name)")
            #expect(decoding.id == scenario.attributes["id"], "\(scenario.name)")
        }
    }
}

/// The part of Gherkin that the features use: steps with tables and texts, and outlines with examples.
private struct Feature {
    struct Scenario {
        var name: String
        var payload = ""
        var headers: [(key: String, value: String)] = []
        var attributes: [String: String] = [:]
        var data = ""
    }

    private(set) var scenarios: [Scenario] = []

    init(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }[...]
        var scenario: Scenario?
        while let line = lines.popFirst() {
            if line.hasPrefix("Scenario") {
                if let scenario { scenarios.append(scenario) }
                scenario = Scenario(name: line)
            } else if line.contains("with payload") {
                scenario?.payload = Self.text(&lines)
            } else if line.contains("headers:") {
                scenario?.headers = Self.rows(&lines).map { ($0[0], $0[1]) }
            } else if line.contains("attributes are") {
                scenario?.attributes = Dictionary(uniqueKeysWithValues: Self.rows(&lines).map { ($0[0], $0[1]) })
            } else if line.contains("the data is") {
                scenario?.data = Self.text(&lines)
            } else if line.hasPrefix("Examples"), let outline = scenario {
                scenario = nil
                let table = Self.table(&lines)
                for row in table.dropFirst() { scenarios.append(Self.filled(outline, table[0], row)) }
            }
        }
        if let scenario { scenarios.append(scenario) }
    }

    private static func filled(_ outline: Scenario, _ names: [String], _ values: [String]) -> Scenario {
        var scenario = outline
        for (name, value) in zip(names, values) {
            scenario.name = scenario.name.replacing("<\(name)>", with: value)
            scenario.headers = scenario.headers.map { ($0.key, $0.value.replacing("<\(name)>", with: value)) }
        }
        return scenario
    }

    private static func text(_ lines: inout ArraySlice<String>) -> String {
        var text: [String] = []
        _ = lines.popFirst()
        while let line = lines.popFirst(), line != #"""""# { text.append(line) }
        return text.joined(separator: "\n")
    }

    private static func rows(_ lines: inout ArraySlice<String>) -> [[String]] { Array(table(&lines).dropFirst()) }

    private static func table(_ lines: inout ArraySlice<String>) -> [[String]] {
        var table: [[String]] = []
        while let line = lines.first, line.hasPrefix("|") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            table.append(cells)
            lines.removeFirst()
        }
        return table
    }
}
