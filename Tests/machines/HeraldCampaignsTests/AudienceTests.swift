import Foundation
import HeraldBytes
import HeraldEvents
import HeraldText
import HeraldTools
import TestSupport
import Testing

@testable import HeraldCampaigns

@Suite("Audiences as CSV")
struct CSVAudienceTests {
    private func lines(_ text: String, _ message: String = "{{name}}") throws -> [String] {
        let file = try AudienceFile(text)
        defer { file.remove() }
        return try file.lines(message)
    }

    @Test(
        "Quotes, doubled quotes, commas and line ends in fields, LF, CRLF, with and without a last line end",
        arguments: [
            ("user,name\nann,Ann\n", ["2:ann=Ann"]),
            ("user,name\r\nann,Ann\r\nbob,Bob", ["2:ann=Ann", "3:bob=Bob"]),
            ("name,user\n\"Ann, the first\",ann\n", ["2:ann=Ann, the first"]),
            ("user,name\nann,\"say \"\"hi\"\"\"\n", ["2:ann=say \"hi\""]),
            ("user,name\nann,\"two\r\nlines\"\nbob,Bob\n", ["2:ann=two\r\nlines", "4:bob=Bob"]),
            ("\"user\",\"name\"\n\"ann\",\"Ann\"", ["2:ann=Ann"]),
            ("user,name\nann,\" a \"\n", ["2:ann= a "]),
            ("\u{FEFF}user,name\nann,Ann", ["2:ann=Ann"]),
            ("user,name\n\n\r\nann,Ann\n\n", ["4:ann=Ann"]),
            ("user,name\nann,\"a\rb\"\ncid,Cid", ["2:ann=a\rb", "4:cid=Cid"]),
            ("user,name\rann,Ann\rbob,Bob\r", ["2:ann=Ann", "3:bob=Bob"]),
            ("user,name\r\nann,Ann\rbob,Bob\n\r\r\ncid,Cid", ["2:ann=Ann", "3:bob=Bob", "6:cid=Cid"]),
            ("user,name\nann,grüß 🎉\n", ["2:ann=grüß 🎉"]),
            ("user,name\n", []),
            ("user,name", []),
        ])
    func good(text: String, expected: [String]) throws {
        #expect(try lines(text) == expected)
    }

    @Test(
        "An invalid line is reported with its number and reason, and the lines after it are read",
        arguments: [
            ("ann", "2!the message is empty"), ("ann;Ann", "2!user holds ';'"),
            ("ann,Ann,x", "2!has 3 fields; the header has 2"),
            ("a\"nn,Ann", "2!has a quote in a field that does not begin with one"),
            ("\"ann\"x,Ann", "2!has text behind a closing quote"),
            ("ann,\"Ann", "2!has text behind a closing quote"),
            (",Ann", "2!user is empty; an empty tag could reach everybody"),
            ("a b,Ann", "2!user holds a space (U+0020) as character 2"),
            ("ann,", "2!the message is empty"),
            ("ann,a\0b", "2!the message holds a NUL character"),
        ])
    func bad(line: String, expected: String) throws {
        let lines = try lines("user,name\n\(line)\n\"bob\",\"B\"\n")
        #expect(lines.first?.hasPrefix(expected) == true, "\(lines)")
        #expect(lines.last == "3:bob=B")
    }

