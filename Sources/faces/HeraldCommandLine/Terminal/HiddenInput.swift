import Glibc
import Synchronization

/// Keeps a terminal from showing what is typed on it, for as long as it is a secret.
package enum HiddenInput {
    /// How the terminal was; `nil` while it shows what is typed.
    private static let former = Mutex<termios?>(nil)

    /// Runs `body` while what is typed on standard input does not show.
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
        // The end of the line shows, so that what comes next has one of its own.
        mode.c_lflag |= tcflag_t(ECHONL)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// Shows it again, also ahead of an end of the process in the middle of an answer.
    package static func end() {
        former.withLock { former in
            guard var mode = former else { return }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
            former = nil
        }
    }
}
