internal import Glibc

/// Distinguishes the meanings of SIGHUP: the end of the terminal that started the process, or a request.
package struct HangUp: Sendable {
    private let mayBeTerminals: Bool

    /// Reads the state at the process's start; one that ignores SIGHUP (`nohup`) is meant to outlive the terminal.
    package init() {
        var former = sigaction()
        sigaction(SIGHUP, nil, &former)
        let isIgnored =
            unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        mayBeTerminals = !isIgnored && Self.hasTerminal
    }

    package var isTerminals: Bool { mayBeTerminals && !Self.hasTerminal }

    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }
}