    @Test("A JSON line may lack a field, or have null, when the message has a fallback for it")
    func optionalFields() throws {
        let text =
            #"{"user":"ann","name":"Ann"}"# + "\n" + #"{"user":"bob"}"# + "\n" + #"{"user":"cid","name":null}"# + "\n"
        let file = try AudienceFile(text)
        defer { file.remove() }
        let good = try file.lines("Hi {{name|friend}}")
        #expect(good == ["1:ann=Hi Ann", "2:bob=Hi friend", "3:cid=Hi friend"])
        #expect(
            try file.lines("Hi {{name}}").dropFirst() == [
                "2!has no name", "3!has null as name; it has to be a text or a number",
            ])
    }

    @Test("Where users are texts, each valid one is a recipient, and an invalid one is reported with its reason")
    func texts() throws {
        let text = "user,name\no'neil,O\nuser+tag@example.org,U\n müller ,M\n\"a \"\"b\"\"\",B\n\u{7},C\n"
        let file = try AudienceFile(Array(text.utf8) + [0x6D, 0xFC] + Array(",L\n".utf8))
        defer { file.remove() }
        let lines = try file.lines("{{name}}", users: .text)
        #expect(lines.prefix(4) == ["2:o'neil=O", "3:user+tag@example.org=U", "4:müller=M", "5:a \"b\"=B"])
        #expect(lines[4].hasPrefix("6!user holds U+0007 as character 1, a control character"), "\(lines)")
        #expect(lines[5] == "7!the user is not UTF-8: the byte 0xFC", "\(lines)")
    }

    @Test("A quote that is never closed costs its own line, not the rest of the file")
    func unclosed() throws {
        for count in [5_000, 30_000] {
            let rest = (0..<count).map { "user-\($0),name of \($0)\n" }.joined()
            let lines = try lines("user,name\nann,\"Ann\n" + rest)
            #expect(lines.count == count + 1)
            #expect(lines[0].hasPrefix("2!") && lines[0].hasSuffix("has a quote that is not closed"))
            #expect(lines[1] == "3:user-0=name of 0")
            #expect(lines[count] == "\(count + 2):user-\(count - 1)=name of \(count - 1)")
        }
        let short = try self.lines("user,name\nann,\"Ann\nbob,Bob\n")
        #expect(short == ["2!has a quote that is not closed", "3:bob=Bob"])
    }

    @Test("A line longer than the read buffer is skipped, and counted once")
    func long() throws {
        for count in [70_000, 300_000, 1_000_000] {
            let lines = try lines("user,name\nann,\(String(repeating: "x", count: count))\nbob,Bob\n")
            #expect(lines.count == 2 && lines[0].hasPrefix("2!is longer than") && lines[1] == "3:bob=Bob")
        }
    }

    @Test("A line that is not UTF-8 is invalid")
    func notUTF8() throws {
        let file = try AudienceFile(Array("user,name\nann,".utf8) + [0xC3, 0x28, 0x0A] + Array("bob,B\n".utf8))
        defer { file.remove() }
        #expect(
            try file.lines("{{name}}") == [
                "2!the message is not UTF-8: the byte 0xC3", "3:bob=B",
            ])
    }

    @Test("A message of 4096 bytes is sent, one of 4097 is not")
    func length() throws {
        let fill = String(repeating: "ä", count: 2_048)
        #expect(try lines("user,name\nann,\(fill)\n")[0].hasPrefix("2:ann=ää"))
        #expect(try lines("user,name\nann,\(fill)x\n")[0].hasPrefix("2!the message has 4097 bytes"))
    }

    @Test(
        "An unusable header is an error before anything else",
        arguments: [
            ("", "is empty"),
            ("name\nAnn\n", "and nothing says which one holds the users (--user-column); its columns are \"name\""),
            ("user,first_name\n", "did you mean \"first_name\"?"), ("user,name,name\n", "\"name\" twice"),
            ("\"user\n", "first line has a quote"),
        ])
    func header(text: String, expected: String) throws {
        let file = try AudienceFile(text)
        defer { file.remove() }
        let message = text.contains("first_name") ? "{{frst_name}}" : "{{name}}"
        #expect(failure { try file.lines(message) }.contains(expected))
    }

    @Test("Any fields that an RFC 4180 writer writes are read back, for every prefix of the file")
    func property() {
        var generator = SplitMix64(seed: 1)
        let pieces = ["a", "\"", ",", "\n", "\r\n", "\r", " ", "ü", "🎉", "\u{202E}", "=1+1", "{{x}}", "\t"]
        for _ in 0..<500 {
            let columns = Int.random(in: 1...5, using: &generator)
            let rows = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                (0..<columns).map { _ in
                    (0..<Int.random(in: 0...6, using: &generator))
                        .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined()
                }
            }
            let lineEnd = Bool.random(using: &generator) ? "\r\n" : "\n"
            let text =
                rows.map { row in
                    row.map { field in
                        let needsQuotes = field.unicodeScalars.contains { "\",\r\n \t".unicodeScalars.contains($0) }
                        return needsQuotes || Bool.random(using: &generator)
                            ? "\"" + field.replacing("\"", with: "\"\"") + "\"" : field
                    }.joined(separator: ",")
                }.joined(separator: lineEnd) + (Bool.random(using: &generator) ? lineEnd : "")
            let bytes = Array(text.utf8)
            var scanner = CSVScanner()
            var start = 0
            for row in rows {
                // An empty last record cannot be distinguished from a line end.
                if start == bytes.count { break }
                // A truncated file is not taken for the whole.
                let cut = Int.random(in: start...bytes.count, using: &generator)
                let part = scanner.scan(bytes.span.bytes.extracting(0..<cut), from: start, isEnd: false)
                let whole = scanner.scan(bytes.span.bytes, from: start, isEnd: true)
                #expect(part == .unfinished || part == whole)
                guard case .record(let end, _) = whole else {
                    Issue.record("\(whole) in \(text)")
                    return
                }
                let fields = scanner.fields.map { field in
                    var output: [UInt8] = []
                    CSVScanner.append(field, of: bytes.span.bytes, to: &output)
                    return String(decoding: output, as: UTF8.self)
                }
                #expect(fields == row)
                start = end
            }
            #expect(start == bytes.count)
        }
    }

    @Test("Arbitrary bytes are read to their end")
    func garbage() throws {
        var generator = SplitMix64(seed: 1)
        let alphabet: [UInt8] = [0x22, 0x2C, 0x0A, 0x0D, 0x61, 0x00, 0xC3, 0xFF, 0x7B, 0x7D, 0x5C]
        for format in AudienceFormat.allCases {
            for _ in 0..<50 {
                let count = Int.random(in: 0...2_000, using: &generator)
                let bytes = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
                let file = try AudienceFile(Array("user\n".utf8) + bytes)
                defer { file.remove() }
                let newlines = bytes.count { $0 == 0x0A || $0 == 0x0D }
                #expect(try file.lines("x", AudienceForm(format: format)).count <= newlines + 2)
            }
        }
    }
}

