import Foundation
import TestSupport
import Testing

@testable import HeraldCampaigns

/// The interpolation cases of the Mustache specification, as far as templates support them: whole names, unescaped
/// values.
@Suite("Mustache's own cases of interpolation", .judged(by: .mustache))
struct MustacheTests {
    private struct Cases: Decodable {
        var tests: [Case]
    }

    private struct Case: Decodable {
        var name: String
        var template: String
        var data: Fields
        var expected: String
    }

    /// A recipient's possible fields: texts and numbers under plain names.
    ///
    /// Everything else is `nil`.
    private struct Fields: Decodable {
        var texts: [String: String]?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let texts = try? container.decode([String: String].self) {
                self.texts = texts
            } else if let numbers = try? container.decode([String: Decimal].self) {
                texts = numbers.mapValues { "\($0)" }
            }
        }
    }

    private static let cases: [Case] = {
        let text = (try? Judge.mustache.text()) ?? #"{"tests":[]}"#
        return (try? JSONDecoder().decode(Cases.self, from: Data(text.utf8)))?.tests ?? []
    }()

    @Test("Each case that only inserts fields is rendered as specified, without HTML escapes")
    func fields() throws {
        var judged = 0
        for test in Self.cases where !test.template.contains("{{#") {
            guard let fields = test.data.texts else { continue }
            let template = try MessageTemplate(test.template)
            // A name that a recipient lacks is refused before the first notification; dotted names are whole names.
            guard template.fields.names.allSatisfy({ fields[$0] != nil && !$0.contains(".") }) else { continue }
            var output: [UInt8] = []
            template.render(into: &output) { number, output in
                output.append(contentsOf: (fields[template.fields.names[number]] ?? "").utf8)
            }
            let expected = test.expected.replacing("&quot;", with: "\"").replacing("&lt;", with: "<")
                .replacing("&gt;", with: ">").replacing("&amp;", with: "&")
            #expect(String(decoding: output, as: UTF8.self) == expected, "\(test.name)")
            judged += 1
        }
        #expect(judged == 21, "a new version has other cases: look at them")
    }

    @Test("Each case with a section is refused")
    func sections() {
        let sections = Self.cases.filter { $0.template.contains("{{#") }
        #expect(sections.count == 5, "a new version has other cases: look at them")
        for test in sections {
            #expect(throws: (any Error).self, "\(test.name)") { try MessageTemplate(test.template) }
        }
    }
}
