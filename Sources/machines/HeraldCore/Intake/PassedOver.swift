/// Offsets of a partition that were passed over, so that nobody is called twice: a person may want to know, and to act.
public struct PassedOver: Sendable, Equatable {
    /// Why.
    public enum Cause: String, Sendable, CaseIterable {
        /// The log ends before what was taken, and time stamps show that it was cut off: what is left was called.
        case cut
        /// The log ends before what was taken, and nothing shows whether it was cut off or made anew.
        case unproven
        /// The log holds other records than were taken, and has grown past the committed offset: from the first one on that is
        /// younger than all that was taken, these are called.
        case replaced
        /// Another program has committed the group's offset.
        case foreign
    }

    /// The topic's name.
    public var topic: String
    /// The partition's number.
    public var partition: Int32
    /// Why.
    public var cause: Cause
    /// What is not called; of ``Cause/replaced``: what is called, although the group stood behind it.
    public var offsets: Range<Int64>
    /// Where the group stood.
    public var stood: Int64
    /// Offsets whose records are gone, because the log lost its end: from where it ends or goes on with other records to where
    /// it ended, as far as that is known.
    public var gone: Range<Int64>
    /// How many of those had been taken, or done by an earlier owner: they have outcomes, or get them.
    public var accepted: Int

    /// How many offsets are not called.
    public var count: Int { cause == .replaced ? 0 : offsets.count }

    /// How many offsets are gone of which nothing is known to have been called.
    public var unknown: Int { gone.count - accepted }

    /// Offsets of a partition, and why they were passed over.
    public init(
        topic: String, partition: Int32, cause: Cause, offsets: Range<Int64>, stood: Int64, gone: Range<Int64> = 0..<0,
        accepted: Int = 0
    ) {
        self.topic = topic
        self.partition = partition
        self.cause = cause
        self.offsets = offsets
        self.stood = stood
        self.gone = gone
        self.accepted = accepted
    }
}
