package import HeraldTime

/// The work done beyond a committed offset, carried by the commit's metadata from one owner of a partition to the next.
///
/// The text is ASCII (librdkafka and brokers treat metadata as a string): `h3`, a letter, and base64 without padding of
/// a check sum, what is known of the log (``LogEvidence``, two LEB128 numbers: its newest time stamp and one, and its begin)
/// and the payload. The letter is `b` for a bit set from the committed offset on, least significant bit first, or `r` for run
/// lengths, alternately open and done, as LEB128 numbers; whichever is shorter. The check sum covers the committed offset and
/// the partition too (``PartitionIdentity``): a text that another program wrote, or that belongs to another offset, partition
/// or cluster, must never skip an event.
package struct CompletionMap: Equatable {
    /// The most characters of a text: the default of the broker's `offset.metadata.max.bytes`.
    static let limit = 4_096
    /// The most bytes of payload that fit into it, behind three letters, a check sum of four bytes, and evidence of sixteen.
    static let payloadLimit = (limit - 3) / 4 * 3 - 4 - 16
    private static let version: [UInt8] = Array("h3".utf8)
    /// The farthest reach of a map, written or read: 2 MiB of bits.
    static let farthest: Int64 = 1 << 24

    /// The ranges that are done, rising, none touching another.
    package private(set) var done: [Range<Int64>] = []
    /// The facts known of the log.
    package var evidence: LogEvidence?

    /// Adds a range that lies above all others.
    package mutating func add(_ range: Range<Int64>) {
        if let last = done.last, last.upperBound == range.lowerBound {
            done[done.count - 1] = last.lowerBound..<range.upperBound
        } else {
            done.append(range)
        }
    }

    /// The same for a group that begins at this offset, before which everything is deleted: where it stands, and what is
    /// done beyond that.
    package func rebased(to begin: Int64) -> (offset: Int64, map: CompletionMap) {
        var (offset, rest) = (begin, CompletionMap())
        for range in done where range.upperBound > offset {
            // What is done already need not be read again.
            if range.lowerBound <= offset { offset = range.upperBound } else { rest.add(range) }
        }
        // Herald's commits are never without metadata.
        rest.evidence = evidence ?? LogEvidence(begin: offset)
        return (offset, rest)
    }

    // MARK: Text

    /// Whether the payload of `runs` done runs is within `limit` bytes, wherever they lie below `distance`.
    static func fits(runs: Int, within distance: Int64, into limit: Int) -> Bool {
        guard distance < farthest else { return false }
        if distance <= Int64(limit) * 8 { return true }
        // A byte for the length of each run, open or done, and one more for those that are too long for it, and so on; of
        // long ones there can't be many.
        var bytes = 2 * runs
        var long = Int(distance >> 7)
        while long > 0 {
            bytes += min(2 * runs, long)
            long >>= 7
        }
        return bytes <= limit
    }

    /// The map as a text for a commit of `offset`; empty when nothing is done beyond it and nothing is known of the log.
    ///
    /// The far end is left out when it does not fit: it would be done again, never lost.
    package func text(committing offset: Int64, of partition: PartitionIdentity) -> String {
        guard !done.isEmpty || evidence != nil else { return "" }
        let (runs, isWhole) = runLengths(from: offset)
        let bits = bitSet(from: offset)
        let (letter, map) =
            if let bits, !isWhole || bits.count <= runs.count { (UInt8(ascii: "b"), bits) } else {
                (UInt8(ascii: "r"), runs)
            }
        var payload: [UInt8] = []
        Self.append(UInt64((evidence?.newest ?? -1) + 1), to: &payload)
        Self.append(UInt64(evidence?.begin ?? 0), to: &payload)
        return Self.text(letter: letter, payload: payload + map, committing: offset, of: partition)
    }

    /// A payload with its letter and check sum.
    static func text(
        letter: UInt8, payload: [UInt8], committing offset: Int64, of partition: PartitionIdentity
    ) -> String {
        let sealed = checkSum(of: payload, letter, offset, partition) + payload
        return String(decoding: version + [letter] + Base64.encode(sealed), as: UTF8.self)
    }

    /// Reads a text that was committed with `offset` of a partition; `nil` when it is foreign or damaged, to be reported and
    /// ignored.
    package init?(text: String, committed offset: Int64, of partition: PartitionIdentity) {
        let characters = Array(text.utf8)
        if characters.isEmpty { return }
        guard offset >= 0, offset < .max - 2 * Self.farthest, characters.count > 3, characters.count <= Self.limit,
            Array(characters[0..<2]) == Self.version,
            let bytes = Base64.decode(characters[3...]), bytes.count > 4
        else { return nil }
        let letter = characters[2]
        var payload = bytes[4...]
        guard Array(bytes[0..<4]) == Self.checkSum(of: Array(payload), letter, offset, partition),
            let newest = Self.parseNumber(&payload), let begin = Self.parseNumber(&payload)
        else { return nil }
        if newest > 0 { evidence = LogEvidence(newest: Int64(newest) - 1, begin: Int64(begin)) }
        switch letter {
        case UInt8(ascii: "b"): readBits(Array(payload), from: offset)
        case UInt8(ascii: "r"): guard readRuns(Array(payload), from: offset) else { return nil }
        default: return nil
        }
    }

    package init() {}

    /// Whether a commit's metadata is Herald's, whose commits never have none, and the newest time stamp of what was taken.
    package static func author(
        of text: String, committed offset: Int64, in cluster: String, _ topic: String, _ partition: Int32
    ) -> (isHeralds: Bool, newest: WallTime?) {
        let identity = PartitionIdentity(cluster: cluster, topic: topic, partition: partition)
        guard !text.isEmpty, let map = Self(text: text, committed: offset, of: identity) else { return (false, nil) }
        return (true, map.evidence.map { WallTime(milliseconds: $0.newest) })
    }

    /// The runs that fit, and whether those are all.
    private func runLengths(from offset: Int64) -> (bytes: [UInt8], isWhole: Bool) {
        var bytes: [UInt8] = []
        var position = offset
        for range in done {
            let length = bytes.count
            Self.append(UInt64(range.lowerBound - position), to: &bytes)
            Self.append(UInt64(range.upperBound - range.lowerBound), to: &bytes)
            if bytes.count > Self.payloadLimit {
                bytes.removeLast(bytes.count - length)
                return (bytes, false)
            }
            position = range.upperBound
        }
        return (bytes, true)
    }

    /// `nil` when the set would not fit.
    private func bitSet(from offset: Int64) -> [UInt8]? {
        let end = done.last?.upperBound ?? offset
        guard (end - offset + 7) / 8 <= Self.payloadLimit else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int((end - offset + 7) / 8))
        for range in done {
            for position in range { bytes[Int((position - offset) >> 3)] |= 1 << UInt8((position - offset) & 7) }
        }
        return bytes
    }

    private mutating func readBits(_ payload: [UInt8], from offset: Int64) {
        for (index, byte) in payload.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & (1 << UInt8(bit)) != 0 {
                let position = offset + Int64(index * 8 + bit)
                add(position..<position + 1)
            }
        }
    }

    private mutating func readRuns(_ payload: [UInt8], from offset: Int64) -> Bool {
        var rest = payload[...]
        // Counted from the offset, or a sum could be too large for its type.
        var position: Int64 = 0
        while !rest.isEmpty {
            guard let open = Self.parseNumber(&rest), let length = Self.parseNumber(&rest), length > 0,
                open < UInt64(Self.farthest), length < UInt64(Self.farthest),
                position + Int64(open) + Int64(length) < Self.farthest
            else { return false }
            let start = position + Int64(open)
            position = start + Int64(length)
            add(offset + start..<offset + position)
        }
        return true
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func parseNumber(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = bytes.popFirst(), shift < 63 {
            number |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        return nil
    }

    /// The partition, letter, offset and payload, folded to four bytes: against accidents, not against attackers.
    private static func checkSum(
        of payload: [UInt8], _ letter: UInt8, _ offset: Int64, _ partition: PartitionIdentity
    ) -> [UInt8] {
        var sum = partition.sum
        sum.add(letter)
        sum.add(offset)
        for byte in payload { sum.add(byte) }
        let folded = UInt32(truncatingIfNeeded: sum.hash ^ (sum.hash >> 32))
        return stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: folded >> UInt32($0)) }
    }
}

/// The identity of a partition within all clusters, for the check sum of a ``CompletionMap``.
///
/// A mirror that copies a group's offsets to another cluster copies their metadata too, but a copied topic has offsets
/// of its own: there a map would name events that are not done.
package struct PartitionIdentity: Sendable, Equatable {
    fileprivate let sum: FNV1a

    /// - Parameter cluster: the cluster's own identity; empty where brokers do not have one.
    package init(cluster: String, topic: String, partition: Int32) {
        var sum = FNV1a()
        // No name has a zero byte in it.
        for text in [cluster, topic] {
            for byte in text.utf8 { sum.add(byte) }
            sum.add(UInt8(0))
        }
        sum.add(Int64(partition))
        self.sum = sum
    }
}

/// FNV-1a of 64 bits, as it is published.
private struct FNV1a: Equatable {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }

    mutating func add(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> Int64(shift))) }
    }
}
