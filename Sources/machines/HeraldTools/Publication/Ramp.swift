/// The sizes of growing batches, the last of which may be all that is left: `1,5,50,all`.
package struct Ramp: Sendable, Equatable {
    /// The sizes that a batch can have.
    package static let sizeRange = 1...1_000_000_000

    /// Sizes; `nil` is all that is left.
    package let sizes: [Int?]

    package static let standard = Ramp(sizes: [1, 5, 50, nil])

    private init(sizes: [Int?]) { self.sizes = sizes }

    package init(steps: [Int]) { sizes = steps + [nil] }

    /// The ramp that the text writes, or nothing when it is none.
    ///
    /// What is left after the last number comes in batches of that size.
    package init?(_ text: String) {
        var sizes: [Int?] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            if sizes.last == .some(nil) { return nil }
            if part == "all" {
                sizes.append(nil)
            } else if let size = Int(part), Self.sizeRange.contains(size) {
                sizes.append(size)
            } else {
                return nil
            }
        }
        guard !sizes.isEmpty else { return nil }
        self.sizes = sizes
    }

    package var text: String { sizes.map { $0.map(String.init) ?? "all" }.joined(separator: ",") }

    /// The size of the batch with this number, from 0.
    package func size(_ number: Int) -> Int? { number < sizes.count ? sizes[number] : sizes[sizes.count - 1] }
}
