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
