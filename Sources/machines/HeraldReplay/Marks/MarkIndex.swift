/// What became of dead letters, by partition and offset: two bits for most, an entry for those with more to say.
package struct MarkIndex: Sendable {
    private struct Place: Hashable {
        var partition: Int32
        var offset: Int64
    }

    private var replayed: [Int32: OffsetSet] = [:]
    private var resolved: [Int32: OffsetSet] = [:]
    /// The push services that were replayed, where not all of the dead letter's were: bits of ``services``.
    private var parts: [Place: UInt64] = [:]
    /// How often, where it is more than once.
    private var times: [Place: Int] = [:]
    private var services: [String] = []
    /// What the last replay called in place of the dead letter's own push services, where it was corrected so; none where
    /// no worker read it.
    private var corrected: [Place: [String]] = [:]
    /// When the first replay was marked, epoch milliseconds; `nil` when nothing was replayed.
    package private(set) var firstReplayAt: Int64?
    /// The last offset of each partition that something is known of.
    package private(set) var highest: [Int32: Int64] = [:]

    package init() {}

    package mutating func add(_ record: MarkRecord) {
        var bits: UInt64?
        if record.state == .replayed { firstReplayAt = min(firstReplayAt ?? record.at, record.at) }
        if let names = record.pns { bits = names.reduce(UInt64(0)) { $0 | bit(of: $1) } }
        record.visit { partition, offset in
            highest[partition] = max(highest[partition] ?? 0, offset)
            switch record.state {
            case .resolved: resolved[partition, default: OffsetSet()].insert(offset)
            case .replayed: noteReplay(Place(partition: partition, offset: offset), bits, record.calls)
            }
        }
    }

    private mutating func noteReplay(_ place: Place, _ bits: UInt64?, _ calls: [String]?) {
        let isKnown = replayed[place.partition]?.contains(place.offset) ?? false || parts[place] != nil
        if isKnown { times[place, default: 1] += 1 }
        if let bits {
            if !(replayed[place.partition]?.contains(place.offset) ?? false) { parts[place, default: 0] |= bits }
        } else {
            parts[place] = nil
            if calls != nil || !corrected.isEmpty { corrected[place] = calls }
            replayed[place.partition, default: OffsetSet()].insert(place.offset)
        }
    }

    /// A name's bit; beyond 63 names they share one, which can only leave out too much.
    private mutating func bit(of name: String) -> UInt64 {
        if let index = services.firstIndex(of: name) { return 1 << UInt64(min(index, 63)) }
        services.append(name)
        return 1 << UInt64(min(services.count - 1, 63))
    }

    /// Whether an operator has dealt with it in another way.
    package func isResolved(partition: Int32, offset: Int64) -> Bool {
        resolved[partition]?.contains(offset) ?? false
    }

    /// How often it was replayed, for whichever push services.
    package func replayCount(partition: Int32, offset: Int64) -> Int {
        let place = Place(partition: partition, offset: offset)
        if let count = times[place] { return count }
        return replayed[partition]?.contains(offset) ?? false || parts[place] != nil ? 1 : 0
    }

    /// The number of its last replay as a whole, counted from when it came here; 1 when only parts of it were replayed.
    func lastReplay(partition: Int32, offset: Int64) -> Int {
        replayed[partition]?.contains(offset) ?? false ? replayCount(partition: partition, offset: offset) : 1
    }

    /// The push services that its last replay as a whole called in place of its own; `nil` unless they were corrected, and
    /// none when no worker read it.
    func correctedPushServices(partition: Int32, offset: Int64) -> [String]? {
        corrected.isEmpty ? nil : corrected[Place(partition: partition, offset: offset)]
    }

    /// Those of these push services that were not replayed yet; a dead letter without any has either been or not.
    package func missing(of names: [String], partition: Int32, offset: Int64) -> [String] {
        if replayed[partition]?.contains(offset) ?? false { return [] }
        guard let bits = parts[Place(partition: partition, offset: offset)] else { return names }
        return names.filter { name in
            guard let index = services.firstIndex(of: name) else { return true }
            return bits & (1 << UInt64(min(index, 63))) == 0
        }
    }

    /// Whether it was replayed with everything that it has.
    package func isReplayed(_ names: [String], partition: Int32, offset: Int64) -> Bool {
        if replayed[partition]?.contains(offset) ?? false { return true }
        return !names.isEmpty && missing(of: names, partition: partition, offset: offset).isEmpty
    }
}
