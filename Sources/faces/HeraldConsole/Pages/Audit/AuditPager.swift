internal import HeraldText

/// Pages backwards through the audit topic: pure except for the reading, which is a parameter.
///
/// Each partition is read from its end in pieces, and the newest record comes next. A page looks at a bounded number of
/// records, even when few of them match.
struct AuditPager {
    /// A page, newest first.
    struct Page: Equatable {
        var records: [AuditRecord] = []
        var searchedCount = 0
        /// The start of the next page; `nil` after the last one.
        var next: Place?
    }

    /// The position of a page in each partition: the offset after its first record.
    struct Place: Equatable {
        var offsets: [Int32: Int64]

        init(_ offsets: [Int32: Int64]) { self.offsets = offsets }

        /// Reads a place written as `0:120,1:7`.
        init(_ text: String) throws(InvalidArgument) {
            offsets = [:]
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let numbers = part.split(separator: ":", omittingEmptySubsequences: false)
                guard numbers.count == 2, let partition = Int32(numbers[0]), let offset = Int64(numbers[1]),
                    partition >= 0, offset >= 0, offsets.updateValue(offset, forKey: partition) == nil
                else { throw InvalidArgument("before: \(SafeText.quoted(text)) is no place such as 0:120,1:7") }
            }
        }

        var text: String {
            offsets.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
        }
    }

    private struct Partition {
        /// The records read and not yet shown, in their order.
        var records: [AuditRecord] = []
        /// The offset after the next one to show.
        var position: Int64
        /// The offset down to which it was read.
        var floor: Int64
        /// The lowest offset that is asked for.
        var low: Int64

        var isExhausted: Bool { records.isEmpty && floor <= low }
        var needsMore: Bool { records.isEmpty && floor > low }
    }

    static let pageSize = 50
    static let searchLimit = 5_000
    /// The first piece is small, because most requests want only the newest records.
    static let pieces: [Int64] = [64, 512]

    private let filter: AuditFilter
    private var partitions: [Int32: Partition]

    /// - Parameters:
    ///   - ranges: the offsets of each partition.
    ///   - place: the end of the previous page; `nil` for the newest.
    init(_ filter: AuditFilter, ranges: [Int32: Range<Int64>], from place: Place?) {
        self.filter = filter
        partitions = [:]
        for (number, range) in ranges {
            // A partition missing in the previous page is newer than it.
            let end = place.map { min($0.offsets[number] ?? range.lowerBound, range.upperBound) } ?? range.upperBound
            let position = max(range.lowerBound, end)
            partitions[number] = Partition(position: position, floor: position, low: range.lowerBound)
        }
    }

    /// The next page.
    ///
    /// - Parameter read: returns the records at these offsets, each partition's in order.
    mutating func page(_ read: ([Int32: Range<Int64>]) throws -> [AuditRecord]) rethrows -> Page {
        var page = Page()
        var piece = 0
        while page.records.count < Self.pageSize, page.searchedCount < Self.searchLimit {
            if partitions.values.contains(where: \.needsMore) {
                try extend(Self.pieces[min(piece, Self.pieces.count - 1)], read)
                piece += 1
                continue
            }
            guard let record = takeNewest() else { break }
            page.searchedCount += 1
            if let since = filter.since, record.at < since {
                partitions[record.partition]?.low = record.offset + 1
                partitions[record.partition]?.records = []
                continue
            }
            if filter.matches(record) { page.records.append(record) }
        }
        if partitions.values.contains(where: { !$0.isExhausted }) {
            page.next = Place(partitions.mapValues(\.position))
        }
        return page
    }

    private mutating func extend(
        _ count: Int64, _ read: ([Int32: Range<Int64>]) throws -> [AuditRecord]
    ) rethrows {
        var ranges: [Int32: Range<Int64>] = [:]
        for (number, partition) in partitions where partition.needsMore {
            ranges[number] = max(partition.low, partition.floor - count)..<partition.floor
        }
        for (number, range) in ranges { partitions[number]?.floor = range.lowerBound }
        for record in try read(ranges) { partitions[record.partition]?.records.append(record) }
    }

    private mutating func takeNewest() -> AuditRecord? {
        let newest = partitions.compactMap { $0.value.records.last }.max { left, right in
            (left.at, left.partition) < (right.at, right.partition)
        }
        guard let newest else { return nil }
        partitions[newest.partition]?.records.removeLast()
        partitions[newest.partition]?.position = newest.offset
        return newest
    }
}
