import Foundation
import Testing

@testable import HeraldSandbox

@Suite("A device's payload")
struct PayloadTests {
    static let texts = [
        "plain", "", "\"quoted\" 'single'", "a<b>&amp;c]]>", "😀 👩‍👩‍👧 ü", "line\u{2028}separators\u{2029}", "back\\slash /",
        "tab\tline\nreturn\rend", "\u{FEFF}bom", "e\u{301} not composed",
    ]

    @Test("carries every text unharmed through JSON", arguments: texts + ["\u{0}\u{1}\u{8}\u{C}\u{1F}\u{7F}"])
    func json(text: String) throws {
        let apns = try JSONDecoder().decode(
            [String: [String: String]].self, from: Data(BackendMessage(text).payload(on: .apns).utf8))
        #expect(Array(try #require(apns["aps"]?["alert"]).unicodeScalars) == Array(text.unicodeScalars))
        let gcm = try JSONDecoder().decode(
            [String: [String: String]].self, from: Data(BackendMessage(text).payload(on: .gcm).utf8))
        #expect(Array(try #require(gcm["data"]?["message"]).unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test("carries every text unharmed through XML", arguments: texts)
    func xml(text: String) throws {
        let payload = BackendMessage(text).payload(on: .wns)
        let start = try #require(payload.range(of: #"<text id="1">"#)).upperBound
        let end = try #require(payload.range(of: "</text>", options: .literal)).lowerBound
        let content = String(payload[start..<end])
        #expect(!content.contains("<") && !content.contains(">"))
        #expect(Self.unescaped(content) == text)
    }

    private static func unescaped(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#13;", "\r"), ("&amp;", "&")].reduce(text) {
            $0.replacingOccurrences(of: $1.0, with: $1.1, options: .literal)
        }
    }
}
