internal import HeraldText

/// Goes through the audit topic backwards, a page at a time: pure but for the reading, which it is given.
///
/// Each partition is read from its end in pieces, and whichever has the newest record is next. However many do not match,
/// a page looks at a bounded number of records.
struct AuditPager {
    /// A page, the newest first.
    struct Page: Equatable {
        var records: [AuditRecord] = []
        /// How many were looked at.
        var searchedCount = 0
        /// Where the next page begins; `nil` when there is nothing more.
        var next: Place?
    }

    /// Up to where each partition is still to be shown: the offset behind the next record.
    struct Place: Equatable {
        var offsets: [Int32: Int64]

        init(_ offsets: [Int32: Int64]) { self.offsets = offsets }

        /// The place that `0:120,1:7` names.
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
        /// Those that were read and not shown, in their order.
        var records: [AuditRecord] = []
        /// The offset behind the next one to show.
        var position: Int64
        /// From here on it was read.
        var floor: Int64
        /// Nothing before is asked for.
        var low: Int64

        var isExhausted: Bool { records.isEmpty && floor <= low }
        var needsMore: Bool { records.isEmpty && floor > low }
    }

    static let pageSize = 50
    static let searchLimit = 5_000
    /// The first piece is small: the newest records are what is asked for most.
    static let pieces: [Int64] = [64, 512]

    private let filter: AuditFilter
    private var partitions: [Int32: Partition]

    /// - Parameters:
    ///   - ranges: the offsets that each partition has.
    ///   - place: where a former page ended; `nil` for the newest.
    init(_ filter: AuditFilter, ranges: [Int32: Range<Int64>], from place: Place?) {
        self.filter = filter
        partitions = [:]
        for (number, range) in ranges {
            // What a former page did not name has come since.
            let end = place.map { min($0.offsets[number] ?? range.lowerBound, range.upperBound) } ?? range.upperBound
            let position = max(range.lowerBound, end)
            partitions[number] = Partition(position: position, floor: position, low: range.lowerBound)
        }
    }

    /// The next page.
    ///
    /// - Parameter read: the records of these offsets of partitions, each partition's in their order.
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
