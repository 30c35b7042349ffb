internal import CEpoll
internal import Glibc

/// Protects the memory of this process from core dumps and from other processes of its user.
public enum CoreDumps {
    /// Keeps this process's memory, which holds messages, users and credentials, out of core dumps and away from
    /// unprivileged debuggers.
    public static func forbid() {
        // Neither can fail for a process of its own; the limit also holds for its children.
        _ = herald_set_undumpable()
        _ = withUnsafePointer(to: rlimit(rlim_cur: 0, rlim_max: 0)) {
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), $0)
        }
    }
}
