internal import CEpoll

/// How many heaps the allocator keeps, and what does not go into them.
public enum MemoryArenas {
    /// Lets all threads share so many heaps.
    ///
    /// glibc gives nearly every thread one of its own, up to eight for each core. What librdkafka's threads allocate and a lane frees
    /// leaves holes in each of them: with two a worker of one lane is 5 MB smaller, and not slower (measured).
    ///
    /// What is large stays outside of the heaps, and goes back to the system when it is freed: the records of a fetch, and tables
    /// that have grown. glibc would learn from the first such block that is freed to take the others from the heaps, up to
    /// 32 MB each, where they leave holes: with a backlog of a million a worker is 9 MB smaller, and not slower (measured).
    public static func limit(to count: Int) {
        _ = mallopt(M_ARENA_MAX, Int32(clamping: count))
        _ = mallopt(M_MMAP_THRESHOLD, largeBytes)
    }

    /// glibc's own limit, as long as it has learnt nothing.
    private static let largeBytes: Int32 = 128 * 1024
}
