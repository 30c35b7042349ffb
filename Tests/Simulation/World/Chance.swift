internal import HeraldBytes

/// Chance from a seed: the same seed gives the same choices.
package struct Chance {
    private var generator: SplitMix64

    package init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    /// Chance for one purpose of a seed: no other purpose, and no order of purposes, changes its numbers.
    init(seed: UInt64, for purpose: String) {
        // FNV-1a: a `Hasher` gives another number in each process.
        let key = purpose.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var seeds = SplitMix64(seed: seed)
        var keys = SplitMix64(seed: key)
        generator = SplitMix64(seed: seeds.next() ^ keys.next())
    }

    package mutating func bits() -> UInt64 { generator.next() }

    /// A number from 0 to below `bound`.
    mutating func below(_ bound: Int) -> Int { Int(bits() % UInt64(bound)) }

    mutating func between(_ low: Int64, _ high: Int64) -> Int64 { low + Int64(bits() % UInt64(high - low + 1)) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Whether an event of this probability, in millionths, happens.
    mutating func happens(_ millionths: Int) -> Bool { below(1_000_000) < millionths }
}
