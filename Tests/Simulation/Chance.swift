/// Chance from a seed (Steele, Lea, Flood: SplitMix): the same seed gives the same numbers.
package struct Chance {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func bits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below `bound`.
    mutating func below(_ bound: Int) -> Int { Int(bits() % UInt64(bound)) }

    mutating func between(_ low: Int64, _ high: Int64) -> Int64 { low + Int64(bits() % UInt64(high - low + 1)) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Whether something happens that does so this often in a million times.
    mutating func happens(_ millionths: Int) -> Bool { below(1_000_000) < millionths }
}
