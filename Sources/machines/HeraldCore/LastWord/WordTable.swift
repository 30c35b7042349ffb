import Synchronization

/// Words of 64 bits by hashes of 64 bits: one thread writes, and any thread reads without a lock.
///
/// Open addressing in shards, 16 bytes a slot. A shard that is four fifths full is copied into one of five quarters of its
/// size, so that ten million words take 200 to 250 MB. The word 0 is that of a hash which is not there.
///
/// **When memory is given back.** A reader counts itself in at its shard, then loads the shard's slots, and counts itself
/// out when it has its word. The writer stores the new slots, then loads the count. All four are in one total order
/// (sequentially consistent): when the writer sees 0, each reader either counted itself out before, and has nothing of
/// the old slots any more, or counts itself in later, and loads the new ones. Otherwise the old slots stay until a later
/// write sees 0.
final class WordTable: Sendable {
    private struct Slot: ~Copyable {
        let hash: Atomic<UInt64>
        let word: Atomic<UInt64>

        init(hash: UInt64 = 0) {
            self.hash = Atomic(hash)
            word = Atomic(0)
        }
    }

    private typealias Slots = UnsafeMutablePointer<Slot>

    private struct Shard: ~Copyable {
        /// A slot with the capacity as its hash, and behind it as many slots; `nil` before the first word.
        let slots = Atomic<Slots?>(nil)
        let readers = Atomic<Int>(0)
    }

    private static var shardCount: Int { 1_024 }
    private static var smallestCapacity: Int { 4 }

    private nonisolated(unsafe) let shards: UnsafeMutablePointer<Shard>
    private let live = Atomic<Int>(0)
    private let allocated = Atomic<Int>(shardCount * MemoryLayout<Shard>.stride)

    // The writing thread's alone.
    /// The slots of each shard that have a hash.
    private nonisolated(unsafe) var used = [Int](repeating: 0, count: shardCount)
    /// Slots that a reader may have had when they were replaced, with their shard.
    private nonisolated(unsafe) var retired: [(shard: Int, slots: Slots)] = []

    init() {
        shards = .allocate(capacity: Self.shardCount)
        for shard in 0..<Self.shardCount { (shards + shard).initialize(to: Shard()) }
    }

    deinit {
        for shard in 0..<Self.shardCount {
            if let slots = shards[shard].slots.load(ordering: .relaxed) { slots.deallocate() }
        }
        for (_, slots) in retired { slots.deallocate() }
        shards.deinitialize(count: Self.shardCount)
        shards.deallocate()
    }

    /// The words that are not 0.
    var count: Int { live.load(ordering: .relaxed) }

    /// The bytes that it has.
    var byteCount: Int { allocated.load(ordering: .relaxed) }

