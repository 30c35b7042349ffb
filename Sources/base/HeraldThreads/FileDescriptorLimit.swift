internal import Glibc

/// The number of files and sockets that this process may have open.
public enum FileDescriptorLimit {
    /// Raises the soft limit to the hard one and returns the resulting limit.
    ///
    /// The soft limit is low (1024) for programs that use `select`; Herald does not.
    @discardableResult
    public static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        let wanted = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        if withUnsafePointer(to: wanted, { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), $0) }) == 0 {
            limit = wanted
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Whether another file can be opened now.
    public static var hasRoom: Bool {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
