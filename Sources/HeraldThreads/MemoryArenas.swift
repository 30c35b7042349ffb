internal import CEpoll

/// How many heaps the allocator keeps.
public enum MemoryArenas {
    /// Lets all threads share a few heaps.
    ///
    /// glibc gives nearly every thread one of its own, up to eight for each core. What librdkafka's threads allocate and a lane frees
    /// leaves holes in each of them: two make a worker 5 MB smaller, and not slower (measured).
    public static func limit() {
        _ = mallopt(M_ARENA_MAX, 2)
    }
}
