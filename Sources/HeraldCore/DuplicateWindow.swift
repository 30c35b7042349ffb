import HeraldTime

/// Remembers the identities of the last events: so many of them, or those of so long, whichever is less.
///
/// A ring of hashes in the order of arrival, an index that finds a hash in it, and marks in time: 13⅓ bytes for each
/// event and 16 KiB. Everything grows by doubling up to its limit; afterwards nothing is allocated. An event counts
/// each time it comes: what is remembered are the last `size` events, not the last `size` different ones.
///
/// What the window has passed is forgotten at once but leaves the tables little by little, two for each event that
/// comes: only growing takes more than a moment, and the last time comes at half of the limit.
struct DuplicateWindow {
    private static let smallestCapacity = 1_024

    /// The most events that are remembered; 0 when nothing is.
    private let limit: Int
    private var arrivals: ArrivalTimes
    private var index = PositionIndex(capacity: 0)
    /// The ring of hashes.
    private var hashes: [UInt64] = []
    /// The position of the oldest event in the ring.
    private var oldest = 0
    /// The number of events in the ring.
    private var held = 0
    /// The number that the next event gets.
    private var next = 0

    /// A memory of at most `size` events and `window` milliseconds; with none of either it remembers nothing.
    init(size: Int, window: Int64) {
        limit = window > 0 ? min(max(size, 0), PositionIndex.largestCapacity) : 0
        arrivals = ArrivalTimes(window: max(window, 1))
    }

    /// The number of events that are remembered.
    var count: Int { next - max(firstHeld, arrivals.first ?? next) }

    /// The bytes that the tables take.
    var byteCount: Int {
        hashes.capacity * MemoryLayout<UInt64>.stride + index.byteCount + arrivals.byteCount
    }

    /// Remembers an event as of now.
    ///
    /// - Parameter time: When it came. Before the event before it, it counts as having come with that one; ahead of the
    ///   clock, it may hide older events until ``evict(now:)`` sets it right.
    /// - Returns: Whether the same identity was remembered and within the window already.
    mutating func insert(_ hash: UInt64, at time: WallTime) -> Bool {
        guard limit > 0 else { return false }
        let firstInWindow = arrivals.note(next, at: time)
        let isDuplicate =
            if let position = index.find(hash, in: hashes) { number(at: position) >= firstInWindow } else { false }
        let firstRemembered = arrivals.first ?? next
        for _ in 0..<2 where held > 0 && firstHeld < firstRemembered { dropOldest() }
        if held == hashes.count { if held < limit { grow() } else { dropOldest() } }
        let position = wrapped(oldest &+ held)
        hashes[position] = hash
        index.place(hash, at: position, in: hashes)
        held &+= 1
        next &+= 1
        return isDuplicate
    }

    /// Forgets what is older than the window.
    ///
    /// Call it now and then with the clock's time, which is right when events say otherwise: none can have come later.
    mutating func evict(now: WallTime) {
        arrivals.expire(now: now)
    }

    /// Forgets everything.
    mutating func removeAll() {
        arrivals.removeAll()
    }

    /// The number of the oldest event in the ring.
    private var firstHeld: Int { next &- held }

    @inline(__always)
    private func wrapped(_ position: Int) -> Int {
        position < hashes.count ? position : position &- hashes.count
    }

    private func number(at position: Int) -> Int {
        firstHeld &+ (position < oldest ? position &- oldest &+ hashes.count : position &- oldest)
    }

    private mutating func dropOldest() {
        // The index leads to the newest event of an identity: of an older one nothing is left in it.
        index.remove(hashes[oldest], at: oldest, in: hashes)
        oldest = wrapped(oldest &+ 1)
        held &-= 1
    }

    private mutating func grow() {
        let capacity = min(limit, max(Self.smallestCapacity, 2 * hashes.count))
        // The old index goes before anything new comes.
        index = PositionIndex(capacity: 0)
        var larger = [UInt64](repeating: 0, count: capacity)
        for place in 0..<held { larger[place] = hashes[wrapped(oldest + place)] }
        hashes = larger
        oldest = 0
        index = PositionIndex(capacity: capacity)
        for place in 0..<held { index.place(hashes[place], at: place, in: hashes) }
    }
}
