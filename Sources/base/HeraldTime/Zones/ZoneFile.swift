import HeraldBytes

/// Reads a compiled zone of the tz database (RFC 8536, "TZif"), as `/usr/share/zoneinfo` has them.
public enum ZoneFile {
    /// The reason for which bytes are no zone's, as a continuation of "the file".
    public struct Malformed: Error, Equatable, CustomStringConvertible {
        /// What is wrong.
        public var description: String
    }

    /// The counts of a header, in its order.
    private struct Header {
        static let byteCount = 44

        var version: UInt8
        var counts: [Int]

        var leapSeconds: Int { counts[2] }
        var changes: Int { counts[3] }
        var types: Int { counts[4] }

        /// The bytes of the data behind it, with moments of so many bytes.
        func dataByteCount(moment: Int) -> Int {
            changes * (moment + 1) + types * 6 + counts[5] + leapSeconds * (moment + 4) + counts[1] + counts[0]
        }

        init(_ bytes: RawSpan, at start: Int) throws(Malformed) {
            guard bytes.byteCount >= start + Self.byteCount,
                zip("TZif".utf8, 0..<4).allSatisfy({ bytes[byteAt: start + $1] == $0 })
            else { throw Malformed(description: "is no compiled time zone") }
            version = bytes[byteAt: start + 4]
            counts = []
            for index in 0..<6 { counts.append(Int(bytes.bigEndian(at: start + 20 + 4 * index, byteCount: 4))) }
            // So that no product overflows; the largest zone has some hundreds.
            guard counts.allSatisfy({ $0 <= 1 << 20 }) else { throw Malformed(description: "claims too many entries") }
        }
    }

    /// The zone of a file's bytes.
    ///
    /// - Throws: ``Malformed``, also for a file of version 1, which says nothing about years after 2037, and for one that
    ///   counts leap seconds.
    public static func rules(_ bytes: RawSpan) throws(Malformed) -> ZoneRules {
        let first = try Header(bytes, at: 0)
        guard first.version >= UInt8(ascii: "2") else {
            throw Malformed(description: "is of version 1; 2 or later is read")
        }
        let start = Header.byteCount + first.dataByteCount(moment: 4)
        let header = try Header(bytes, at: start)
        guard header.leapSeconds == 0 else {
            throw Malformed(description: "counts leap seconds, as no clock of Kafka's does")
        }
        let data = start + Header.byteCount
        let footer = data + header.dataByteCount(moment: 8)
        guard footer <= bytes.byteCount, header.types > 0 else { throw Malformed(description: "ends too early") }

        let types = data + header.changes * 9
        func offset(ofType type: Int) throws(Malformed) -> Int32 {
            guard type < header.types else { throw Malformed(description: "names a type that is not there") }
            let offset = Int32(truncatingIfNeeded: bytes.bigEndian(at: types + 6 * type, byteCount: 4))
            guard abs(Int64(offset)) <= 16 * 3_600 else {
                throw Malformed(description: "has an offset of more than 16 hours")
            }
            return offset
        }
        var changes: [Int64] = []
        var offsets = [try offset(ofType: 0)]
        for index in 0..<header.changes {
            let moment = bytes.bigEndian(at: data + 8 * index, byteCount: 8)
            guard changes.last.map({ $0 < moment }) ?? true else {
                throw Malformed(description: "has changes that do not rise")
            }
            changes.append(moment)
            offsets.append(try offset(ofType: Int(bytes[byteAt: data + 8 * header.changes + index])))
        }
        return ZoneRules(changes: changes, offsets: offsets, rest: try rest(bytes, from: footer))
    }

    /// The rule between the last two line feeds; none when there is nothing between them.
    private static func rest(_ bytes: RawSpan, from start: Int) throws(Malformed) -> YearlyZone? {
        let end = bytes.byteCount - 1
        guard start < end, bytes[byteAt: start] == UInt8(ascii: "\n"), bytes[byteAt: end] == UInt8(ascii: "\n") else {
            throw Malformed(description: "has no footer")
        }
        let rule = bytes.extracting(start + 1..<end)
        if rule.byteCount == 0 { return nil }
        guard let zone = YearlyZone(rule) else { throw Malformed(description: "has a footer that is no rule") }
        return zone
    }
}

extension RawSpan {
    fileprivate func bigEndian(at start: Int, byteCount: Int) -> Int64 {
        var value: UInt64 = 0
        for offset in start..<start + byteCount { value = value << 8 | UInt64(self[byteAt: offset]) }
        return Int64(bitPattern: value)
    }
}
