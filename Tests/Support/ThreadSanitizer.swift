import Glibc

/// Whether the tests run under the thread sanitizer.
///
/// librdkafka of Debian starts its threads with `thrd_create`, which the sanitizer does not see: it crashes at the first
/// thing that such a thread does. Suites with librdkafka in them are left out then.
public enum ThreadSanitizer {
    /// Whether the sanitizer's run-time library is in this process.
    public static let isActive = dlsym(nil, "__tsan_init") != nil
}
