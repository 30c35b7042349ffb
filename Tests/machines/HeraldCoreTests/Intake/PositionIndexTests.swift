import HeraldBytes
import TestSupport
import Testing

@testable import HeraldCore

@Suite("The index of positions")
struct PositionIndexTests {
    /// An index for this number of positions has nine bits for the distance: 511 and more are recomputed.
    @Test(
        "finds its positions, however far from their homes",
        arguments: [(1 << 22, 0), (1 << 22, .max - 900), (2_000, .max - 900), (1_800, 1 << 55)] as [(Int, UInt64)])
    func model(capacity: Int, base: UInt64) throws {
        var random = SplitMix64(seed: base)
        // In the larger table three adjacent homes, so that the middle of the cluster moves too.
        let hashes = (0..<1_800 as Range<UInt64>).map { (base &+ $0 / 2) << 8 &+ ($0 / 2 % 3) << 42 }
        var index = PositionIndex(capacity: capacity)
        var model: [UInt64: Int] = [:]
        // First most of them are placed, so that the cluster gets long, then they come and go, and in the end all go.
        for (steps, places) in [(1_500, 9), (2_000, 5), (2_500, 2)] as [(Int, UInt64)] {
            for _ in 0..<steps {
                let position = Int(random.next() % 1_800)
                let hash = hashes[position]
                if random.next() % 10 < places {
                    index.place(hash, at: position, in: hashes)
                    model[hash] = position
                } else {
                    index.remove(hash, at: position, in: hashes)
                    if model[hash] == position { model[hash] = nil }
                }
                let probe = hashes[Int(random.next() % 1_800)]
                let found = index.find(probe, in: hashes)
                try #require(found == model[probe])
            }
            try #require(hashes.allSatisfy { index.find($0, in: hashes) == model[$0] })
        }
        for position in hashes.indices { index.remove(hashes[position], at: position, in: hashes) }
        #expect(hashes.allSatisfy { index.find($0, in: hashes) == nil })
    }
}
