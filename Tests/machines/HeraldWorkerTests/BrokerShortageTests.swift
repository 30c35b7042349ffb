import HeraldCore
import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldKafka
@testable import HeraldWorker

@Suite("Partitions that are unusable because brokers do not answer")
struct BrokerShortageTests {
    private static let results = TopicPartition(topic: "results", partition: 0)
    private var shortage = BrokerShortage()

    private func at(_ second: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000) }

    private mutating func look(
        leader: Int32? = 1, replicas: [Int32] = [1, 2, 3], silent: Set<Int32>, copies: Int? = 2, at second: Int
    ) -> [TopicPartition] {
        let partition = ClusterMetadata.Partition(
            id: 0, leader: leader, replicas: replicas, inSyncReplicaCount: replicas.count)
        return shortage.look(
            at: [ClusterMetadata.Topic(name: "results", partitions: [partition], error: nil)], silent: silent,
            copies: { _ in copies }, now: at(second))
    }

    @Test("Two of three copies are silent, two are wanted: unusable after a while, and usable again at once")
    mutating func tooFew() {
        #expect(look(silent: [], at: 0) == [])
        #expect(look(silent: [2, 3], at: 10) == [])
        #expect(look(silent: [2, 3], at: 15) == [] && shortage.isCounting, "a restart takes less")
        #expect(look(silent: [2, 3], at: 16) == [Self.results])
        #expect(look(silent: [3], at: 26) == [], "one copy less is what replication is for")
        #expect(look(silent: [2, 3], at: 27) == [], "a second time begins anew")
    }

    @Test("A silent leader that no other broker replaces is enough")
    mutating func leader() {
        for second in [0, 14, 15] {
            #expect(look(silent: [1], copies: 1, at: second) == (second < 15 ? [] : [Self.results]))
        }
    }

    @Test("Where all copies are silent no leader can move: unusable after a restart's time", arguments: [1, 2, nil])
    mutating func all(copies: Int?) {
        #expect(look(silent: [1, 2, 3], copies: copies, at: 0) == [])
        #expect(look(silent: [1, 2, 3], copies: copies, at: 6) == [Self.results])
        #expect(look(silent: [1], copies: copies, at: 7) == [], "a leader may move again")
    }

    @Test("That no broker answers counts when a restart would be over, and anew after an answer")
    mutating func silence() {
        func hears(at second: Int, asked begin: Int) -> Bool {
            !shortage.hearNothing(since: at(begin), now: at(second))
        }
        #expect(!shortage.isCounting)
        // What counts is when the first question without an answer began.
        #expect(hears(at: 2, asked: 0) && hears(at: 5, asked: 3) && shortage.isCounting && !hears(at: 6, asked: 4))
        #expect(look(silent: [], at: 7) == [] && !shortage.isCounting)
        #expect(hears(at: 10, asked: 8) && hears(at: 13, asked: 12) && !hears(at: 14, asked: 12))
    }

    @Test("A name's coordinator leads the partition of its Java hash")
    func coordinator() {
        let partitions = (0..<50).map {
            ClusterMetadata.Partition(id: $0, leader: $0 + 100, replicas: [], inSyncReplicaCount: 0)
        }
        let topic = ClusterMetadata.Topic(name: "__consumer_offsets", partitions: partitions, error: nil)
        // "herald".hashCode() is -1220767132, "polygenelubricants".hashCode() the one without an absolute value.
        #expect(topic.coordinator(of: "herald") == 132 && topic.coordinator(of: "polygenelubricants") == 100)
        #expect(ClusterMetadata.Topic(name: "", partitions: [], error: nil).coordinator(of: "herald") == nil)
    }

    @Test(
        "Other causes do not count: no leader, too few copies, unknown settings",
        arguments: [(nil, [1, 2, 3], Set<Int32>([2, 3]), 2), (1, [1], [], 2), (1, [1, 2, 3], [2, 3], nil)]
            as [(Int32?, [Int32], Set<Int32>, Int?)])
    mutating func others(leader: Int32?, replicas: [Int32], silent: Set<Int32>, copies: Int?) {
        for second in [0, 60] {
            #expect(look(leader: leader, replicas: replicas, silent: silent, copies: copies, at: second) == [])
        }
    }
}

