import Glibc
import Synchronization

/// Keeps a terminal from showing a secret while it is typed.
package enum HiddenInput {
    /// The terminal's former mode; `nil` while it shows typed text.
    private static let former = Mutex<termios?>(nil)

    /// Runs `body` while text typed on standard input is not shown.
    static func during(_ body: () -> String?) -> String? {
        begin()
        defer { end() }
        return body()
    }

    private static func begin() {
        var mode = termios()
        guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return }
        former.withLock { $0 = mode }
        mode.c_lflag &= ~tcflag_t(ECHO)
        // The line feed shows, so that the next output starts on a new line.
        mode.c_lflag |= tcflag_t(ECHONL)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// Shows typed text again; also called before the process ends in the middle of an answer.
    package static func end() {
        former.withLock { former in
            guard var mode = former else { return }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
            former = nil
        }
    }
}
