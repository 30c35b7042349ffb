import Foundation
import HeraldBytes
import TestSupport
import Testing

@testable import HeraldCore

@Suite("The map of completed offsets beyond a committed one")
struct CompletionMapTests {
    private func map(_ ranges: [Range<Int64>]) -> CompletionMap {
        var map = CompletionMap()
        for range in ranges { map.add(range) }
        return map
    }

    @Test("A map is rebased to where a log begins: what is done there and beyond stays so")
    func rebased() {
        var map = CompletionMap()
        for range in [12..<15, 18..<24, 30..<31] as [Range<Int64>] { map.add(range) }
        func expect(_ begin: Int64, _ offset: Int64, _ done: [Range<Int64>]) {
            let rebased = map.rebased(to: begin)
            #expect(rebased.offset == offset && rebased.map.done == done)
        }
        expect(16, 16, [18..<24, 30..<31])
        expect(20, 24, [30..<31])
        expect(40, 40, [])
    }

    @Test(
        "is read back as it was written, as ASCII within the broker's limit",
        arguments: [
            [], [101..<102], [101..<102, 103..<104, 105..<106, 107..<108], [150..<16_000_000],
            [101..<200, 300..<301, 4_000_000..<4_000_100],
        ] as [[Range<Int64>]])
    func roundTrip(ranges: [Range<Int64>]) {
        let map = map(ranges)
        let text = map.text(committing: 100, of: .first)
        #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(text.utf8.count <= 4_096)
        #expect(CompletionMap(text: text, committed: 100, of: .first) == map)
    }

    @Test(
        "has the evidence about the log, with or without completed offsets",
        arguments: [0, 1_764_288_000_000] as [Int64], [[], [101..<102]] as [[Range<Int64>]])
    func evidence(newest: Int64, done: [Range<Int64>]) {
        var known = map(done)
        known.evidence = LogEvidence(newest: newest, begin: 77)
        let text = known.text(committing: 100, of: .first)
        #expect(text.utf8.count < 40)
        #expect(CompletionMap(text: text, committed: 100, of: .first) == known)
        #expect(CompletionMap(text: text, committed: 101, of: .first) == nil)
    }

    @Test("has room for the evidence beside the largest map")
    func largest() {
        let end = 100 + Int64(CompletionMap.payloadLimit) * 8
        var known = map(stride(from: Int64(101), to: end, by: 2).map { $0..<$0 + 1 })
        known.evidence = LogEvidence(newest: 253_402_300_799_999, begin: .max - 1)
        let text = known.text(committing: 100, of: .first)
        #expect(text.utf8.count <= 4_096)
        let read = CompletionMap(text: text, committed: 100, of: .first)
        #expect(read?.evidence == known.evidence && read?.done.count == known.done.count)
    }

    @Test("is a bit set or run lengths, whichever is shorter")
    func forms() {
        let odd = stride(from: Int64(101), to: 501, by: 2)
        let scattered = map(odd.map { $0..<$0 + 1 })
        #expect(scattered.text(committing: 100, of: .first).hasPrefix("h3b"))
        let long = map([101..<1_000_000])
        #expect(long.text(committing: 100, of: .first).hasPrefix("h3r"))
        #expect(long.text(committing: 100, of: .first).utf8.count < 24)
    }

    @Test("leaves out the far end when it does not fit, and never claims more than is true")
    func tooLarge() {
        var random = SplitMix64(seed: 5)
        var position: Int64 = 100
        var ranges: [Range<Int64>] = []
        for _ in 0..<20_000 {
            let start = position + 1 + Int64(random.next() % 300)
            position = start + 1 + Int64(random.next() % 300)
            ranges.append(start..<position)
        }
        let text = map(ranges).text(committing: 100, of: .first)
        #expect(text.utf8.count <= 4_096)
        let read = CompletionMap(text: text, committed: 100, of: .first)
        #expect(read.map { $0.done.count > 700 && Array(ranges.prefix($0.done.count)) == $0.done } == true)
    }

    @Test("whatever the text is, exactly its offsets are skipped, and nothing crashes", arguments: UInt64(1)...8)
    func hostile(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let count = Int(random.next() % (random.next() % 20 == 0 ? 3_100 : 40))
            // Small numbers make many runs, large ones distant runs.
            let bits = random.next() % 8
            let input = (0...count).map { _ in UInt8(truncatingIfNeeded: random.next()) >> UInt8(bits) }
            let broken = CompletionMapProperties.brokenProperty(input)
            #expect(broken == nil, "\(input)")
        }
    }

    @Test("keeps these properties for the fuzzer's seeds and finds")
    func corpus() throws {
        let folder = Repository.root.appending(path: "Tests/Fuzz/corpus/completion-map")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 8)
        for file in files {
            let broken = CompletionMapProperties.brokenProperty(Array(try Data(contentsOf: file)))
            #expect(broken == nil, "\(file.lastPathComponent)")
        }
    }

    @Test("refuses a map that reaches too far, or whose committed offset none can follow")
    func tooFar() {
        let far = [0, 0] + [UInt8](repeating: 0x80, count: 3) + [8, 1]
        let text = CompletionMap.text(letter: 0x72, payload: far, committing: 5, of: .first)
        #expect(CompletionMap(text: text, committed: 5, of: .first) == nil)
        for offset in [Int64.min, -1, .max] {
            let text = CompletionMap.text(letter: 0x72, payload: [0, 0, 1, 1], committing: offset, of: .first)
            #expect(CompletionMap(text: text, committed: offset, of: .first) == nil)
        }
    }

    @Test(
        "refuses texts of other writers",
        arguments: ["x", "h3", "h3r", "h3bAAAA", "h3rAAAAAAAA", "consumer-7@host", "h1bAAAAAAAAAA", "h3r====", "é"])
    func foreign(text: String) {
        #expect(CompletionMap(text: text, committed: 100, of: .first) == nil)
    }

    @Test(
        "refuses a map copied by a mirror: of another cluster, topic or partition",
        arguments: ["", "MkU3OEVBNTcwNTJENDM2Qk"])
    func mirrored(cluster: String) {
        let own = PartitionIdentity(cluster: cluster, topic: "notifications", partition: 1)
        let text = map([101..<120]).text(committing: 100, of: own)
        #expect(CompletionMap(text: text, committed: 100, of: own)?.done == [101..<120])
        for (name, topic, partition) in [
            ("another", "notifications", Int32(1)), (cluster, "lost.notifications", 1), (cluster, "notifications", 0),
            (cluster + "n", "otifications", 1), (cluster, "notifications", 257),
        ] {
            let other = PartitionIdentity(cluster: name, topic: topic, partition: partition)
            #expect(CompletionMap(text: text, committed: 100, of: other) == nil, "\(name) \(topic) \(partition)")
        }
    }

    @Test("refuses a map of another offset, and a map with a changed character")
    func damaged() {
        let text = map([101..<120, 130..<131]).text(committing: 100, of: .first)
        #expect(CompletionMap(text: text, committed: 101, of: .first) == nil)
        for index in text.utf8.indices {
            var bytes = Array(text.utf8)
            let place = text.utf8.distance(from: text.utf8.startIndex, to: index)
            bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(CompletionMap(text: String(decoding: bytes, as: UTF8.self), committed: 100, of: .first) == nil)
        }
    }
}