    /// The word of a hash.
    @inline(__always)
    subscript(hash: UInt64) -> UInt64 {
        let shard = shards + Self.shard(of: hash)
        // An empty table costs a load.
        if shard.pointee.slots.load(ordering: .relaxed) == nil { return 0 }
        _ = shard.pointee.readers.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { _ = shard.pointee.readers.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        guard let slots = shard.pointee.slots.load(ordering: .sequentiallyConsistent) else { return 0 }
        let (slot, isThere) = Self.find(Self.key(hash), in: slots)
        return isThere ? slot.pointee.word.load(ordering: .acquiring) : 0
    }

    // MARK: The writing thread alone

    /// Sets the word of a hash; 0 forgets it.
    func set(_ word: UInt64, of hash: UInt64) {
        if !retired.isEmpty { giveBack() }
        let hash = Self.key(hash)
        let shard = Self.shard(of: hash)
        if let slots = slots(of: shard) {
            let (slot, isThere) = Self.find(hash, in: slots)
            if isThere {
                replace(slot, with: word)
                return
            }
        }
        guard word != 0 else { return }
        let capacity = slots(of: shard).map(Self.capacity) ?? 0
        if 5 * (used[shard] + 1) > 4 * capacity { grow(shard) }
        guard let slots = slots(of: shard) else { return }
        Self.place(word, of: hash, in: slots)
        used[shard] += 1
        live.add(1, ordering: .relaxed)
    }

    /// Replaces each word that is not 0 by that which `body` makes of it.
    func replaceAll(_ body: (UInt64) -> UInt64) {
        for shard in 0..<Self.shardCount {
            guard let slots = slots(of: shard) else { continue }
            for place in 1...Self.capacity(slots) {
                let word = slots[place].word.load(ordering: .relaxed)
                if word != 0 { replace(slots + place, with: body(word)) }
            }
        }
    }

    private func replace(_ slot: Slots, with word: UInt64) {
        let former = slot.pointee.word.exchange(word, ordering: .acquiringAndReleasing)
        live.add((word == 0 ? 0 : 1) - (former == 0 ? 0 : 1), ordering: .relaxed)
    }

    private func slots(of shard: Int) -> Slots? { shards[shard].slots.load(ordering: .relaxed) }

    /// Copies a shard's words into slots of which they take two thirds.
    private func grow(_ shard: Int) {
        let old = slots(of: shard)
        var words = 0
        if let old {
            for place in 1...Self.capacity(old) where old[place].word.load(ordering: .relaxed) != 0 { words += 1 }
        }
        let capacity = max(Self.smallestCapacity, (words + 1) * 25 / 16)
        let new = Slots.allocate(capacity: 1 + capacity)
        new.initialize(to: Slot(hash: UInt64(capacity)))
        for place in 1...capacity { (new + place).initialize(to: Slot()) }
        if let old {
            for place in 1...Self.capacity(old) {
                let word = old[place].word.load(ordering: .relaxed)
                if word != 0 { Self.place(word, of: old[place].hash.load(ordering: .relaxed), in: new) }
            }
        }
        used[shard] = words
        allocated.add((1 + capacity) * MemoryLayout<Slot>.stride, ordering: .relaxed)
        shards[shard].slots.store(new, ordering: .sequentiallyConsistent)
        if let old {
            retired.append((shard, old))
            giveBack()
        }
    }

    private func giveBack() {
        retired.removeAll { shard, slots in
            guard shards[shard].readers.load(ordering: .sequentiallyConsistent) == 0 else { return false }
            allocated.subtract((1 + Self.capacity(slots)) * MemoryLayout<Slot>.stride, ordering: .relaxed)
            slots.deallocate()
            return true
        }
    }

    // MARK: Slots

    /// A hash as it stands in a slot: never 0, which is a free one.
    private static func key(_ hash: UInt64) -> UInt64 { max(1, hash) }

    private static func shard(of hash: UInt64) -> Int { Int(key(hash) & UInt64(shardCount - 1)) }

    private static func capacity(_ slots: Slots) -> Int { Int(slots.pointee.hash.load(ordering: .relaxed)) }

    /// The slot with the hash, or the free one in which it belongs.
    @inline(__always)
    private static func find(_ hash: UInt64, in slots: Slots) -> (slot: Slots, isThere: Bool) {
        let capacity = slots.pointee.hash.load(ordering: .relaxed)
        // The high bits choose the place, the low ones the shard.
        var place = hash.multipliedFullWidth(by: capacity).high
        while true {
            let slot = slots + Int(1 &+ place)
            let found = slot.pointee.hash.load(ordering: .acquiring)
            if found == hash { return (slot, true) }
            if found == 0 { return (slot, false) }
            place &+= 1
            if place == capacity { place = 0 }
        }
    }

    /// Places a word whose hash is not there: a reader that sees the hash sees the word.
    private static func place(_ word: UInt64, of hash: UInt64, in slots: Slots) {
        let (slot, _) = find(hash, in: slots)
        slot.pointee.word.store(word, ordering: .relaxed)
        slot.pointee.hash.store(hash, ordering: .releasing)
    }
}
