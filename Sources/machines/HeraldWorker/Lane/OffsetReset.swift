/// What to do when the broker does not have the offset of a partition that is to be taken next.
enum OffsetReset: Equatable {
    /// Records between that offset and the first that is left are gone: a person has to know.
    case lost(count: Int64)
    /// The partition ends before that offset: its topic was recreated, and is read from its beginning.
    case recreated
    /// The range is good after all.
    case none

    /// The decision for a partition that holds `low` to `high`.
    static func decide(wanted: Int64, low: Int64, high: Int64) -> OffsetReset {
        if wanted > high { return .recreated }
        if wanted < low { return .lost(count: low - wanted) }
        return .none
    }
}
