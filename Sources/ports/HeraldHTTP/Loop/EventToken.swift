/// What an event belongs to: the part of the program that registered the descriptor, and that part's own number for it.
///
/// Small integers instead of closures: the thread that waits looks at ``owner`` and hands the event on.
public struct EventToken: Hashable, Sendable {
    /// The value that the kernel keeps with the descriptor.
    public let rawValue: UInt64

    /// The token that the kernel gave back.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A token of this owner; only the low 56 bits of its payload are kept.
    public init(owner: UInt8, payload: UInt64 = 0) {
        rawValue = UInt64(owner) << 56 | (payload & Self.payloadMask)
    }

    /// The owner that registered the descriptor.
    public var owner: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 56) }

    /// The owner's own number for the descriptor, 56 bits.
    public var payload: UInt64 { rawValue & Self.payloadMask }

    private static let payloadMask: UInt64 = (1 << 56) - 1
}
