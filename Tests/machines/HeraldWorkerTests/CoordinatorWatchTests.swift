import HeraldCore
import HeraldTime
import Testing

@testable import HeraldKafka
@testable import HeraldWorker

@Suite("Lanes without a coordinator")
struct CoordinatorWatchTests {
    private static func lane(isReady: Bool = true, _ phase: LanePhase = .unassigned) -> LaneReport {
        var lane = LaneReport(number: 0, at: .distantPast, services: 1, requestTopics: 1)
        (lane.isReady, lane.phase) = (isReady, phase)
        return lane
    }

    private static func moment(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0).advanced(by: seconds * .seconds(1))
    }

    @Test(
        "Lanes that wait eight seconds for partitions or a producer cause a look at the coordinator's topic"
    )
    func patience() {
        var watch = CoordinatorWatch()
        #expect(watch.look(at: [Self.lane(isReady: false)], now: Self.moment(0)) == nil)
        #expect(watch.look(at: [Self.lane(isReady: false)], now: Self.moment(8)) == .transactions)
        // The next wait is another lane's.
        #expect(watch.look(at: [Self.lane()], now: Self.moment(9)) == nil)
        #expect(watch.look(at: [Self.lane(), Self.lane(.taking)], now: Self.moment(17)) == .groups)
        #expect(watch.look(at: [Self.lane(.taking)], now: Self.moment(18)) == nil)
        #expect(watch.look(at: [Self.lane()], now: Self.moment(30)) == nil)
    }

    @Test("A lane that its group refuses has a coordinator")
    func refused() {
        var watch = CoordinatorWatch()
        var lane = Self.lane()
        lane.groupObstacle = GroupObstacle(KafkaError(code: KafkaError.Code.groupMaxSizeReached))
        #expect(watch.look(at: [lane], now: Self.moment(0)) == nil)
        #expect(watch.look(at: [lane], now: Self.moment(60)) == nil)
    }
}

@Suite("Obstacles to joining a group")
struct GroupObstacleTests {
    private static func metadata(_ topic: ClusterMetadata.Topic) -> ClusterMetadata {
        ClusterMetadata(brokers: [.init(id: 1, host: "a", port: 9_092)], topics: [topic])
    }

    @Test("Each error names the setting that corrects it, and a temporary error is no obstacle")
    func errors() {
        let settings = [
            KafkaError.Code.invalidSessionTimeout: "group.min.session.timeout.ms",
            KafkaError.Code.groupMaxSizeReached: "group.max.size",
            KafkaError.Code.inconsistentGroupProtocol: "partition.assignment.strategy",
        ]
        for (code, setting) in settings {
            #expect(GroupObstacle(KafkaError(code: code))?.sentence.contains(setting) == true)
        }
        for code in [KafkaError.Code.unknownMemberID, KafkaError.Code.notCoordinator, KafkaError.Code.maxPollExceeded] {
            #expect(GroupObstacle(KafkaError(code: code)) == nil)
        }
    }

    @Test("A coordinator's topic that is missing or leaderless is an obstacle; a present or hidden one is not")
    func coordinator() {
        let missing = ClusterMetadata.Topic(
            name: "__consumer_offsets", partitions: [],
            error: KafkaError(code: KafkaError.Code.unknownTopicOrPartition))
        let sentence = GroupObstacle(.groups, in: Self.metadata(missing))?.sentence
        #expect(sentence?.contains("(there is 1, and offsets.topic.replication.factor is 3 unless set)") == true)
        var topic = missing
        topic.error = KafkaError(code: KafkaError.Code.topicAuthorizationFailed)
        #expect(GroupObstacle(.groups, in: Self.metadata(topic)) == nil)
        topic.error = nil
        topic.partitions = [.init(id: 0, leader: 1, replicas: [1], inSyncReplicaCount: 1)]
        #expect(GroupObstacle(.groups, in: Self.metadata(topic)) == nil)
        topic.partitions.append(.init(id: 1, leader: nil, replicas: [2], inSyncReplicaCount: 0))
        let leaderless = GroupObstacle(.groups, in: Self.metadata(topic))?.what
        #expect(leaderless?.contains("1 of 2 partitions of __consumer_offsets have no leader") == true)
    }
}
