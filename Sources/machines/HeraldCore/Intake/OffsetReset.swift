public import HeraldTime

/// The state in which a partition's range was asked for: the reading, and the offset.
public struct RangeQuestion: Sendable, Equatable {
    /// The number of the reading in which it was asked.
    public var reading: Int
    /// The offset that was to be taken next.
    public var wanted: Int64
    /// The newest time stamp of all taken records (milliseconds since the Unix epoch); `nil` when unknown.
    public var newest: Int64?
    /// The time at which the client could not read a batch; `nil` when the question is about a range.
    public var failedAt: WallTime?

    /// A question of this reading, about this offset.
    public init(reading: Int, wanted: Int64, newest: Int64? = nil, failedAt: WallTime? = nil) {
        self.reading = reading
        self.wanted = wanted
        self.newest = newest
        self.failedAt = failedAt
    }
}

/// The consequence of a next offset that the broker does not have.
public enum OffsetReset: Sendable, Equatable {
    /// Records between that offset and the first remaining one were deleted, and nobody has read so many of them: nothing
    /// of the partition is taken until an operator has moved the group past them.
    case lost(count: Int64)
    /// They were deleted, and the group stands behind them by now, or an earlier owner had done all of them: taking
    /// continues at this offset.
    case skipped(to: Int64)
    /// The partition ends before that offset, and all of its records are younger than the taken ones: its topic was
    /// recreated, and is read from its beginning.
    case recreated(wanted: Int64)
    /// The partition ends before that offset, and its log was cut off, or its fate is unproven: taking continues after
    /// its end. Younger records may lie there from an offset on, and are taken too.
    case cut(younger: Int64?, isProven: Bool)
    /// The offset is there, but from this one on other records than the taken ones may lie before it: the log may have
    /// been cut off or recreated, and has grown. The ends of transactions have time stamps too, so the records have to
    /// be read.
    case doubtful(from: Int64)
    /// The offset is there, or only settled records before it were deleted.
    case there
    /// The answer is outdated: since the question, the partition was assigned, its log was found to be another one, or
    /// more of it was taken.
    case outdated

    /// The decision for a partition that holds `low` to `high`, with the facts known when the question was asked.
    ///
    /// - Parameter younger: The first offset whose record is younger than all taken ones, if there is one.
    static func decide(
        _ question: RangeQuestion, _ evidence: LogEvidence, low: Int64, high: Int64, younger: Int64?
    ) -> OffsetReset {
        if question.wanted < low { return .lost(count: low - question.wanted) }
        if question.wanted <= high {
            // It ended before that offset when it was read, and has grown past it since.
            guard question.newest != nil, let younger, younger < question.wanted else { return .there }
            return .doubtful(from: max(low, evidence.begin, younger))
        }
        // Without a record, none can be taken twice.
        if low == high || younger == low { return .recreated(wanted: question.wanted) }
        guard question.newest != nil else { return .cut(younger: nil, isProven: false) }
        guard let younger else { return .cut(younger: nil, isProven: true) }
        // Records taken before anything was noted may have any time stamp.
        return younger < evidence.begin ? .cut(younger: nil, isProven: false) : .cut(younger: younger, isProven: true)
    }
}
