internal import CEpoll

/// The number of heaps that the allocator keeps, and the allocations that bypass them.
public enum MemoryArenas {
    /// Makes all threads share this many heaps.
    ///
    /// glibc gives nearly every thread a heap of its own, up to eight per core. Blocks that librdkafka's threads
    /// allocate and a lane frees leave holes in each: with two, a worker of one lane is 5 MB smaller and no slower.
    ///
    /// Large blocks (the records of a fetch, grown tables) stay outside of the heaps and return to the system when
    /// freed. By default, each freed block raises glibc's threshold to its size, up to 32 MB, and later ones leave
    /// holes in the heaps: with a backlog of a million, a fixed one makes a worker 9 MB smaller and no slower.
    public static func limit(to count: Int) {
        _ = mallopt(M_ARENA_MAX, Int32(clamping: count))
        _ = mallopt(M_MMAP_THRESHOLD, largeBytes)
    }

    /// glibc's own initial threshold.
    private static let largeBytes: Int32 = 128 * 1024
}
