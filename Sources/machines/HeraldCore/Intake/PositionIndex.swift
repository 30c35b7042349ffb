/// Finds the position of a hash in an array of hashes, at 5⅓ bytes for each.
///
/// Open addressing with linear probing, three quarters full at most. The entries of a cluster are in the order of their
/// homes ("Robin Hood"), so that a search for what is not there ends early, and a removal closes its gap. A slot is 32
/// bits: the position, and in the bits that it leaves free how far the entry is from home. So neither a search nor a
/// removal reads the hash of an entry with another home, which would be a cache miss each. A distance that does not fit
/// is worked out from the hash: slow, and right.
///
/// The last byte of a hash is the owner's: it may change while the hash is in the index.
struct PositionIndex {
    /// The bits by which two hashes differ.
    static let hashMask: UInt64 = ~0xFF

    /// The most positions an index can have, so that at least four bits are left for the distance.
    static let largestCapacity = 1 << 28 - 1

    /// Zero when empty; else the distance above `positionBits` bits, and below them the position plus one.
    private var slots: [UInt32]
    private let positionBits: UInt32
    /// The distance, as it is in a slot, that means "this or more".
    private let farDistance: UInt32

    /// An index of the positions below `capacity`.
    init(capacity: Int) {
        slots = Array(repeating: 0, count: capacity + (capacity + 3) / 3)
        positionBits = UInt32(Int.bitWidth - capacity.leadingZeroBitCount)
        farDistance = .max >> positionBits
    }

    var byteCount: Int { slots.capacity * MemoryLayout<UInt32>.stride }

    /// The position of `hash` in `hashes`.
    func find(_ hash: UInt64, in hashes: [UInt64]) -> Int? {
        var slot = home(of: hash)
        var distance = 0
        while slots[slot] != 0 {
            let other = self.distance(at: slot, in: hashes)
            if other < distance { return nil }
            if other == distance, isSame(hashes[position(at: slot)], hash) { return position(at: slot) }
            slot = following(slot)
            distance &+= 1
        }
        return nil
    }

    /// Leads `hash` to `position`, and no longer to where it led before.
    mutating func place(_ hash: UInt64, at position: Int, in hashes: [UInt64]) {
        var slot = home(of: hash)
        var distance = 0
        while slots[slot] != 0 {
            let other = self.distance(at: slot, in: hashes)
            if other < distance { break }
            if other == distance, isSame(hashes[self.position(at: slot)], hash) {
                slots[slot] = entry(position, distance: distance)
                return
            }
            slot = following(slot)
            distance &+= 1
        }
        var moved = entry(position, distance: distance)
        while moved != 0 {
            swap(&moved, &slots[slot])
            if moved != 0, moved &>> positionBits < farDistance { moved &+= 1 &<< positionBits }
            slot = following(slot)
        }
    }

    /// Forgets `hash` if it leads to `position`.
    mutating func remove(_ hash: UInt64, at position: Int, in hashes: [UInt64]) {
        var slot = home(of: hash)
        var distance = 0
        while true {
            if slots[slot] == 0 { return }
            if self.position(at: slot) == position { break }
            if self.distance(at: slot, in: hashes) < distance { return }
            slot = following(slot)
            distance &+= 1
        }
        var next = following(slot)
        while slots[next] &>> positionBits != 0 {
            slots[slot] = entry(self.position(at: next), distance: self.distance(at: next, in: hashes) &- 1)
            slot = next
            next = following(next)
        }
        slots[slot] = 0
    }

    @inline(__always)
    private func home(of hash: UInt64) -> Int {
        Int(truncatingIfNeeded: (hash & Self.hashMask).multipliedFullWidth(by: UInt64(slots.count)).high)
    }

    @inline(__always)
    private func isSame(_ one: UInt64, _ other: UInt64) -> Bool { (one ^ other) & Self.hashMask == 0 }

    @inline(__always)
    private func following(_ slot: Int) -> Int {
        slot &+ 1 == slots.count ? 0 : slot &+ 1
    }

    @inline(__always)
    private func entry(_ position: Int, distance: Int) -> UInt32 {
        min(UInt32(truncatingIfNeeded: distance), farDistance) &<< positionBits
            | UInt32(truncatingIfNeeded: position &+ 1)
    }

    @inline(__always)
    private func position(at slot: Int) -> Int {
        Int(slots[slot] & (1 &<< positionBits &- 1)) &- 1
    }

    /// The distance of the entry in `slot` from its home.
    @inline(__always)
    private func distance(at slot: Int, in hashes: [UInt64]) -> Int {
        let near = slots[slot] &>> positionBits
        if near < farDistance { return Int(near) }
        let distance = slot &- home(of: hashes[position(at: slot)])
        return distance < 0 ? distance &+ slots.count : distance
    }
}
