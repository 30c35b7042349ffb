internal import Glibc

/// Tells what a SIGHUP is: the end of the terminal that a process was started in, or a request.
package struct HangUp: Sendable {
    private let mayBeTerminals: Bool

    /// Looks at the process as it was started; a process that ignores SIGHUP (`nohup`) is to outlive the terminal.
    package init() {
        var former = sigaction()
        sigaction(SIGHUP, nil, &former)
        let isIgnored =
            unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        mayBeTerminals = !isIgnored && Self.hasTerminal
    }

    /// Whether the terminal is gone.
    package var isTerminals: Bool { mayBeTerminals && !Self.hasTerminal }

    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }
}
