internal import CRDKafka
public import HeraldTime

extension Admin {
    /// The groups that have members, as far as this user may see them; in no order.
    ///
    /// Each broker knows the groups that it coordinates, so all are asked; those that do not answer are left out.
    public func liveGroups(timeout: Milliseconds) throws(KafkaError) -> [String] {
        try groups(timeout: timeout).filter(\.hasMembers).map(\.name)
    }

    /// The groups that have members or offsets, found like ``liveGroups(timeout:)``.
    public func groups(timeout: Milliseconds) throws(KafkaError) -> [(name: String, hasMembers: Bool)] {
        try handle.outwaiting { () throws(KafkaError) in
            try request(
                RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS, timeout: timeout,
                send: { rd_kafka_ListConsumerGroups(handle.client, $0, $1) }, read: Self.groups)
        }
    }

    private static func groups(_ event: OpaquePointer) throws(KafkaError) -> [(name: String, hasMembers: Bool)] {
        var count = 0
        let answer = rd_kafka_event_ListConsumerGroups_result(event)
        let groups = rd_kafka_ListConsumerGroups_result_valid(answer, &count)
        let found = (0..<count).compactMap { index -> (name: String, hasMembers: Bool)? in
            guard let group = groups?[index] else { return nil }
            let name = String(cString: rd_kafka_ConsumerGroupListing_group_id(group))
            switch rd_kafka_ConsumerGroupListing_state(group) {
            case RD_KAFKA_CONSUMER_GROUP_STATE_DEAD: return nil
            case RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY: return (name, false)
            default: return (name, true)
            }
        }
        guard found.isEmpty else { return found }
        let errors = rd_kafka_ListConsumerGroups_result_errors(answer, &count)
        guard count > 0, let error = errors?[0] else { return found }
        throw KafkaError(error)
    }
}
