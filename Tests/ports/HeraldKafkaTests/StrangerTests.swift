import Testing

@testable import HeraldKafka

@Suite("Strangers in a group")
struct GroupStrangerTests {
    private static func member(_ clientID: String, partitions: Int = 0) -> GroupDescription.Member {
        GroupDescription.Member(
            clientID: clientID, host: "/10.0.0.7",
            partitions: (0..<partitions).map { TopicPartition(topic: "t", partition: Int32($0)) })
    }

    @Test("Herald's members are known by their names, whatever version or port; all others are strangers")
    func names() {
        let group = GroupDescription(
            state: "Stable",
            members: [
                Self.member("herald"), Self.member("herald-admin-9464"), Self.member("push-blue"),
                Self.member("rdkafka"), Self.member("consumer-g-1", partitions: 2), Self.member(""),
            ])
        #expect(group.strangers(besides: "push-blue").map(\.clientID) == ["consumer-g-1", "", "rdkafka"])
        #expect(group.strangers(besides: nil).count == 4)
        #expect([GroupDescription.Stranger]().words(in: "g") == nil)
    }
}