@Suite("Partitions whose events no lane takes")
struct StandstillWatchTests {
    private static let partition = TopicPartition(topic: "notifications", partition: 3)
    private var watch = StandstillWatch()

    private static func lane(_ change: (inout LaneReport) -> Void = { _ in }) -> LaneReport {
        var lane = LaneReport(number: 0, at: MonotonicTime(nanoseconds: 0), services: 1, requestTopics: 1)
        lane.phase = .taking
        lane.partitions = [PartitionReport(partition, done: 5)]
        change(&lane)
        return lane
    }

    private mutating func look(_ lane: LaneReport, end: Int64? = 9, at second: Int) -> [TopicPartition] {
        lookFully(lane, end: end, at: second).still
    }

    private mutating func lookFully(
        _ lane: LaneReport, end: Int64? = 9, at second: Int
    ) -> (still: [TopicPartition], silent: [TopicPartition]) {
        watch.look(
            at: [lane], ends: end.map { [Self.partition: $0] } ?? [:],
            now: MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000))
    }

    /// Calls are under way for all of its events.
    private static let busy: @Sendable (inout LaneReport) -> Void = {
        $0.events = 4
        $0.partitions[0].next = 9
    }

    @Test("Events have been there for a minute, and an otherwise idle lane does not take them")
    mutating func still() {
        #expect(look(Self.lane(), at: 0) == [])
        #expect(look(Self.lane(), at: 59) == [])
        #expect(look(Self.lane(), at: 60) == [Self.partition])
        let taken = Self.lane { $0.partitions[0] = PartitionReport(Self.partition, done: 6) }
        #expect(look(taken, at: 61) == [], "one was taken")
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout LaneReport) -> Void
        var end: Int64? = 9
    }

    private static let meantToStand = [
        Case(testDescription: "an idle worker, a drained partition", change: { _ in }, end: 5),
        Case(testDescription: "a broker that does not say where partitions end", change: { _ in }, end: nil),
        Case(testDescription: "calls that take minutes, and events that wait in memory", change: busy),
        Case(
            testDescription: "events for which there is no room",
            change: {
                $0.events = 1
                $0.partitions[0].isHeld = true
            }),
        Case(testDescription: "an outage of the backend", change: { $0.outage = OutageReport(.breaker) }),
        Case(testDescription: "a rebalance", change: { $0.phase = .stopping }),
        Case(testDescription: "events that wait in a delay topic", change: { $0.partitions[0].delay = "30m" }),
        Case(testDescription: "a partition that nothing was ever taken of", change: { $0.partitions[0].done = nil }),
        Case(testDescription: "a lane that has ended", change: { $0.hasEnded = true }),
    ]

    @Test("The rule excepts partitions that stand still on purpose", arguments: meantToStand.indices)
    mutating func others(index: Int) {
        let meant = Self.meantToStand[index]
        for second in [0, 3_600] {
            #expect(look(Self.lane(meant.change), end: meant.end, at: second) == [], "\(meant.testDescription)")
        }
    }

    @Test("A standstill during calls counts from their end")
    mutating func after() {
        #expect(look(Self.lane(Self.busy), at: 0) == [])
        #expect(look(Self.lane(), at: 100) == [])
        #expect(look(Self.lane(), at: 160) == [Self.partition])
    }

    @Test("A partition without fetched records is checked soon, and once a minute, however busy its lane is")
    mutating func silent() {
        let lane = Self.lane { $0.events = 7 }
        let asked = [0, 19, 20, 30, 79, 80].map { lookFully(lane, at: $0).silent == [Self.partition] }
        #expect(asked == [false, false, true, false, false, true])
        #expect(look(lane, at: 81) == [Self.partition])
        #expect(lookFully(Self.lane { $0.partitions[0].next = 6 }, at: 82).silent == [], "one was taken")
        #expect(lookFully(Self.lane { $0.partitions[0].next = 6 }, at: 102).silent == [Self.partition])
    }
}
