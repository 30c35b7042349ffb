import Glibc

package struct TerminalSize: Sendable, Equatable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }

    /// The size of the terminal behind the descriptor; nil for other files, or when unknown.
    package static func of(_ descriptor: Int32) -> Self? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return Self(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
