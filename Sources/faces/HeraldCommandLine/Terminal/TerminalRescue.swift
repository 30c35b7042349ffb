import Glibc
import Synchronization

/// Restores a terminal when a signal ends the process during a ``LiveScreen``: a trap, an abort, a closed window.
enum TerminalRescue {
    static let restoring: StaticString = "\u{1B}[?7h\u{1B}[?25h"

    private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGSYS, SIGQUIT, SIGHUP]
    /// The terminal to restore; negative for none.
    private static let terminal = Atomic<Int32>(-1)
    private static let isInstalled = Atomic<Bool>(false)
    /// The former actions of the signals, by number; written once, before the handler can run.
    nonisolated(unsafe) private static let former = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// Makes a signal that ends the process restore this terminal first.
    static func arm(_ descriptor: Int32) {
        terminal.store(descriptor, ordering: .releasing)
        guard !isInstalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            let terminal = TerminalRescue.terminal.load(ordering: .acquiring)
            if terminal >= 0 {
                let text = TerminalRescue.restoring
                _ = write(terminal, text.utf8Start, text.utf8CodeUnitCount)
            }
            // The default effect follows as soon as this returns.
            sigaction(number, TerminalRescue.former + Int(number), nil)
            raise(number)
        }
        for number in signals {
            sigaction(number, nil, former + Int(number))
            // A process started with nohup keeps ignoring the signal.
            if number == SIGHUP, former[Int(number)].isIgnored { continue }
            sigaction(number, &action, nil)
        }
    }

    static func disarm() { terminal.store(-1, ordering: .releasing) }
}

extension sigaction {
    fileprivate var isIgnored: Bool { unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == 1 }
}
