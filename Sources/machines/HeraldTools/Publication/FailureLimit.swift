/// Whether more of a publication's outcomes have failed than are allowed: pure.
///
/// What an operator has seen and accepted does not count again.
package struct FailureLimit: Sendable, Equatable {
    /// The share that is allowed; `nil` allows all.
    package var share: Double?
    /// From so many known outcomes on a share means something.
    private let meaningfulCount: Int
    private var failedBefore = 0
    private var knownBefore = 0

    package init(share: Double?, meaningfulCount: Int) {
        self.share = share
        self.meaningfulCount = meaningfulCount
    }

    /// These are accepted, and what comes behind them is judged.
    package mutating func accept(failed: Int, known: Int) { (failedBefore, knownBefore) = (failed, known) }

    /// How many of how many have failed, when that is too many: certainly, or among those that are known.
    ///
    /// - Parameter open: at the end of a step of the ramp the outcomes that are not known: a step is judged however few it
    ///   were, and as soon as those cannot save it; `nil` in the midst of one.
    package func excess(failed: Int, known: Int, openAtEnd open: Int?) -> (failed: Int, known: Int)? {
        guard let share else { return nil }
        let (failed, known) = (failed - failedBefore, known - knownBefore)
        let isCertain = open.map { Double(failed) > share * Double(known + $0) } ?? false
        let isMeant = known >= meaningfulCount && Double(failed) > share * Double(known)
        return isCertain || isMeant ? (failed, known) : nil
    }

    /// Whether it were too many if all that are open failed; `nil` when any share may fail.
    package func canFail(failed: Int, known: Int, open: Int) -> Bool? {
        share.map { Double(failed - failedBefore + open) > $0 * Double(known - knownBefore + open) }
    }
}
