import HeraldDriver
import HeraldEvents
import HeraldTools
import Testing

@testable import HeraldReplay

@Suite("The content of one transaction")
struct LetterBatchTests {
    private func letter(
        _ offset: Int64, partition: Int32 = 0, bytes: Int = 10, only services: [String]? = nil,
        correctedFor corrected: [String]? = nil
    ) -> LetterBatch.Letter {
        LetterBatch.Letter(
            state: .gathered,
            record: OutgoingRecord(topic: "notifications", key: nil, value: [UInt8](repeating: 0, count: bytes)),
            replay: ReplayRules.Replay(
                topic: "notifications", origin: Origin(topic: "notifications", partition: 0, offset: offset),
                pushServices: corrected ?? services ?? ["apns", "gcm"], isWhole: services == nil,
                isCorrectedForOthers: corrected != nil, replays: 1),
            partition: partition, offset: offset, markCount: 0)
    }

    private func batch(_ letters: LetterBatch.Letter...) -> LetterBatch {
        var batch = LetterBatch()
        for letter in letters { batch.add(letter) }
        batch.cut()
        return batch
    }

    @Test("Similar letters share a mark; parts of the push services and corrections have their own")
    func marks() {
        let batch = batch(
            letter(1), letter(2, only: ["apns"]), letter(3), letter(7, partition: 1), letter(4, correctedFor: ["wns"]),
            letter(5, only: ["apns"]))
        let (records, marks) = batch.content(job: "replay-1", at: 7)
        #expect(records.count == 6 && marks.count == 3 && marks.allSatisfy { $0.job == "replay-1" && $0.at == 7 })
        #expect(marks[0].partitions == ["0": "1,3", "1": "7"] && marks[0].pns == nil && marks[0].calls == nil)
        #expect(marks[1].partitions == ["0": "2,5"] && marks[1].pns == ["apns"])
        #expect(marks[2].partitions == ["0": "4"] && marks[2].pns == nil && marks[2].calls == ["wns"])
    }

    @Test("A batch is full with 500 letters, or with four mebibytes")
    func bounds() {
        var batch = LetterBatch()
        for offset in 0..<499 as Range<Int64> { batch.add(letter(offset)) }
        #expect(!batch.isFull)
        batch.add(letter(499))
        #expect(batch.isFull)
        batch.cut()
        #expect(!batch.isFull)
        batch.add(letter(500, bytes: 4 << 20))
        #expect(batch.isFull)
    }

    @Test("Its marks prove that it was written only when every letter has more of them than before")
    func isMarked() throws {
        var marks = MarkIndex()
        let batch = batch(letter(1), letter(2))
        #expect(!batch.isMarked(in: marks))
        func mark(_ ranges: String) throws -> MarkRecord {
            let text = #"{"state":"replayed","job":"j","at":1,"partitions":{"0":"\#(ranges)"}}"#
            return try #require(MarkRecord(decoding: Array(text.utf8)))
        }
        marks.add(try mark("1"))
        #expect(!batch.isMarked(in: marks))
        marks.add(try mark("2"))
        #expect(batch.isMarked(in: marks))
        var again = letter(1)
        again.markCount = 1
        #expect(!self.batch(again).isMarked(in: marks), "that was the replay before")
        marks.add(try mark("1"))
        #expect(self.batch(again).isMarked(in: marks))
    }
}

@Suite("The content of the state topic")
struct KnownStateTests {
    private func add(_ key: String, _ value: String?, to known: inout KnownState) -> MarkRecord? {
        known.add(key: Array(key.utf8), value: value.map { Array($0.utf8) }, partition: 0, offset: 3)
    }

    private static let mark = #"{"state":"replayed","job":"j","at":1,"partitions":{"0":"5"}}"#

    @Test("Marks of the topic's own dead letters count, those of other topics and foreign keys do not")
    func prefixes() {
        var own = KnownState()
        var others = KnownState(foreignTopic: "orders.DLT")
        for key in ["marks/j/0", "marks-of/orders.DLT/j/0", "else"] {
            #expect((add(key, Self.mark, to: &own) != nil) == (key == "marks/j/0"))
            #expect((add(key, Self.mark, to: &others) != nil) == (key == "marks-of/orders.DLT/j/0"))
        }
        #expect(own.marks.replayCount(partition: 0, offset: 5) == 1)
    }

    @Test("The last lease counts, and a returned one does not")
    func lease() {
        var known = KnownState()
        let lease = Lease(
            job: "replay-1", owner: "ann", process: ReplayScript.process, work: "replay", since: 1_795_250_426_123)
        #expect(add(Lease.key, String(decoding: RecordJSON.encoded(lease), as: UTF8.self), to: &known) == nil)
        #expect(known.lease == lease)
        _ = add(Lease.key, nil, to: &known)
        #expect(known.lease == nil)
    }

    @Test("A damaged mark prevents every replay until it is removed")
    func damaged() throws {
        var known = KnownState()
        _ = add("marks/j/0", "?", to: &known)
        let failure = #expect(throws: ToolFailure.self) { try known.checkDamages(of: "s") }
        #expect(failure?.description.contains("0:3") == true)
        _ = add("marks/j/0", nil, to: &known)
        try known.checkDamages(of: "s")
    }
}
