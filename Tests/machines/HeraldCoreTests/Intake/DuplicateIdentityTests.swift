import TestSupport
import Testing

@testable import HeraldCore

@Suite("The identity of an event")
struct DuplicateIdentityTests {
    /// SipHash-1-3 with an all-zero key of the bytes 0, 1, 2, ….
    @Test(
        "is hashed by SipHash-1-3, with the reference results",
        arguments: [
            (1, 0x68A9_1412_8E01_E473), (7, 0x2F09_8AB0_C751_325A), (8, 0xEAD4_11E6_7EBE_2EEA),
            (9, 0x7592_7F9D_9512_4362), (15, 0xF30E_B725_BB91_C9EA), (16, 0x8972_1884_33A5_C5B7),
            (40, 0x95BC_321A_B41D_8206),
        ] as [(UInt8, UInt64)])
    func vectors(count: UInt8, expected: UInt64) {
        let bytes = [UInt8](0..<count)
        let hash = ByteHash.hash(bytes.span.bytes, with: ByteHash(key: (0, 0)))
        #expect(hash == expected)
    }

    @Test("is hashed with both halves of the key")
    func key() {
        let empty: [UInt8] = []
        let key = (0x0706_0504_0302_0100 as UInt64, 0x0F0E_0D0C_0B0A_0908 as UInt64)
        let hash = ByteHash.hash(empty.span.bytes, with: ByteHash(key: key))
        #expect(hash == 0xABAC_0158_050F_C4DC)
    }

    @Test("differs with each of its parts: source, identifier, user, their boundaries, partition and seed")
    func framing() {
        let texts: [String] = [
            "", "\0", "a", "b", "ab", "ba", "abc", "aaaaaaaa", "aaaaaaa", "aaaaaaaaa", "aaaaaaaaaaaaaaaa",
            "aaaaaaaaaaaaaaaaa", "\0\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0",
        ]
        let sources: [String?] = [nil, "\u{1}\0\0\0\0\0\0\0a"] + texts
        var seen: Set<UInt64> = []
        var count = 0
        for source in sources {
            for id in texts {
                for user in texts {
                    for (salt, seed) in [(0, 0), (1, 0), (0, 1)] as [(UInt64, UInt64)] {
                        seen.insert(hash(source, id, user, salt: salt, seed: seed))
                        count += 1
                    }
                }
            }
        }
        #expect(seen.count == count)
        #expect(hash("x", "ab", "c", salt: 3, seed: 4) == hash("x", "ab", "c", salt: 3, seed: 4))
    }

    @Test("spreads similar identities over all 64 bits")
    func avalanche() {
        let samples = 500
        var flips = [Int](repeating: 0, count: 64)
        for number in 0..<samples {
            let one = hash("urn:x", "event-\(2 * number)", "user", salt: 0, seed: 9)
            let other = hash("urn:x", "event-\(2 * number + 1)", "user", salt: 0, seed: 9)
            for bit in 0..<64 where (one ^ other) >> UInt64(bit) & 1 == 1 { flips[bit] += 1 }
        }
        // Half of the samples; five standard deviations are 56.
        for bit in 0..<64 { #expect((samples / 2 - 56...samples / 2 + 56).contains(flips[bit]), "bit \(bit)") }
    }
}

private func hash(_ source: String?, _ id: String, _ user: String, salt: UInt64, seed: UInt64) -> UInt64 {
    let id = Array(id.utf8)
    return DuplicateIdentity.hash(
        source: source.map { ByteHash.hash(Array($0.utf8).span.bytes, seed: seed) } ?? 0, id: id.span.bytes,
        user: ByteHash.hash(Array(user.utf8).span.bytes, seed: seed), partition: salt, seed: seed)
}
