import HeraldTime
import HeraldTools
import Testing

@testable import HeraldConsole
@testable import HeraldKafka

@Suite("The console's observations of Kafka")
struct GroupObservationTests {
    private let place = TopicPartition(topic: "t", partition: 3)

    private func time(_ seconds: Int64) -> WallTime { WallTime(milliseconds: seconds * 1_000) }

    private func positions(_ committed: Int64, note: String = "", end: Int64 = 100) -> GroupPositions {
        GroupPositions(partitions: [.init(partition: place, committed: committed, note: note, begin: 0, end: end)])
    }

    @Test("A partition stands still when a later look finds no progress, not even in the note")
    func stillness() {
        var tracker = ProgressTracker()
        let due: (TopicPartition) -> Int64 = { _ in 1 }
        #expect(tracker.look(at: positions(5), due: due, now: time(0)) == [:])
        #expect(tracker.look(at: positions(5), due: due, now: time(3)) == [place: time(0)])
        #expect(tracker.look(at: positions(5), due: due, now: time(6)) == [place: time(0)])
        #expect(tracker.look(at: positions(5, note: "more is done behind it"), due: due, now: time(9)) == [:])
        #expect(
            tracker.look(at: positions(5, note: "more is done behind it"), due: due, now: time(12)) == [place: time(9)])
        #expect(tracker.look(at: positions(6), due: due, now: time(15)) == [:])
    }

    @Test("A partition without due events does not stand still, for any length of time")
    func nothingDue() {
        var tracker = ProgressTracker()
        for second in 0..<5 {
            #expect(tracker.look(at: positions(5), due: { _ in 0 }, now: time(Int64(second))) == [:])
        }
        // The time counts from the moment when an event became due.
        #expect(tracker.look(at: positions(5), due: { _ in 1 }, now: time(10)) == [place: time(4)])
    }

    private static let brokers = (1...3).map { ClusterMetadata.Broker(id: $0, host: "b\($0)", port: 9092) }

    private static func knowledge(
        silent: [Int32], of brokers: [ClusterMetadata.Broker] = brokers, failures: Int = 9,
        lacksCoordinator: Bool = true,
        last: GroupObservation? = nil
    ) -> GroupKnowledge? {
        let error = KafkaError(code: KafkaError.Code.timedOut, message: "Local: Timed out")
        return GroupWatch.Failure(error: error, failures: failures, last: last, lacksCoordinator: lacksCoordinator)
            .knowledge {
                GroupWatch.BrokerCensus(brokers: brokers, silent: brokers.filter { silent.contains($0.id) })
            }
    }

    @Test("A client's error becomes a sentence")
    func words() {
        #expect(Self.knowledge(silent: [], of: []) == .unreachable("no broker answered in time", last: nil))
    }

    @Test("Silent brokers and missing knowledge are named; unreachable is only the whole cluster")
    func silence() {
        #expect(
            Self.knowledge(silent: [1, 2])
                == .tooFewBrokers(
                    "brokers 1 (b1:9092), 2 (b2:9092) do not answer, and the group's coordinator is among them",
                    last: nil))
        #expect(
            Self.knowledge(silent: [3])
                == .tooFewBrokers("broker 3 (b3:9092) does not answer, and it coordinates the group", last: nil))
        #expect(
            Self.knowledge(silent: [3], lacksCoordinator: false)
                == .tooFewBrokers("broker 3 (b3:9092) does not answer, and it leads partitions of the group", last: nil)
        )
        #expect(
            Self.knowledge(silent: [1, 2, 3])
                == .unreachable("no broker answers: 1 (b1:9092), 2 (b2:9092), 3 (b3:9092)", last: nil))
    }

    @Test("Members are those with partitions; while partitions move, a dead member is said to count")
    func members() {
        func words(_ state: String, _ partitions: [[TopicPartition]]) -> String {
            GroupObservation(
                at: time(0), state: state,
                members: partitions.map { .init(clientID: "c", host: "/10.0.0.1", partitions: $0) }, partitions: []
            ).memberWords
        }
        #expect(words("Stable", [[place], [place]]) == "2 members")
        #expect(words("Stable", [[place], [], []]) == "1 member with partitions")
        #expect(
            words("PreparingRebalance", [[place], [place], [], []])
                == "4 members, with those that have died until their sessions end")
    }

    @Test("A leader that is just starting counts as chance at first, then is reported in words")
    func settling() {
        let error = KafkaError(code: KafkaError.Code.notLeaderForPartition, message: "Broker: Not leader for partition")
        let last = GroupObservation(at: time(0), state: "Stable", members: [], partitions: [])
        func knowledge(_ failures: Int) -> GroupKnowledge? {
            GroupWatch.Failure(error: error, failures: failures, last: last).knowledge {
                GroupWatch.BrokerCensus(brokers: [], silent: [])
            }
        }
        #expect(knowledge(2) == nil)
        #expect(
            knowledge(3)
                == .untold(
                    "a leader of the group's partitions, or its coordinator, is only just taking office", last: last))
    }

    @Test("One failed question while brokers answer changes no earlier knowledge")
    func chance() {
        let last = GroupObservation(at: time(0), state: "Stable", members: [], partitions: [])
        #expect(Self.knowledge(silent: [3], failures: 1, last: last) == nil)
        #expect(Self.knowledge(silent: [3], failures: 2, last: last) != nil)
        #expect(Self.knowledge(silent: [], failures: 2, last: last) == nil)
        #expect(
            Self.knowledge(silent: [], failures: 3, last: last)
                == .untold("the brokers answer, but not about the group: no broker answered in time", last: last))
        // Without any broker there is nothing to wait for.
        #expect(Self.knowledge(silent: [1, 2, 3], failures: 1, last: last)?.isOutOfReach == true)
    }
}
