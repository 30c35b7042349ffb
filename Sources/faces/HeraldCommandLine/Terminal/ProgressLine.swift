/// One redrawn line of standard error during long work; writes nothing unless that is a terminal.
package struct ProgressLine {
    private static let pause = Duration.milliseconds(100)

    private let console: Console
    private let isShown: Bool
    private var last: ContinuousClock.Instant?
    private var lastRemark = ContinuousClock.now

    package init(_ console: Console) {
        self.console = console
        isShown = console.error.isTerminal && !console.isQuiet
    }

    /// Shows the text, cut to the terminal's width; ten times a second at most.
    package mutating func show(_ text: @autoclosure () -> String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        if let last, now - last < Self.pause { return }
        last = now
        try? console.error.write("\r" + text().fitted(toColumns: console.error.width - 1) + "\u{1B}[K")
    }

    /// Shows a bar for a part of a whole, followed by a text.
    package mutating func show(share part: Int64, of whole: Int64, _ text: @autoclosure () -> String) {
        let width = max(4, min(30, console.error.width / 4))
        let share = whole > 0 ? max(0, min(1, Double(part) / Double(whole))) : 1
        let filled = Int((share * Double(width)).rounded(.down))
        show(String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled) + " " + text())
    }

    /// A line for people, above it.
    package mutating func remark(_ text: String) {
        clear()
        console.remark(text)
        lastRemark = .now
    }

    /// The same every ten seconds, elsewhere than on a terminal.
    package mutating func note(_ text: @autoclosure () -> String) {
        guard !console.error.isTerminal, ContinuousClock.now - lastRemark >= .seconds(10) else { return }
        remark(text())
    }

    package mutating func clear() {
        guard isShown, last != nil else { return }
        last = nil
        try? console.error.write("\r\u{1B}[K")
    }
}
