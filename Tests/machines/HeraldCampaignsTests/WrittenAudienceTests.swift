import Foundation
import HeraldText
import TestSupport
import Testing

@testable import HeraldCampaigns

@Suite("Audiences as other programs write them")
struct WrittenAudienceTests {
    /// The result of reading a list.
    private struct Found: Equatable, CustomStringConvertible {
        var messages: [String]
        var recipients: Int
        var invalid: [Int]
        var emptyLines: Int

        var description: String { "\(messages), \(recipients) in all, invalid \(invalid), \(emptyLines) empty" }
    }

    private static let five = ["Hi Ann", "Hi Bob", "Hi Cid"]

    private func found(_ bytes: some Sequence<UInt8>, name: String = "users.csv", _ message: String) throws -> Found {
        let file = try AudienceFile(bytes, name: name)
        defer { file.remove() }
        let preview = try file.preview(message)
        return Found(
            messages: preview.samples.map(\.message), recipients: preview.recipients,
            invalid: preview.invalidLines.map(\.line), emptyLines: preview.emptyLines)
    }

    @Test(
        "Line ends, empty rows, missing cells and padding around a cell's text cost no recipient",
        arguments: [
            ("rows of delimiters", "user;name\nann;Ann\n;\n ; \n;;;\n\"\";\n\u{A0};\u{FEFF}\n\n", 1, 6),
            ("more cells than columns", "user,name\nann,Ann,\nbob,Bob, ,\n", 2, 0),
            ("missing cells", "name,user,city,zip\nAnn,ann\nBob,bob,Bonn\n", 2, 0),
            ("padding", "user  ,name \n--------,-----\nann     ,Ann  \nbob     ,Bob  \n", 2, 0),
            ("padding in quotes", "\"user \",\" name\"\n\" ann\u{A0}\",Ann\n", 1, 0),
            (
                "padding around quotes", "user,name , more\nann , \"Ann\"  , \"{\"\"a\"\": 1}\"\u{A0}\n \"bob\",Bob\n",
                2, 0
            ),
            ("tabs around quotes", "user\tname\t\"more\"\nann\t\"Ann\"\t\nbob\tBob \t \"\"\n", 2, 0),
            ("no-break spaces", "user\u{A0}\u{A0},\u{A0}name\n\u{A0}ann,\u{A0}Ann\t\n", 1, 0),
            ("byte order marks", "\u{FEFF}\u{FEFF}user,\u{FEFF}name\n\u{FEFF}ann,Ann\u{FEFF}\n", 1, 0),
            ("carriage returns", "user,name\rann,Ann\r\rbob,Bob", 2, 1),
            ("JSON lines", "{\"user\":\" ann \",\"name\":\"Ann\"}\r \r{\"user\":\"bob\",\"name\":\"Bob\"}\r", 2, 1),
        ])
    func written(what: String, text: String, recipients: Int, emptyLines: Int) throws {
        let found = try found(text.utf8, "Hi {{\u{A0}name }}")
        let expected = Found(
            messages: Array(Self.five.prefix(recipients)), recipients: recipients, invalid: [], emptyLines: emptyLines)
        #expect(found == expected, "\(what)")
    }

    @Test("Dashes are a rule only below the header, and a column's name may contain a no-break space")
    func dashes() throws {
        let text = "user,first\u{A0}name\n--,-\nann,Ann\n--,-\n"
        let expected = Found(messages: ["Hi Ann", "Hi -"], recipients: 2, invalid: [], emptyLines: 0)
        #expect(try found(text.utf8, "Hi {{first name}}") == expected)
    }

    @Test("A row count at the end of a list with a rule of dashes is skipped; elsewhere it is a user")
    func rowCounts() throws {
        func lines(_ text: String) throws -> [String] {
            let file = try AudienceFile(text)
            defer { file.remove() }
            return try file.lines("Hi", users: .text)
        }
        #expect(try lines("user,name\n----,----\nann,A\n\n(1 rows affected)\n\n") == ["3:ann=Hi"])
        #expect(try lines("user\n----\nann \n(1 Zeile betroffen)") == ["3:ann=Hi"])
        #expect(try lines("user\n----\n(1 x)\nann\n") == ["3:(1 x)=Hi", "4:ann=Hi"])
        #expect(try lines("user\nann\n(1 x)\n").last == "3:(1 x)=Hi")
        #expect(try lines("user\n--\n(x 1)\n") == ["3:(x 1)=Hi"])
    }

    @Test("A Markdown table is read", arguments: ["|---|---|", "| :--- | ---: |"])
    func markdown(rule: String) throws {
        let expected = Found(messages: ["Hi Ann"], recipients: 1, invalid: [], emptyLines: 0)
        #expect(try found("| user | name |\n\(rule)\n| ann | Ann |\n".utf8, "Hi {{name}}") == expected)
    }

    @Test("A line end in a column's name becomes a space", arguments: ["\n", "\r\n", "\r"])
    func headerLines(end: String) throws {
        let found = try found("user,\"first\(end)name\"\nann,Ann\n".utf8, "Hi {{first name}}")
        #expect(found.messages == ["Hi Ann"])
    }

    @Test("A line end across two chunks of a long file is one line end", arguments: ["\r\n", "\r", "\n"])
    func pieces(lineEnd: String) throws {
        // The window reads 262 144 bytes at once.
        let header = "user,name\(lineEnd)"
        for shift in -2...2 {
            let first = "ann," + String(repeating: "x", count: 30_000)
            var text = header
            var number = 0
            while text.utf8.count + first.utf8.count < 262_144 - 40_000 {
                text += "a\(number),\(first.dropFirst(4))\(lineEnd)"
                number += 1
            }
            let rest = 262_144 + shift - text.utf8.count - 4 - lineEnd.utf8.count
            text += "eve,\(String(repeating: "y", count: rest))\(lineEnd)bob,Bob\(lineEnd)"
            let file = try AudienceFile(text)
            defer { file.remove() }
            let lines = try file.lines("{{user}}")
            #expect(lines.last == "\(number + 3):bob=bob" && lines.count == number + 2, "\(shift)")
        }
    }

    @Test(
        "Kinds of lists that users of other tools had asked about are read", .judged(by: .audiences),
        arguments: [
            ("a1-comma-rows.csv", 5, "Hi Ann"), ("a1b-semicolon-rows.csv", 5, "Hi Ann"),
            ("a2b-trailing.csv", 5, "Hi Ann"), ("a3-cr.csv", 5, "Hi Ann"),
            ("a3b-mixed.csv", 3, "Hi Ann"), ("a4-padded.csv", 5, "Hi Ann"),
            ("a4b-space-after-comma.csv", 5, "Hi Ann"),
            ("a6b-nbsp-header.csv", 2, "Hi Ann"), ("a6c-nbsp-name.csv", 2, "Hi Ann"),
        ])
    func judged(name: String, recipients: Int, message: String) throws {
        let bytes = try Data(contentsOf: Judge.audiences.url.appending(path: name))
        let template = name.hasPrefix("a6c") ? "Hi {{first name}}" : "Hi {{ first_name }}"
        let found = try found(bytes, template)
        #expect(found.recipients == recipients && found.messages.first == message, "\(found)")
        #expect(found.invalid.isEmpty, "\(found)")
    }
}