@Suite("Audiences as JSON lines")
struct JSONAudienceTests {
    private func lines(_ text: String, _ message: String = "{{name}}") throws -> [String] {
        let file = try AudienceFile(text, name: "users.jsonl")
        defer { file.remove() }
        return try file.lines(message)
    }

    @Test("Texts and numbers are fields, escapes are resolved; other members and blank lines are ignored")
    func good() throws {
        let text = """
            {"user":"ann","name":"Ann"}
              {"name":"B\\u00f6b \\"\\n","x":{"user":[1]},"user":"b\\u006fb"} \r

            {"us\\u0065r":"eve","name":12.50}
            """
        #expect(try lines(text) == ["1:ann=Ann", "2:bob=Böb \"\n", "4:eve=12.50"])
    }

    @Test(
        "An invalid line is reported with its number and reason",
        arguments: [
            ("{", "ends in the middle"), ("[]", "is not a JSON object"), ("{\"user\":\"ann\"}", "has no name"),
            ("{\"user\":\"ann\",\"name\":null}", "has null as name"),
            ("{\"user\":[\"ann\"],\"name\":\"A\"}", "has an array as user"),
            ("{\"user\":\"ann\",\"user\":\"bob\",\"name\":\"A\"}", "holds a member twice"),
            ("{\"user\":\"ann\",\"name\":\"a\\u0000\"}", "the message holds a NUL"),
            ("{\"user\":\"a&b\",\"name\":\"A\"}", "user holds '&'"), ("{\"user\":\"ann\",\"name\":\"A\"} x", "goes on"),
        ])
    func bad(line: String, expected: String) throws {
        let lines = try lines("\(line)\n{\"user\":\"bob\",\"name\":\"B\"}\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("1!") && lines[0].contains(expected), "\(lines)")
        #expect(lines.last == "2:bob=B")
    }

    @Test("A line longer than the read buffer is skipped, and counted once")
    func long() throws {
        let long = "{\"user\":\"ann\",\"name\":\"\(String(repeating: "x", count: 400_000))\"}"
        let lines = try lines("\(long)\n{\"user\":\"bob\",\"name\":\"B\"}\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("1!is longer") && lines[1] == "2:bob=B")
    }

    @Test(
        "A field that no line has is an error before anything is sent; lines without a field are invalid"
    )
    func missingField() throws {
        let file = try AudienceFile("{\"user\":\"ann\"}\n{\"user\":\"bob\"}\n", name: "a.jsonl")
        defer { file.remove() }
        #expect(failure { try file.preview("{{name}}") }.contains("{{name}}, which no line of the audience has"))
        #expect(try lines("{\"user\":\"ann\"}\n{\"user\":\"bob\",\"name\":\"B\"}") == ["1!has no name", "2:bob=B"])
    }

    @Test(
        "An object at the beginning makes it JSON lines; otherwise the file name decides",
        arguments: [
            ("\u{FEFF}{\"user\":\"ann\"}", "a.csv", AudienceFormat.jsonl), ("{ \"user\":1}", "a", .jsonl),
            ("user\nann", "a.ndjson", .jsonl), ("user\nann", "a.JSONL", .jsonl), ("user\nann", "a", .csv),
            ("{user}\nann", "a", .csv),
        ])
    func format(text: String, name: String, expected: AudienceFormat) throws {
        let file = try AudienceFile(text, name: name)
        defer { file.remove() }
        #expect(try file.open().format == expected)
        #expect(try file.open(AudienceForm(format: .csv)).format == .csv)
    }

    @Test("JSON that is read as another format is reported as JSON")
    func misread() throws {
        let object = try AudienceFile("{\"user\":\"ann\"}\n")
        defer { object.remove() }
        #expect(failure { try object.preview("Hi", AudienceForm(format: .csv)) }.contains("--format jsonl"))
        let array = try AudienceFile("[{\"user\":\"ann\"}]")
        defer { array.remove() }
        #expect(failure { try array.open() }.contains("is a JSON array"))
    }
}

@Suite("Previews of campaigns")
struct PreviewTests {
    @Test("Recipients, repeats and invalid lines are counted, each once, and the first messages are shown")
    func counts() throws {
        var text = "user,name\n"
        for number in 0..<1_000 { text += "user-\(number % 900),Name \(number)\n" }
        text += "bad user,x\nann,\n"
        let file = try AudienceFile(text)
        defer { file.remove() }
        let preview = try file.preview("Hi {{name}}")
        #expect(preview.recipients == 901 && preview.repeats == 100 && preview.invalid == 1)
        #expect(preview.invalidLines.map(\.line) == [1_002])
        #expect(preview.samples.map(\.message) == ["Hi Name 0", "Hi Name 1", "Hi Name 2"])
        #expect(preview.longestMessage == "Hi Name 999".utf8.count)
    }

    @Test("Invalid lines go to a file with number and reason, without formulas for a spreadsheet")
    func invalidFile() throws {
        let file = try AudienceFile("user,name\nann,Ann\n=cmd|'/c calc'!A1,\u{1B}[31m\nb\u{202E}ob,x\n")
        defer { file.remove() }
        #expect(try file.preview("{{name}}").invalid == 2)
        let lines = try #require(file.invalidLines).components(separatedBy: "\r\n")
        #expect(lines[0] == "\u{FEFF}user,name,invalid_line,invalid_row,invalid_why")
        #expect(lines[1].hasPrefix("'=cmd|'/c calc'!A1,\\u{1B}[31m,3,3,"))
        #expect(lines[2].hasPrefix("b\\u{202E}ob,x,4,4,"))
    }

    @Test("Invalid lines come back as a spreadsheet wrote the audience, with the rows that it shows")
    func invalidRows() throws {
        let file = try AudienceFile("user;name\nann;\"An\nna\"\n\nzo\u{EB} k;Zoe\n")
        defer { file.remove() }
        let preview = try file.preview("{{name}}")
        #expect(preview.invalidLines.map(\.place) == ["row 4 (line 5)"])
        let lines = try #require(file.invalidLines).components(separatedBy: "\r\n")
        #expect(lines[0] == "\u{FEFF}user;name;invalid_line;invalid_row;invalid_why")
        #expect(lines[1].hasPrefix("zo\u{EB} k;Zoe;5;4;"))
    }

    @Test(
        "Mended invalid lines are an audience; a list of what is still invalid has its own columns alone"
    )
    func mendedInvalidLines() throws {
        let file = try AudienceFile("name;user\nAnn A;ann a\nBob;b/b\nCem;cem;x;y\n\"Open;dora\n")
        defer { file.remove() }
        #expect(try file.preview("Hi {{name}}").invalid == 4)
        let text = try #require(file.invalidLines)
        let lines = text.components(separatedBy: "\r\n")
        #expect(lines[1].hasPrefix("Ann A;ann a;2;2;"))
        // What stands in no columns is in the first.
        #expect(lines[3].hasPrefix("\"Cem;cem;x;y\";;4;4;\"has 4 fields"))
        #expect(lines[4].contains("a quote that is not closed"))
        let mended = try AudienceFile(text.replacing("ann a", with: "ann"))
        defer { mended.remove() }
        let preview = try mended.preview("Hi {{name}}")
        #expect(preview.recipients == 1 && preview.samples.map(\.message) == ["Hi Ann A"])
        let again = try #require(mended.invalidLines).components(separatedBy: "\r\n")
        #expect(again[0] == lines[0] && again[1].hasPrefix("Bob;b/b;3;3;"))
    }

    @Test("A kept invalid line says what is wrong with it, and nothing of settings")
    func plainReasons() {
        for (user, words) in [
            ("a b", "user holds a space (U+0020) as character 2; a user has only A-Z a-z 0-9 _ @ # . : -"),
            ("a/b", "user holds '/' (U+002F) as character 2; a user has only A-Z a-z 0-9 _ @ # . : -"),
            ("", "user is empty"),
        ] {
            let reason = UserRule.tag.problem(in: Array(user.utf8).span.bytes) ?? ""
            #expect(InvalidLines(keeping: 1).words(reason) == words)
            #expect(InvalidLines(path: "x").words(reason) == reason && reason != words)
        }
        #expect(InvalidLines(keeping: 1).words("has 6 fields; the header has 3") == "has 6 fields; the header has 3")
    }

    @Test("Without invalid lines no file is written, and an existing one is not touched")
    func noInvalidFile() throws {
        let file = try AudienceFile("user,name\nann,Ann\n")
        defer { file.remove() }
        #expect(try file.preview("{{name}}").invalid == 0 && file.invalidLines == nil)
    }

    @Test("An audience that changes while it is read is refused")
    func changed() throws {
        let file = try AudienceFile("user\nann\n")
        defer { file.remove() }
        let audience = try file.open()
        let handle = try #require(FileHandle(forWritingAtPath: file.path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("bob\n".utf8))
        try handle.close()
        let message = failure {
            var recipients = RecipientSet()
            return try AudiencePreview(
                audience, try AudienceFile.text("x"), expiresAt: nil, marking: &recipients,
                into: InvalidLines(path: file.invalidPath),
                onProgress: { _ in true })
        }
        #expect(message.contains("was changed while it was read"))
    }
}
