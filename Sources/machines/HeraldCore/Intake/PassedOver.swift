/// Offsets of a partition that were passed over, so that no call is repeated: the operator may want to act.
public struct PassedOver: Sendable, Equatable {
    /// The cause.
    public enum Cause: String, Sendable, CaseIterable {
        /// The log ends before the taken records, and time stamps show that it was cut off: its remaining records were
        /// called.
        case cut
        /// The log ends before the taken records, and whether it was cut off or recreated is unproven.
        case unproven
        /// The log holds other records than the taken ones, and has grown past the committed offset: from the first one
        /// younger than all taken ones on, these are called.
        case replaced
        /// Another program has committed the group's offset.
        case foreign
    }

    /// The topic's name.
    public var topic: String
    /// The partition's number.
    public var partition: Int32
    /// The cause.
    public var cause: Cause
    /// The offsets without a call; for ``Cause/replaced`` those that are called, although the group's offset was after
    /// them.
    public var offsets: Range<Int64>
    /// The group's former offset.
    public var stood: Int64
    /// Offsets whose records are gone, because the log lost its end: from its new end, or its first other record, to
    /// its former end, as far as that is known.
    public var gone: Range<Int64> = 0..<0
    /// The number of those that had been taken, or done by an earlier owner: they have outcomes, or get them.
    public var accepted = 0

    /// The number of offsets without a call.
    public var count: Int { cause == .replaced ? 0 : offsets.count }

    /// The number of lost offsets without a known call.
    public var unknown: Int { gone.count - accepted }
}
