/// When it was asked how far a partition reaches: in which reading, and at which offset.
public struct RangeQuestion: Sendable, Equatable {
    /// The number of the reading in which it was asked.
    public var reading: Int
    /// The offset that was to be taken next.
    public var wanted: Int64

    /// A question of this reading, about this offset.
    public init(reading: Int, wanted: Int64) {
        self.reading = reading
        self.wanted = wanted
    }
}

/// What to do when the broker does not have the offset of a partition that is to be taken next.
public enum OffsetReset: Sendable, Equatable {
    /// Records between that offset and the first that is left are gone: a person has to know.
    case lost(count: Int64)
    /// The partition ends before that offset: its topic was recreated, and is read from its beginning.
    case recreated(wanted: Int64)
    /// The offset is there, or only what lies before it was deleted and had been dealt with.
    case there
    /// What was said is of another time: since it was asked, the partition was assigned, its topic was found to be recreated,
    /// or more of it was taken; or another member has committed what was deleted.
    case outdated

    /// The decision for a partition that holds `low` to `high`.
    static func decide(wanted: Int64, low: Int64, high: Int64) -> OffsetReset {
        if wanted > high { return .recreated(wanted: wanted) }
        if wanted < low { return .lost(count: low - wanted) }
        return .there
    }
}
