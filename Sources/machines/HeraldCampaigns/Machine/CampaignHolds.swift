internal import HeraldTools

/// Where a campaign waits for its operator: pure.
///
/// A hold is a number of published recipients, of all runs and audiences together. Exactly so many are published when it is
/// reached, and nobody else before an operator says go. One that is exceeded already holds nothing.
package struct CampaignHolds: Equatable, Sendable {
    private let sizes: [Int]
    private let passed: Int

    /// - Parameters:
    ///   - sizes: the holds.
    ///   - passed: the hold that an operator has let the campaign pass last; 0 for none.
    package init(_ sizes: [Int], passed: Int) { (self.sizes, self.passed) = (sizes, passed) }

    /// The next hold, when so many recipients are published; the number itself where it waits.
    package func next(from published: Int) -> Int? { sizes.filter { $0 > passed && $0 >= published }.min() }

    /// The holds of a text such as `100,1000`, or none of `none`; `nil` when it does not rise.
    package static func parse(_ text: String) -> [Int]? {
        if text == "none" { return [] }
        let sizes = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard sizes.allSatisfy(Ramp.sizeRange.contains), zip(sizes, sizes.dropFirst()).allSatisfy(<) else { return nil }
        return sizes
    }
}
