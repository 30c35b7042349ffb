import Foundation
import HeraldBytes
import HeraldReplay
import Testing

@Suite("Marks")
struct MarkTests {
    private func record(
        _ partitions: String, state: String = "replayed", pns: String = ""
    ) throws -> MarkRecord {
        let services = pns.isEmpty ? "" : #""pns":[\#(pns)],"#
        let text = #"{"state":"\#(state)","job":"j","at":1,\#(services)"partitions":\#(partitions)}"#
        return try JSONDecoder().decode(MarkRecord.self, from: Data(text.utf8))
    }

    @Test("A set of offsets is what a set of numbers is, however far they are apart")
    func offsets() {
        var generator = SplitMix64(seed: 1)
        var offsets = OffsetSet()
        var model: Set<Int64> = []
        for _ in 0..<20_000 {
            let scale: Int64 = Bool.random(using: &generator) ? 1 : 1_000_003
            let offset = Int64.random(in: 0...40_000, using: &generator) * scale
            if Int.random(in: 0..<4, using: &generator) == 0 {
                offsets.remove(offset)
                model.remove(offset)
            } else {
                #expect(offsets.insert(offset) == model.insert(offset).inserted)
            }
        }
        #expect(offsets.count == model.count)
        #expect(model.allSatisfy { offsets.contains($0) })
        #expect(offsets.bounds?.lowerBound == model.min() && offsets.bounds?.upperBound == model.max())
        #expect(!offsets.contains(-1) && !offsets.contains(.max))
        offsets.insert(.max)
        #expect(offsets.contains(.max))
        #expect(OffsetSet().bounds == nil)
    }

    @Test("Ranges and single offsets are marked, and nothing beside them")
    func ranges() throws {
        var marks = MarkIndex()
        marks.add(try record(#"{"0":"5-9,12","3":"0"}"#))
        for offset in [5, 9, 12] as [Int64] { #expect(marks.isReplayed(["apns"], partition: 0, offset: offset)) }
        for offset in [4, 10, 11, 13] as [Int64] { #expect(!marks.isReplayed(["apns"], partition: 0, offset: offset)) }
        #expect(marks.isReplayed([], partition: 3, offset: 0))
        #expect(!marks.isReplayed([], partition: 1, offset: 0))
    }

    @Test(
        "What is written wrongly in a mark is left out, and takes no time",
        arguments: [
            "x", "9-5", "-3", "1-2-3", "", "0-9223372036854775807", "99999999999999999999",
        ])
    func damaged(ranges: String) throws {
        var marks = MarkIndex()
        marks.add(try record(#"{"0":"\#(ranges),7"}"#))
        #expect(marks.isReplayed(["apns"], partition: 0, offset: 7))
        #expect(marks.replayCount(partition: 0, offset: 2) == 0)
    }

    @Test("Some push services, then the others, make the whole")
    func parts() throws {
        var marks = MarkIndex()
        let all = ["apns", "gcm"]
        marks.add(try record(#"{"0":"5"}"#, pns: #""apns""#))
        #expect(!marks.isReplayed(all, partition: 0, offset: 5))
        #expect(marks.missing(of: all, partition: 0, offset: 5) == ["gcm"])
        #expect(marks.replayCount(partition: 0, offset: 5) == 1)
        marks.add(try record(#"{"0":"5"}"#, pns: #""gcm""#))
        #expect(marks.isReplayed(all, partition: 0, offset: 5))
        #expect(marks.replayCount(partition: 0, offset: 5) == 2)
        marks.add(try record(#"{"0":"5"}"#))
        #expect(marks.replayCount(partition: 0, offset: 5) == 3)
        marks.add(try record(#"{"0":"5"}"#, pns: #""apns""#))
        #expect(marks.isReplayed(all, partition: 0, offset: 5), "a part after the whole leaves it whole")
    }

    @Test("Resolved is another thing than replayed")
    func resolved() throws {
        var marks = MarkIndex()
        marks.add(try record(#"{"0":"5"}"#, state: "resolved"))
        #expect(marks.isResolved(partition: 0, offset: 5) && !marks.isReplayed(["apns"], partition: 0, offset: 5))
        #expect(marks.replayCount(partition: 0, offset: 5) == 0)
    }
}
