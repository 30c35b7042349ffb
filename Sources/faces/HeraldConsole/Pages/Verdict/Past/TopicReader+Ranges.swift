import HeraldKafka
import HeraldThreads
import HeraldTime

extension TopicReader {
    private static let wait: Milliseconds = .milliseconds(100)
    private static let questionTimeout = Milliseconds.seconds(4)

    /// Reads these ranges as far as the partitions reach, for so long at most, and until that is signalled.
    ///
    /// - Returns: whether all of them was read.
    @discardableResult
    func read(
        _ ranges: [TopicPartition: Range<Int64>], within patience: Duration, unless over: Wakeup,
        _ body: (borrowing Message) -> Void
    ) throws -> Bool {
        guard !ranges.isEmpty else { return true }
        let ends = try consumer.queries.ends(of: Array(ranges.keys), timeout: Self.questionTimeout)
        let wanted = ranges.compactMap { partition, range -> (TopicPartition, Range<Int64>)? in
            let end = min(range.upperBound, ends[partition] ?? range.upperBound)
            return range.lowerBound < end ? (partition, range.lowerBound..<end) : nil
        }
        guard !wanted.isEmpty else { return true }
        try begin(
            Dictionary(wanted.map { ($0, .offset($1.lowerBound)) }) { $1 },
            to: .offsets(Dictionary(wanted.map { ($0, $1.upperBound) }) { $1 }))
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end, !over.wait(for: .zero) {
            switch try next(wait: Self.wait) {
            case .end: return true
            case .nothing: break
            case .record(let message):
                body(message)
                message.release()
            }
        }
        return false
    }
}

/// Which part of ranges of offsets is read: pure.
enum SampleRanges {
    /// So long is a piece of a range that is not read whole.
    static let pieceLength: Int64 = 512
    /// What lies no farther apart is read together.
    static let gap: Int64 = 1_024

    /// All of a range that is no longer than the limit; of a longer one pieces in equal distances.
    ///
    /// - Parameter shift: how far the pieces are shifted, as a part of their distance: those of several partitions are of
    ///   different moments then.
    static func pieces(of range: Range<Int64>, limit: Int64, shift: Double = 0) -> [Range<Int64>] {
        guard range.count > limit else { return range.isEmpty ? [] : [range] }
        let length = min(pieceLength, max(1, limit))
        let number = max(1, limit / length)
        let distance = Int64(range.count) / number
        let first = range.lowerBound + Int64(Double(distance - length) * min(1, max(0, shift)))
        return (0..<number).map { first + $0 * distance..<first + $0 * distance + length }
    }

    /// Ranges that have all of these offsets, however far from each other they lie, and little between them.
    static func covering(_ offsets: some Sequence<Int64>) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        for offset in Set(offsets).sorted() {
            if let last = ranges.last, offset - last.upperBound < gap {
                ranges[ranges.count - 1] = last.lowerBound..<offset + 1
            } else {
                ranges.append(offset..<offset + 1)
            }
        }
        return ranges
    }
}
