import Foundation
import HeraldBytes
import Testing

@testable import HeraldReplay

@Suite("Marks")
struct MarkTests {
    private func record(
        _ partitions: String, state: String = "replayed", pns: String = ""
    ) throws -> MarkRecord {
        let services = pns.isEmpty ? "" : #""pns":[\#(pns)],"#
        let text = #"{"state":"\#(state)","job":"j","at":1,\#(services)"partitions":\#(partitions)}"#
        return try #require(MarkRecord(decoding: Array(text.utf8)))
    }

    @Test(
        "A record marks at most as many offsets as a transaction has, however many ranges it contains",
        arguments: ["", "\"apns\""])
    func mostOffsets(pns: String) throws {
        let ranges = (0..<40).map { "\($0 * 200_000)-\($0 * 200_000 + 9_999)" }.joined(separator: ",")
        var marks = MarkIndex()
        marks.add(try record(#"{"0":"0-100000,\#(ranges)","1":"0-9"}"#, pns: pns))
        let marked = (0..<200_000 as Range<Int64>).count { marks.replayCount(partition: 0, offset: $0) > 0 }
        #expect(marked == 10_000)
        let ends = (1..<40 as Range<Int64>).flatMap { [$0 * 200_000, $0 * 200_000 + 9_999] }
        #expect(ends.allSatisfy { marks.replayCount(partition: 0, offset: $0) == 0 })
        #expect(marks.replayCount(partition: 1, offset: 0) == 0)
    }

    @Test(
        "A mark of an impossible moment is a mark, and results are read from their beginning",
        arguments: [
            Int64.min, -1, .max,
        ])
    func moments(at moment: Int64) throws {
        let text = #"{"state":"replayed","job":"j","at":\#(moment),"partitions":{"0":"5"}}"#
        var marks = MarkIndex()
        marks.add(try #require(MarkRecord(decoding: Array(text.utf8))))
        #expect(marks.firstReplayAt == 0 && marks.isReplayed([], partition: 0, offset: 5))
    }

    @Test("A lease since an impossible moment belongs to no job", arguments: [Int64.min, -1, .max, 1])
    func leases(since: Int64) throws {
        let text = """
            {"job":"j","owner":"ann@web1","process":{"boot":"b","namespace":"n","id":1,"started":"1"},"work":"w",
            "since":\(since),"beat":1,"isOver":false}
            """
        #expect((Lease(decoding: Array(text.utf8)) != nil) == (since == 1))
    }

    @Test("A damaged mark prevents replays until a record of its key removes it")
    func damages() throws {
        var damages = MarkDamages()
        damages.note(isDamaged: false, key: "marks/a/1", place: "0:1")
        #expect(damages.sentence == nil)
        damages.note(isDamaged: true, key: "marks/b/1", place: "0:2")
        damages.note(isDamaged: true, key: "marks/c/1", place: "0:3")
        let sentence = try #require(damages.sentence)
        #expect(sentence.contains("0:2") && sentence.contains("and 1 more") && sentence.contains("\"marks/b/1\""))
        for key in ["marks/b/1", "marks/c/1"] { damages.note(isDamaged: false, key: key, place: "0:4") }
        #expect(damages.sentence == nil)
    }

    @Test("A set of offsets equals a set of numbers, however far apart they are")
    func offsets() {
        var generator = SplitMix64(seed: 1)
        var offsets = OffsetSet()
        var model: Set<Int64> = []
        for _ in 0..<20_000 {
            let scale: Int64 = Bool.random(using: &generator) ? 1 : 1_000_003
            let offset = Int64.random(in: 0...40_000, using: &generator) * scale
            offsets.insert(offset)
            model.insert(offset)
        }
        #expect(offsets.count(in: 0..<Int64.max - 1) == model.count)
        #expect(model.allSatisfy { offsets.contains($0) })
        #expect(offsets.bounds?.lowerBound == model.min() && offsets.bounds?.upperBound == model.max())
        #expect(!offsets.contains(-1) && !offsets.contains(.max))
        offsets.insert(.max)
        #expect(offsets.contains(.max))
        #expect(OffsetSet().bounds == nil)
    }

    @Test("Ranges and single offsets are marked, and no others")
    func ranges() throws {
        var marks = MarkIndex()
        marks.add(try record(#"{"0":"5-9,12","3":"0"}"#))
        for offset in [5, 9, 12] as [Int64] { #expect(marks.isReplayed(["apns"], partition: 0, offset: offset)) }
        for offset in [4, 10, 11, 13] as [Int64] { #expect(!marks.isReplayed(["apns"], partition: 0, offset: offset)) }
        #expect(marks.isReplayed([], partition: 3, offset: 0))
        #expect(!marks.isReplayed([], partition: 1, offset: 0))
    }

    @Test(
        "Malformed parts of a mark are skipped, and cost no time",
        arguments: [
            "x", "9-5", "-3", "1-2-3", "", "0-9223372036854775807", "99999999999999999999",
        ])
    func damaged(ranges: String) throws {
        var marks = MarkIndex()
        marks.add(try record(#"{"0":"\#(ranges),7"}"#))
        #expect(marks.isReplayed(["apns"], partition: 0, offset: 7))
        #expect(marks.replayCount(partition: 0, offset: 2) == 0)
    }

    @Test("Marks of some push services and then of the others mark the whole letter")
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

    @Test("A resolved letter is not a replayed one")
    func resolved() throws {
        var marks = MarkIndex()
        marks.add(try record(#"{"0":"5"}"#, state: "resolved"))
        #expect(marks.isResolved(partition: 0, offset: 5) && !marks.isReplayed(["apns"], partition: 0, offset: 5))
        #expect(marks.replayCount(partition: 0, offset: 5) == 0)
    }
}
