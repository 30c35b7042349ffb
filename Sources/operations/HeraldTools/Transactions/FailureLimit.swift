/// The share of failed outcomes that is too large: pure.
package struct FailureLimit: Sendable, Equatable {
    /// The share that is allowed.
    package var share: Double
    /// From so many known outcomes on a share means something.
    package var meaningfulCount: Int

    package init(share: Double, meaningfulCount: Int) {
        self.share = share
        self.meaningfulCount = meaningfulCount
    }

    /// Whether too many have failed: certainly, or among those that are known.
    ///
    /// - Parameter total: how many outcomes there will be in all, once that is known.
    package func isExceeded(failed: Int, known: Int, total: Int? = nil) -> Bool {
        if let total, Double(failed) > share * Double(total) { return true }
        return known >= meaningfulCount && Double(failed) > share * Double(known)
    }
}
