internal import CRDKafka

/// A consumer group as its coordinator knows it.
public struct GroupDescription: Sendable, Equatable {
    /// One of its consumers.
    public struct Member: Sendable, Equatable {
        /// Its `client.id`.
        public var clientID: String
        /// The machine that it runs on, as the broker sees it.
        public var host: String
        /// The partitions that are its.
        public var partitions: [TopicPartition]
    }

    /// `Stable`, `Empty`, `Dead` (there is no such group), `PreparingRebalance`, `CompletingRebalance`.
    public var state: String
    /// Its members.
    public var members: [Member]
}

extension Admin {
    /// What the coordinator knows of a group; one that there is not is `Dead` and without members.
    ///
    /// A broker that does not know the question (the embedded one) shows as `_UNSUPPORTED_FEATURE`, and the client may then wait
    /// for ever when it is destroyed (librdkafka 2.0).
    public func describeGroup(_ name: String, timeoutMilliseconds: Int) throws(KafkaError) -> GroupDescription {
        try request(
            RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeoutMilliseconds: timeoutMilliseconds,
            send: { options, queue in
                name.withCString { name in
                    var first: UnsafePointer<CChar>? = name
                    rd_kafka_DescribeConsumerGroups(handle.client, &first, 1, options, queue)
                }
            },
            read: { (event) throws(KafkaError) in
                var count = 0
                let answer = rd_kafka_event_DescribeConsumerGroups_result(event)
                let groups = rd_kafka_DescribeConsumerGroups_result_groups(answer, &count)
                guard count == 1, let group = groups?[0] else { throw KafkaError(code: KafkaError.Code.timedOut) }
                if let error = rd_kafka_ConsumerGroupDescription_error(group) {
                    throw KafkaError(
                        code: rd_kafka_error_code(error).rawValue,
                        message: String(cString: rd_kafka_error_string(error)))
                }
                return GroupDescription(group)
            })
    }
}

extension GroupDescription {
    fileprivate init(_ group: OpaquePointer) {
        state = String(cString: rd_kafka_consumer_group_state_name(rd_kafka_ConsumerGroupDescription_state(group)))
        members = (0..<rd_kafka_ConsumerGroupDescription_member_count(group)).compactMap { index in
            rd_kafka_ConsumerGroupDescription_member(group, index).map { Member($0) }
        }
    }
}

extension GroupDescription.Member {
    fileprivate init(_ member: OpaquePointer) {
        clientID = String(cString: rd_kafka_MemberDescription_client_id(member))
        host = String(cString: rd_kafka_MemberDescription_host(member))
        let assignment = rd_kafka_MemberDescription_assignment(member)
        partitions = TopicPartitionList.elements(of: rd_kafka_MemberAssignment_partitions(assignment))
            .map(\.topicPartition)
    }
}
