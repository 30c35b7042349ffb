/// A set of a partition's offsets: one bit each, between the first and the last that are in it.
package struct OffsetSet: Sendable, Equatable {
    private static let bitsPerPage: Int64 = 32_768
    private static let emptyPage = [UInt64](repeating: 0, count: Int(bitsPerPage / 64))
    /// Pages of bits by their number: dead letters that are far apart cost nothing between them.
    private var pages: [Int64: [UInt64]] = [:]

    package init() {}

    package func contains(_ offset: Int64) -> Bool {
        guard offset >= 0, let page = pages[offset / Self.bitsPerPage] else { return false }
        let bit = Int(offset % Self.bitsPerPage)
        return page[bit >> 6] & (1 << UInt64(bit & 63)) != 0
    }

    /// How many of these offsets are in it.
    func count(in offsets: Range<Int64>) -> Int {
        pages.reduce(0) { count, page in
            let begin = page.key * Self.bitsPerPage
            return page.value.indices.reduce(count) { count, word in
                let first = begin + Int64(word) * 64
                let (low, high) = (max(0, offsets.lowerBound - first), min(64, offsets.upperBound - first))
                guard low < high else { return count }
                return count + ((page.value[word] >> low) << (low + 64 - high)).nonzeroBitCount
            }
        }
    }

    /// Puts the offset in; negative ones are left out.
    package mutating func insert(_ offset: Int64) {
        guard offset >= 0 else { return }
        let bit = Int(offset % Self.bitsPerPage)
        pages[offset / Self.bitsPerPage, default: Self.emptyPage][bit >> 6] |= 1 << UInt64(bit & 63)
    }

    /// The smallest and the largest offset; `nil` when it is empty.
    package var bounds: ClosedRange<Int64>? {
        var low: Int64?
        var high: Int64?
        for number in pages.keys.sorted() {
            guard let page = pages[number] else { continue }
            for (word, bits) in page.enumerated() where bits != 0 {
                let start = number * Self.bitsPerPage + Int64(word) * 64
                if low == nil { low = start + Int64(bits.trailingZeroBitCount) }
                high = start + 63 - Int64(bits.leadingZeroBitCount)
            }
        }
        guard let low, let high else { return nil }
        return low...high
    }
}
