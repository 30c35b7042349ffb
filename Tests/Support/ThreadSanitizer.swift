import Glibc

/// Whether the tests run under the thread sanitizer.
///
/// Debian's librdkafka starts its threads with `thrd_create`, which the sanitizer does not see: it crashes at such a
/// thread's first action. Suites that use librdkafka are then left out.
public enum ThreadSanitizer {
    /// Whether the sanitizer's run-time library is in this process.
    public static let isActive = dlsym(nil, "__tsan_init") != nil
}
