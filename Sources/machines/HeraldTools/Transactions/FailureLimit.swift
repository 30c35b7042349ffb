/// When too many outcomes have failed: pure.
package enum FailureLimit {
    /// Whether more than the share that is allowed have failed: certainly, or among those that are known.
    ///
    /// - Parameters:
    ///   - meaningfulCount: from so many known outcomes on a share means something.
    ///   - total: how many outcomes there will be in all, once that is known.
    package static func isExceeded(
        share: Double, failed: Int, known: Int, meaningfulCount: Int, total: Int? = nil
    ) -> Bool {
        if let total, Double(failed) > share * Double(total) { return true }
        return known >= meaningfulCount && Double(failed) > share * Double(known)
    }
}
