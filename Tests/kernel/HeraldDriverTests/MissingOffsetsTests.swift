import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldDriver

@Suite("The report on missing offsets")
struct MissingOffsetsTests {
    private static func partitions(_ count: Int32) -> [TopicPartition] {
        (0..<count).map { TopicPartition(topic: "n", partition: $0) }
    }

    @Test("Partitions are counted and named, with the number of further ones")
    func names() {
        func words(_ count: Int32) -> String { MissingOffsets(Self.partitions(count), others: nil).words }
        #expect(words(1) == "no offset for 1 partition whose events have outcomes (n/0)")
        #expect(words(7).hasSuffix("7 partitions whose events have outcomes (n/0, n/1, n/2, n/3, n/4 and 2 more)"))
    }

    @Test("The question names a group of Herald's with offsets there, and the time of its newest event")
    func former() {
        let at = WallTime(milliseconds: 1_800_000_000_000)
        let others = OtherGroups(
            heralds: [
                .init(name: "herald", newest: at, hasMembers: true),
                .init(name: "old\n", newest: nil, hasMembers: false),
            ],
            foreign: ["report"], unasked: 12, failure: KafkaError(code: KafkaError.Code.timedOut))
        let remedy = MissingOffsets(Self.partitions(1), others: others).remedy
        let question =
            "the group herald (and old\\n) has Herald's offsets on these topics, for events up to "
            + "2027-01-15T08:00:00.000Z, and members: was kafka.group renamed? Then set it back."
        #expect(remedy.hasPrefix(question), "\(remedy)")
        #expect(remedy.contains("`herald offsets restore --with-other-groups`"))
        #expect(others.remarks.count == 3 && others.remarks[1].hasPrefix("12 more groups"), "\(others.remarks)")
    }

    @Test("Without such a group there is no question about a renaming, and unknown facts are stated")
    func none() {
        let foreign = OtherGroups(heralds: [], foreign: ["report"])
        #expect(foreign.question == nil)
        #expect(foreign.remarks == ["Other programs' groups have offsets there, too: report."])
        let remedy = MissingOffsets(Self.partitions(1), others: foreign).remedy
        #expect(remedy.hasPrefix("run `herald offsets restore --dry-run`"), "\(remedy)")
        #expect(OtherGroups(heralds: []).remarks == ["No other group that this user may see has offsets there."])
    }
}
