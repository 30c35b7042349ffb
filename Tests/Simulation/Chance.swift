internal import HeraldBytes

/// Chance from a seed: the same seed gives the same choices.
package struct Chance {
    private var generator: SplitMix64

    package init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    package mutating func bits() -> UInt64 { generator.next() }

    /// A number from 0 to below `bound`.
    mutating func below(_ bound: Int) -> Int { Int(bits() % UInt64(bound)) }

    mutating func between(_ low: Int64, _ high: Int64) -> Int64 { low + Int64(bits() % UInt64(high - low + 1)) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Whether something happens that does so this often in a million times.
    mutating func happens(_ millionths: Int) -> Bool { below(1_000_000) < millionths }
}
