import Glibc
import HeraldCommandLine
import HeraldText
import Synchronization
import Testing

@Suite("Output and questions of commands")
struct ConsoleTests {
    /// A console that keeps its output.
    private final class Paper: Sendable {
        private let text = Mutex("")

        var written: String { text.withLock { $0 } }

        func console(isTerminal: Bool, answer: String? = nil, allowsColor: Bool = true) -> Console {
            let stream = Console.Stream(isTerminal: isTerminal) { text in self.text.withLock { $0 += text } }
            return Console(
                output: stream, error: stream, isInputTerminal: isTerminal, allowsColor: allowsColor,
                line: { answer })
        }
    }

    private static let columns = [
        RecordWriter.Column("user"), RecordWriter.Column("count", heading: "N", isNumber: true),
        RecordWriter.Column("list"),
    ]

    private func written(_ format: OutputFormat, isTerminal: Bool = false) throws -> String {
        let paper = Paper()
        var writer = RecordWriter(format, columns: Self.columns, console: paper.console(isTerminal: isTerminal))
        try writer.write(["jo\u{1B}[2J\u{202E}", 7, ["a", "b"]])
        try writer.write(["日本", 12, .null])
        try writer.finish()
        return paper.written
    }

    @Test(
        "A line of progress overwrites itself on a terminal, and is removed; a pipe gets none"
    )
    func progress() {
        let paper = Paper()
        var line = ProgressLine(paper.console(isTerminal: true))
        line.show(share: 5, of: 10, "half of it " + String(repeating: "x", count: 200))
        line.show(share: 6, of: 10, "too soon to be seen")
        line.clear()
        line.clear()
        let parts = paper.written.split(separator: "\r")
        #expect(parts.count == 2 && parts.first?.hasPrefix("██████████░░░░░░░░░░ half of it x") ?? false)
        #expect(parts.first?.hasSuffix("…\u{1B}[K") ?? false && parts.last == "\u{1B}[K")
        #expect(parts.first?.dropLast(3).count == 79)

        let pipe = Paper()
        var silent = ProgressLine(pipe.console(isTerminal: false))
        silent.show(share: 1, of: 1, "all")
        silent.clear()
        #expect(pipe.written.isEmpty)
    }

    @Test("A table is aligned, and control and direction characters are escaped")
    func table() throws {
        #expect(
            try written(.table) == """
                USER                  N  LIST
                jo\\u{1B}[2J\\u{202E}   7  a,b
                日本                 12

                """)
    }

    @Test("JSON is one array, JSON lines are one object each, both without absent members")
    func json() throws {
        #expect(
            try written(.jsonl) == """
                {"user":"jo\\u001b[2J\\u202e","count":7,"list":["a","b"]}
                {"user":"日本","count":12}

                """)
        #expect(try written(.json).hasPrefix("[\n  {\n    \"user\": \"jo\\u001b[2J"))
        let paper = Paper()
        var writer = RecordWriter(.json, columns: Self.columns, console: paper.console(isTerminal: false))
        try writer.finish()
        #expect(paper.written == "[]\n")
    }

    @Test("Long output is written in parts: a table with one heading, an array that is complete at the end")
    func long() throws {
        for format in OutputFormat.allCases {
            let paper = Paper()
            var writer = RecordWriter(format, columns: Self.columns, console: paper.console(isTerminal: false))
            for index in 0..<2_500 { try writer.write(["user", .integer(index), .string("a wide cell \(index)")]) }
            #expect(!paper.written.isEmpty)
            try writer.finish()
            let text = paper.written
            switch format {
            case .table:
                #expect(text.split(separator: "\n").count == 2_501)
                #expect(text.hasPrefix("USER    N  LIST\n") && text.hasSuffix("user  2499  a wide cell 2499\n"))
            case .json:
                let whole = (0..<2_500).map { index -> JSONValue in
                    ["user": "user", "count": .integer(index), "list": .string("a wide cell \(index)")]
                }
                #expect(text == JSONValue.array(whole).pretty + "\n")
            case .jsonl: #expect(text.split(separator: "\n").count == 2_500)
            }
        }
    }

    @Test("Colours appear on a terminal that allows them, and nowhere else")
    func colors() {
        for (isTerminal, allowsColor) in [(true, true), (true, false), (false, true), (false, false)] {
            let console = Paper().console(isTerminal: isTerminal, allowsColor: allowsColor)
            let text = console.styled("x", .red, on: console.output)
            #expect(text == (isTerminal && allowsColor ? "\u{1B}[31mx\u{1B}[0m" : "x"))
        }
    }

    @Test(
        "NO_COLOR when not empty, TERM=dumb and --no-color forbid colours",
        arguments: [
            (["NO_COLOR": "1"], false, false), (["NO_COLOR": ""], false, true), (["TERM": "dumb"], false, false),
            ([:], true, false), ([:], false, true),
        ])
    func noColor(environment: [String: String], flag: Bool, allows: Bool) {
        #expect(Console.system(environment: environment, isQuiet: false, noColor: flag).allowsColor == allows)
    }

    @Test(
        "Only a yes is a yes",
        arguments: [("y", true), ("YES ", true), ("", false), ("n", false), ("yess", false), (nil, false)]
            as [(String?, Bool)])
    func confirmation(answer: String?, isYes: Bool) throws {
        let paper = Paper()
        let console = paper.console(isTerminal: true, answer: answer)
        #expect(try Confirmation.ask("Really?", isAssumed: false, console: console) == isYes)
        #expect(paper.written == "Really? [y/N] ")
    }

    @Test("A confirmation stronger than yes must be typed as requested")
    func typed() throws {
        for (answer, isRight) in [("1200", true), ("120", false), ("y", false)] {
            let console = Paper().console(isTerminal: true, answer: answer)
            #expect(try Confirmation.ask("Replay?", count: 1_200, isAssumed: false, console: console) == isRight)
        }
    }

    @Test("Without a terminal a confirmation needs --yes, else the status is 4")
    func noTerminal() throws {
        let console = Paper().console(isTerminal: false, answer: "y")
        #expect(try Confirmation.ask("Really?", isAssumed: true, console: console))
        let failure = #expect(throws: CommandFailure.self) {
            try Confirmation.ask("Really?", isAssumed: false, console: console)
        }
        #expect(failure?.status == .needsConfirmation)
    }

    @Test("The exit statuses are those of the contract")
    func statuses() {
        #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 78])
    }
}
