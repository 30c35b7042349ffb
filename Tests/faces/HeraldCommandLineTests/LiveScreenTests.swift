import HeraldCommandLine
import HeraldThreads
import Testing

@Suite("Lines rewritten in place")
struct LiveScreenTests {
    private static let size = TerminalSize(columns: 80, rows: 24)

    @Test("Lines are rewritten in place, other lines above them, and the terminal is restored")
    func draw() throws {
        let written = Guarded("")
        func take() -> String {
            written.withLock { text in
                defer { text = "" }
                return text
            }
        }
        let screen = LiveScreen(
            Console.Stream(isTerminal: true) { text in written.withLock { $0 += text } })
        try screen.draw(["one", "two"], size: Self.size)
        #expect(take() == "\u{1B}[?7l\u{1B}[?25lone\u{1B}[K\ntwo\u{1B}[K\n\u{1B}[J")
        try screen.draw(["three"], size: Self.size)
        #expect(take() == "\u{1B}[2A\rthree\u{1B}[K\n\u{1B}[J")
        try screen.draw(["four"], above: ["a log line"], size: Self.size)
        #expect(
            take() == "\u{1B}[1A\r\u{1B}[J\u{1B}[?7h\u{1B}[?25ha log line\n\u{1B}[?7l\u{1B}[?25lfour\u{1B}[K\n\u{1B}[J")
        try screen.draw(["five"], size: TerminalSize(columns: 40, rows: 24))
        #expect(take() == "\u{1B}[2J\u{1B}[Hfive\u{1B}[K\n\u{1B}[J")
        try screen.end()
        #expect(take() == "\u{1B}[?7h\u{1B}[?25h")
        try screen.end()
        #expect(take().isEmpty)
    }
    @Test("A screen that an error leaves behind restores the terminal")
    func leftBehind() throws {
        let written = Guarded("")
        func draw() throws {
            let screen = LiveScreen(Console.Stream(isTerminal: true) { text in written.withLock { $0 += text } })
            try screen.draw(["one"], size: Self.size)
            throw CommandFailure("cannot write")
        }
        #expect(throws: CommandFailure.self) { try draw() }
        #expect(written.withLock { $0 }.hasSuffix("\u{1B}[?7h\u{1B}[?25h"))
    }
}
