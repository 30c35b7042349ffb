/// Lines at a terminal's cursor that are redrawn in place; other lines go above them.
///
/// The terminal is restored by ``end()``, by the screen's release after an error, and by a signal that ends the
/// process. It belongs to one thread.
package final class LiveScreen {
    /// Restores the terminal: lines may wrap, the cursor shows.
    package static let restoring = "\(TerminalRescue.restoring)"
    private static let taking = "\u{1B}[?7l\u{1B}[?25l"
    private static let clearing = "\u{1B}[2J\u{1B}[H"
    private static let clearingBelow = "\u{1B}[J"

    private let stream: Console.Stream
    private var lineCount = 0
    private var size: TerminalSize?

    package init(_ stream: Console.Stream) {
        self.stream = stream
    }

    deinit { try? end() }

    /// Replaces the lines, below `above`, which stays; `size` is the terminal's current size.
    package func draw(_ lines: [String], above: [String] = [], size: TerminalSize) throws {
        var text = ""
        if self.size == nil {
            text += Self.taking
            if let descriptor = stream.descriptor { TerminalRescue.arm(descriptor) }
        }
        if let known = self.size, known != size {
            // After a resize, the position of the old lines is unknown.
            text += Self.clearing
        } else if lineCount > 0 {
            text += "\u{1B}[\(lineCount)A\r"
        }
        if !above.isEmpty {
            // These lines may wrap.
            text += Self.clearingBelow + Self.restoring + above.map { $0 + "\n" }.joined() + Self.taking
        }
        for line in lines { text += line + "\u{1B}[K\n" }
        try stream.write(text + Self.clearingBelow)
        lineCount = lines.count
        self.size = size
    }

    package func end() throws {
        guard size != nil else { return }
        size = nil
        lineCount = 0
        try stream.write(Self.restoring)
        TerminalRescue.disarm()
    }
}
