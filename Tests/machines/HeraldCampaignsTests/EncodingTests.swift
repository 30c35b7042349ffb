import Foundation
import HeraldTools
import TestSupport
import Testing

@testable import HeraldCampaigns

@Suite("Audiences in encodings other than UTF-8")
struct EncodingTests {
    /// People's names in an encoding.
    struct Sample: Sendable, CustomTestStringConvertible {
        var encoding: String
        var names: [String]

        var testDescription: String { encoding }

        /// An audience of these names, with the line ends of Windows.
        func bytes() throws -> [UInt8] {
            let lines = names.enumerated().map { "user-\($0.offset),\($0.element)\r\n" }.joined()
            return try encoded("user,name\r\n" + lines)
        }

        /// Encodes a text with the program `iconv`.
        private func encoded(_ text: String) throws -> [UInt8] {
            let (process, input, output) = (Process(), Pipe(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/iconv")
            process.arguments = ["-f", "UTF-8", "-t", encoding]
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try input.fileHandleForWriting.close()
            let bytes = try output.fileHandleForReading.readToEnd()
            process.waitUntilExit()
            guard process.terminationStatus == 0, let bytes else { throw ToolFailure("iconv cannot write \(encoding)") }
            return Array(bytes)
        }
    }

    private static let samples = [
        Sample(encoding: "WINDOWS-1251", names: ["Анна", "Борис", "Мария Иванова"]),
        Sample(encoding: "KOI8-R", names: ["Анна", "Борис", "Мария Иванова"]),
        Sample(encoding: "SHIFT_JIS", names: ["表示", "ソフト", "山田太郎"]),
        Sample(encoding: "GBK", names: ["张伟", "王芳", "李小龙"]), Sample(encoding: "BIG5", names: ["張偉", "王小明"]),
        Sample(encoding: "EUC-KR", names: ["김철수", "이영희"]),
        Sample(encoding: "MACINTOSH", names: ["Jörg Müller", "René"]),
        Sample(encoding: "WINDOWS-1252", names: ["Jörg Müller", "René", "Zoë"]),
        Sample(encoding: "WINDOWS-1250", names: ["Łukasz", "Křížek"]),
        Sample(encoding: "UTF-16LE", names: ["Jörg", "Анна"]), Sample(encoding: "UTF-16BE", names: ["Jörg", "Анна"]),
    ]

    private func unreadable(_ file: AudienceFile, _ message: String = "Hi {{name}}") throws -> UnreadableAudience {
        try #require(throws: UnreadableAudience.self) { try file.preview(message) }
    }

    @Test("Lines are shown in their possible readings, the right one first, and read so on request", arguments: samples)
    func guess(sample: Sample) throws {
        let file = try AudienceFile(sample.bytes())
        defer { file.remove() }
        let first = try #require(try unreadable(file).readings.first)
        let isWide = sample.encoding.hasPrefix("UTF-16")
        #expect(first.encoding == sample.encoding)
        let lines = sample.names.enumerated().map { "user-\($0.offset),\($0.element)" }
        #expect(first.lines == (isWide ? ["user,name"] : []) + lines)
        for name in [first.encoding, sample.encoding.lowercased()] {
            let encoding = try #require(AudienceEncoding(name))
            let preview = try file.preview("Hi {{name}}", AudienceForm(encoding: encoding))
            #expect(preview.samples.map(\.message) == sample.names.map { "Hi \($0)" } && preview.invalid == 0)
        }
    }

    @Test(
        "UTF-16 with its byte order mark, as Excel's Unicode text, is read without a question", arguments: [0xFE, 0xFF])
    func marked(first: UInt8) throws {
        let isLittle = first == 0xFF
        let text = try Sample(encoding: isLittle ? "UTF-16LE" : "UTF-16BE", names: ["Jörg", "Анна"]).bytes()
        let file = try AudienceFile([first, isLittle ? 0xFE : 0xFF] + text)
        defer { file.remove() }
        for form in [AudienceForm(), try AudienceForm().continuing(former("WINDOWS-1252"), replacesAudience: false)] {
            let preview = try file.preview("Hi {{name}}", form)
            #expect(preview.samples.map(\.message) == ["Hi Jörg", "Hi Анна"] && preview.columns == ["user", "name"])
            #expect(preview.reading.text.hasPrefix("CSV with commas in UTF-16, "))
        }
        let unmarked = try AudienceFile(text)
        defer { unmarked.remove() }
        #expect(try unreadable(unmarked).description.contains("it is UTF-16, without a byte order mark"))
    }

    @Test("The message on a terminal names the line, and the option for each reading")
    func words() throws {
        let latin = try AudienceFile(Sample(encoding: "WINDOWS-1252", names: ["Ann", "Müller"]).bytes())
        defer { latin.remove() }
        let words = try unreadable(latin).description.split(separator: "\n").map(String.init)
        #expect(words[0].contains("is not UTF-8: line 3 has the byte 0xFC"), "\(words)")
        #expect(words[1] == "  --encoding WINDOWS-1252  user-1,Müller" && words.count > 2, "\(words)")
        // Columns that no message uses are ignored.
        #expect(try latin.preview("Hi").recipients == 2)
    }

    @Test("A header that is not UTF-8 shows it, too; a single damaged line is invalid on its own")
    func header() throws {
        let header = try AudienceFile(Array("user,Stra".utf8) + [0xDF] + Array("e\nann,x\n".utf8))
        defer { header.remove() }
        let unreadable = try unreadable(header, "{{Straße}}")
        #expect(unreadable.description.contains("its first line is none"))
        #expect(unreadable.readings.first?.lines == ["user,Straße"])
        let mixed = try AudienceFile(Array("user,name\nann,Änn\nbob,M".utf8) + [0xFC] + Array("ller\n".utf8))
        defer { mixed.remove() }
        let preview = try mixed.preview("Grüß {{name}}")
        #expect(preview.recipients == 1 && preview.invalid == 1)
    }

    @Test("A long file is converted completely, wherever its chunks begin", arguments: ["UTF-16LE", "SHIFT_JIS"])
    func long(encoding: String) throws {
        let names = (0..<20_000).map { String(repeating: "表", count: 5 + $0 % 3) }
        let file = try AudienceFile(Sample(encoding: encoding, names: names).bytes())
        defer { file.remove() }
        let lines = try file.lines("{{name}}", AudienceForm(encoding: AudienceEncoding(encoding)))
        #expect(lines.count == 20_000 && lines.last == "20001:user-19999=\(names[19_999])")
    }

    @Test("An unknown encoding is refused, and so is a file in another encoding than the specified one")
    func wrong() throws {
        for name in ["", "latin-nothing", "ASCII//IGNORE", String(repeating: "x", count: 100)] {
            #expect(AudienceEncoding(name) == nil, "\(name)")
        }
        let file = try AudienceFile(Array("user,name\nann,Ann\nbob,\u{FFFD}".utf8) + [0xFF, 0xFF])
        defer { file.remove() }
        let form = AudienceForm(encoding: AudienceEncoding("SHIFT_JIS"))
        #expect(failure { try file.preview("Hi {{name}}", form) }.contains("is not SHIFT_JIS: line 3"))
        let cut = try AudienceFile([0x61, 0x00, 0x62])
        defer { cut.remove() }
        let wide = AudienceForm(encoding: AudienceEncoding("UTF-16LE"))
        #expect(failure { try cut.open(wide) }.contains("is not UTF-16LE"))
    }

    private static let latin = Sample(encoding: "WINDOWS-1252", names: ["Jörg Müller", "René"])

    private func former(_ encoding: String?) -> CampaignProgress {
        var progress = Samples.progress()
        progress.encoding = encoding
        return progress
    }

    @Test("A continued campaign reads its audience as before, and one that was saved anew in UTF-8 as that")
    func continued() throws {
        let form = try AudienceForm().continuing(former("WINDOWS-1252"), replacesAudience: false)
        for bytes in [try Self.latin.bytes(), Array("user,name\r\nu,Jörg Müller\r\nv,René\r\n".utf8)] {
            let file = try AudienceFile(bytes)
            defer { file.remove() }
            let preview = try file.preview("Hi {{name}}", form)
            #expect(preview.samples.map(\.message) == ["Hi Jörg Müller", "Hi René"])
            let isConverted = bytes.contains(0xF6)
            #expect((preview.reading.encoding?.name == "WINDOWS-1252") == isConverted)
            #expect(preview.reading.text.hasPrefix("CSV with commas in WINDOWS-1252, ") == isConverted)
        }
        let wide = try AudienceFile(Sample(encoding: "UTF-16LE", names: ["Ann"]).bytes())
        defer { wide.remove() }
        let utf16 = try AudienceForm().continuing(former("UTF-16LE"), replacesAudience: false)
        #expect(try wide.preview("Hi {{name}}", utf16).samples.first?.message == "Hi Ann")
    }

    @Test("Another encoding than the campaign's is refused, unless its audience is replaced")
    func otherEncoding() throws {
        let form = AudienceForm(encoding: AudienceEncoding("MACINTOSH"))
        let words = failure { _ = try form.continuing(former("WINDOWS-1252"), replacesAudience: false) }
        #expect(words.contains("read as WINDOWS-1252") && words.contains("--replace-audience"), "\(words)")
        #expect(try form.continuing(former("WINDOWS-1252"), replacesAudience: true) == form)
        #expect(try form.continuing(former("WINDOWS-1252"), replacesAudience: false, addsPeople: true) == form)
        #expect(try AudienceForm().continuing(former("WINDOWS-1252"), replacesAudience: true) == AudienceForm())
        #expect(try form.continuing(former("macintosh"), replacesAudience: false) == form)
        #expect(try form.continuing(former(nil), replacesAudience: false) == form)
        let utf8 = AudienceForm(encoding: AudienceEncoding("utf8"))
        #expect(try utf8.continuing(former("WINDOWS-1252"), replacesAudience: false) == utf8)
    }

    @Test(
        "Recorded lists of others are shown in their possible readings", .judged(by: .audiences),
        arguments: [
            ("a15-cp1251.csv", "WINDOWS-1251", "ann,Анна"), ("a15b-sjis.csv", "SHIFT_JIS", "ann,表示"),
            ("a15g-gbk.csv", "GBK", "ann,张伟"),
        ])
    func judged(name: String, encoding: String, line: String) throws {
        let file = try AudienceFile(Data(contentsOf: Judge.audiences.url.appending(path: name)))
        defer { file.remove() }
        let first = try #require(try unreadable(file, "Hi {{first_name}}").readings.first)
        #expect(first.encoding == encoding && first.lines.first == line)
    }
}
