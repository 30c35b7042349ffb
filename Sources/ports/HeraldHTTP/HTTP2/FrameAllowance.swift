/// How many more frames the other side may send that carry nothing.
///
/// Whatever flood there is (PING, SETTINGS, CONTINUATION, empty DATA, PRIORITY and the rest), it ends here. Each answer
/// pays for some frames, so that an honest connection lasts.
struct FrameAllowance {
    /// So many are taken beyond those that answers pay for.
    static let limit = 1_024
    /// So many each answer pays for.
    private static let ofAnswer = 16

    private var spentCount = 0

    /// A frame came; false when it is one too many.
    mutating func spend() -> Bool {
        spentCount += 1
        return spentCount <= Self.limit
    }

    /// A request was answered.
    mutating func answered() { earn(Self.ofAnswer) }

    /// So many frames are paid for.
    mutating func earn(_ count: Int) { spentCount = max(0, spentCount - count) }
}
