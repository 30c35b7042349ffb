/// Keeps the events of one user in order: only the first of a user's taken events is *active*, the others wait behind
/// it, and many users are active at once.
///
/// A user is known by a 64-bit hash: two users that share one would only wait for each other. Everything is
/// allocated once, an index for each slot; nothing is copied or hashed again when an event comes or goes.
struct UserOrder {
    private static let none: Int32 = -1

    /// The first active slot of each bucket.
    private var buckets: [Int32]
    /// For an active slot: the next active slot of its bucket.
    private var nextInBucket: [Int32]
    /// The next slot of the same user.
    private var follower: [Int32]
    /// For an active slot: the last one of its user.
    private var last: [Int32]
    /// The number of the user's slots, for an active one.
    private var counts: [Int32]
    private var hashes: [UInt64]

    init(slots: Int) {
        buckets = Array(repeating: Self.none, count: Self.buckets(for: slots))
        nextInBucket = Array(repeating: Self.none, count: slots)
        follower = nextInBucket
        last = nextInBucket
        counts = Array(repeating: 0, count: slots)
        hashes = Array(repeating: 0, count: slots)
    }

    /// Grows to this many slots, never fewer than before.
    mutating func grow(slots: Int) {
        let more = Array(repeating: Self.none, count: slots - hashes.count)
        nextInBucket += more
        follower += more
        last += more
        counts += Array(repeating: 0, count: more.count)
        hashes += Array(repeating: 0, count: more.count)
        let former = buckets
        buckets = Array(repeating: Self.none, count: Self.buckets(for: slots))
        for var active in former {
            while active != Self.none {
                let next = nextInBucket[Int(active)]
                let bucket = bucket(hashes[Int(active)])
                nextInBucket[Int(active)] = buckets[bucket]
                buckets[bucket] = active
                active = next
            }
        }
    }

    private static func buckets(for slots: Int) -> Int {
        var size = 16
        while size < 2 * slots { size *= 2 }
        return size
    }

    /// Lines `slot` up behind the events of the line with this hash.
    ///
    /// True when it is first, and so active at once.
    mutating func enter(_ slot: Int32, line hash: UInt64) -> Bool {
        let place = Int(slot)
        hashes[place] = hash
        follower[place] = Self.none
        if let active = active(of: hash) {
            follower[Int(last[active])] = slot
            last[active] = slot
            counts[active] += 1
            return false
        }
        let bucket = bucket(hash)
        last[place] = slot
        counts[place] = 1
        nextInBucket[place] = buckets[bucket]
        buckets[bucket] = slot
        return true
    }

    /// The number of slots in the line with this hash.
    func count(line hash: UInt64) -> Int { active(of: hash).map { Int(counts[$0]) } ?? 0 }

    /// The active slot of the line with this hash.
    private func active(of hash: UInt64) -> Int? {
        var active = buckets[bucket(hash)]
        while active != Self.none {
            if hashes[Int(active)] == hash { return Int(active) }
            active = nextInBucket[Int(active)]
        }
        return nil
    }

    /// The active slot of the line of `slot`, and the number of slots before `slot`.
    func ahead(of slot: Int32) -> (first: Int32, count: Int)? {
        guard let first = active(of: hashes[Int(slot)]) else { return nil }
        var count = 0
        var next = first
        while next != Int(slot) {
            guard follower[next] != Self.none else { return nil }
            next = Int(follower[next])
            count += 1
        }
        return (Int32(first), count)
    }

    /// Takes the active `slot` out.
    ///
    /// The next event of its user, now active, if there is one.
    mutating func leave(_ slot: Int32) -> Int32? {
        let place = Int(slot)
        let bucket = bucket(hashes[place])
        let successor = follower[place]
        let replacement: Int32
        if successor != Self.none {
            last[Int(successor)] = last[place]
            counts[Int(successor)] = counts[place] - 1
            nextInBucket[Int(successor)] = nextInBucket[place]
            replacement = successor
        } else {
            replacement = nextInBucket[place]
        }
        if buckets[bucket] == slot {
            buckets[bucket] = replacement
        } else {
            var before = buckets[bucket]
            while nextInBucket[Int(before)] != slot { before = nextInBucket[Int(before)] }
            nextInBucket[Int(before)] = replacement
        }
        return successor == Self.none ? nil : successor
    }

    /// The first slot behind the active `slot`, which stands alone from now on; each is followed by ``behind(_:)``.
    mutating func takeFollowers(of slot: Int32) -> Int32? {
        let first = follower[Int(slot)]
        follower[Int(slot)] = Self.none
        last[Int(slot)] = slot
        counts[Int(slot)] = 1
        return first == Self.none ? nil : first
    }

    /// The slot after a result of ``takeFollowers(of:)``.
    func behind(_ slot: Int32) -> Int32? { follower[Int(slot)] == Self.none ? nil : follower[Int(slot)] }

    /// Forgets all users.
    mutating func removeAll() {
        for index in buckets.indices { buckets[index] = Self.none }
    }

    private func bucket(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash) & (buckets.count - 1)
    }
}
