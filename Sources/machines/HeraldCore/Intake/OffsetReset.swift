/// When it was asked how far a partition reaches: in which reading, and at which offset.
public struct RangeQuestion: Sendable, Equatable {
    /// The number of the reading in which it was asked.
    public var reading: Int
    /// The offset that was to be taken next.
    public var wanted: Int64
    /// The newest time stamp of all that was taken (milliseconds since the Unix epoch); `nil` when none is known.
    public var newest: Int64?

    /// A question of this reading, about this offset.
    public init(reading: Int, wanted: Int64, newest: Int64? = nil) {
        self.reading = reading
        self.wanted = wanted
        self.newest = newest
    }
}

/// What to do when the broker does not have the offset of a partition that is to be taken next.
public enum OffsetReset: Sendable, Equatable {
    /// Records between that offset and the first that is left are gone: a person has to know.
    case lost(count: Int64)
    /// The partition ends before that offset, and all that it has is younger than what was taken: its topic was recreated, and
    /// is read from its beginning.
    case recreated(wanted: Int64)
    /// The partition ends before that offset, and its log was cut off, or nothing shows what became of it: taking goes on
    /// behind what it has. Something younger may lie there from an offset on, and is taken too.
    case cut(younger: Int64?, isProven: Bool)
    /// The offset is there, but from this one on other records may lie before it than were taken: the log may have been cut off,
    /// or made anew, and has grown. The ends of transactions have time stamps too, so that the records have to be read.
    case doubtful(from: Int64)
    /// The offset is there, or only what lies before it was deleted and had been dealt with.
    case there
    /// What was said is of another time: since it was asked, the partition was assigned, its log was found to be another one,
    /// or more of it was taken; or another member has committed what was deleted.
    case outdated

    /// The decision for a partition that holds `low` to `high`, and of which this was known when it was asked about.
    ///
    /// - Parameter younger: The first offset whose record is younger than all that was taken, if there is one.
    static func decide(
        _ question: RangeQuestion, _ evidence: LogEvidence, low: Int64, high: Int64, younger: Int64?
    ) -> OffsetReset {
        if question.wanted < low { return .lost(count: low - question.wanted) }
        if question.wanted <= high {
            // It ended before that offset when it was read, and has grown past it since.
            guard question.newest != nil, let younger, younger < question.wanted else { return .there }
            return .doubtful(from: max(low, evidence.begin, younger))
        }
        // Of nothing, nothing can be taken twice.
        if low == high || younger == low { return .recreated(wanted: question.wanted) }
        guard question.newest != nil else { return .cut(younger: nil, isProven: false) }
        guard let younger else { return .cut(younger: nil, isProven: true) }
        // What was taken before anything was noted may have any time stamp.
        return younger < evidence.begin ? .cut(younger: nil, isProven: false) : .cut(younger: younger, isProven: true)
    }
}
