/// Which part of a range of offsets is read: all of a small one, and of a large one pieces in equal distances: pure.
enum SampleRanges {
    static let pieceCount: Int64 = 4
    /// So many offsets of all partitions together are read at most, or a few of each piece where there are many partitions.
    static let limit: Int64 = 256
    private static let leastPiece: Int64 = 4

    /// The pieces in their order; the whole range when it is no longer than they would be.
    static func pieces(of range: Range<Int64>, partitions: Int) -> [Range<Int64>] {
        let length = max(leastPiece, limit / (pieceCount * Int64(max(1, partitions))))
        let count = range.upperBound - range.lowerBound
        guard count > pieceCount * length else { return count > 0 ? [range] : [] }
        return (0..<pieceCount).map { number in
            let begin = range.lowerBound + (count - length) * number / (pieceCount - 1)
            return begin..<begin + length
        }
    }

    /// Ranges that have all of these offsets, however far from each other they lie, and little between them.
    static func covering(_ offsets: some Sequence<Int64>) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        for offset in Set(offsets).sorted() {
            if let last = ranges.last, offset - last.upperBound < limit {
                ranges[ranges.count - 1] = last.lowerBound..<offset + 1
            } else {
                ranges.append(offset..<offset + 1)
            }
        }
        return ranges
    }
}
