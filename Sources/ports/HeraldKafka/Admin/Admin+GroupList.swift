internal import CRDKafka
public import HeraldTime

extension Admin {
    /// The groups that have members, as far as this user may know; in no order.
    ///
    /// All brokers are asked: each knows the groups that it coordinates. What one of them does not answer is left out.
    public func liveGroups(timeout: Milliseconds) throws(KafkaError) -> [String] {
        try request(
            RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS, timeout: timeout,
            send: { rd_kafka_ListConsumerGroups(handle.client, $0, $1) }, read: Self.liveGroups)
    }

    private static func liveGroups(_ event: OpaquePointer) -> [String] {
        var count = 0
        let answer = rd_kafka_event_ListConsumerGroups_result(event)
        guard let groups = rd_kafka_ListConsumerGroups_result_valid(answer, &count) else { return [] }
        return (0..<count).compactMap { index in
            guard let group = groups[index] else { return nil }
            switch rd_kafka_ConsumerGroupListing_state(group) {
            case RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY, RD_KAFKA_CONSUMER_GROUP_STATE_DEAD: return nil
            default: return String(cString: rd_kafka_ConsumerGroupListing_group_id(group))
            }
        }
    }
}
