internal import CEpoll

/// How many heaps the allocator keeps.
public enum MemoryArenas {
    /// Lets all threads share so many heaps.
    ///
    /// glibc gives nearly every thread one of its own, up to eight for each core. What librdkafka's threads allocate and a lane frees
    /// leaves holes in each of them: with two a worker of one lane is 5 MB smaller, and not slower (measured).
    public static func limit(to count: Int) {
        _ = mallopt(M_ARENA_MAX, Int32(clamping: count))
    }
}
