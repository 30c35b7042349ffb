import Glibc
import Synchronization

/// Actions at the end of the tests, last registered first; skipped when the tests are killed.
public enum AtExit {
    private static let actions = Mutex<[@Sendable () -> Void]>([])

    private static let hook: Void = {
        atexit {
            let all = AtExit.actions.withLock { actions in
                defer { actions = [] }
                return actions
            }
            for action in all.reversed() { action() }
        }
    }()

    /// Registers `action`.
    public static func run(_ action: @escaping @Sendable () -> Void) {
        _ = hook
        actions.withLock { $0.append(action) }
    }
}
