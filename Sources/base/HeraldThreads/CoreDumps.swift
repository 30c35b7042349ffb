internal import CEpoll
internal import Glibc

/// What is left of a process that dies, and what others of its user may read of it while it lives.
public enum CoreDumps {
    /// Keeps this process's memory, which holds messages, users and credentials, out of core dumps, and from debuggers
    /// without a privilege of their own.
    public static func forbid() {
        // Neither can fail for a process of its own; the limit holds for its children too.
        _ = herald_set_undumpable()
        _ = withUnsafePointer(to: rlimit(rlim_cur: 0, rlim_max: 0)) {
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), $0)
        }
    }
}
