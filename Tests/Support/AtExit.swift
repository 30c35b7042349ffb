import Glibc
import Synchronization

/// What is done when the tests end, last registered first; not when they are killed.
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

    /// Remembers `action`.
    public static func run(_ action: @escaping @Sendable () -> Void) {
        _ = hook
        actions.withLock { $0.append(action) }
    }
}
