internal import CRDKafka
internal import HeraldThreads
public import HeraldTime

/// A consumer group as its coordinator knows it.
public struct GroupDescription: Sendable, Equatable {
    /// One of its consumers.
    public struct Member: Sendable, Equatable {
        /// Its `client.id`.
        public var clientID: String
        /// The machine that it runs on, as the broker sees it.
        public var host: String
        /// The partitions assigned to it.
        public var partitions: [TopicPartition]
    }

    /// `Stable`, `Empty`, `Dead` (no such group), `PreparingRebalance`, `CompletingRebalance`.
    public var state: String
    /// Its members.
    public var members: [Member]
    /// The number of the broker that coordinates it; `nil` when the group is unknown.
    var coordinator: Int32?

    /// Whether the group exists: it has members, or offsets that former members committed.
    public var exists: Bool { state != Self.name(of: RD_KAFKA_CONSUMER_GROUP_STATE_DEAD) }
}

extension Admin {
    /// The group as its coordinator describes it; a missing group is `Dead` and has no members.
    ///
    /// All brokers are asked until the coordinator is known; only the coordinator answers. Letting librdkafka 2.0 find
    /// it crashes the process: when the request expires before the coordinator is found, the client still answers it,
    /// from memory that it has freed (librdkafka issue 4605; `rd_kafka_admin_coord_request`).
    ///
    /// Only brokers that accept a connection are asked: librdkafka 2.0 tries to connect to others thousands of times a
    /// second while the request is open, because each failure triggers the next attempt (`rd_kafka_broker_get_async`).
    ///
    /// A coordinator that is still loading, or that no broker knows, shows as `NOT_COORDINATOR`; a broker that does not
    /// support the request (the embedded one) shows as `_UNSUPPORTED_FEATURE`.
    public func describeGroup(_ name: String, timeout: Milliseconds) throws(KafkaError) -> GroupDescription {
        try handle.outwaiting { () throws(KafkaError) in try description(of: name, timeout: timeout) }
    }

    func description(of name: String, timeout: Milliseconds) throws(KafkaError) -> GroupDescription {
        let end = ContinuousClock.now + timeout.duration
        let brokers = try handle.metadata(of: nil, allTopics: false, timeout).brokers
        if let known = brokers.first(where: { $0.id == coordinators.withLock { $0[name] } }),
            BrokerConnection.refusing(among: [known], within: Self.connectingTime).isEmpty
        {
            do throws(KafkaError) {
                return try describeGroup(name, brokers: [known.id], until: end)
            } catch {
                coordinators.withLock { $0[name] = nil }
                guard error.code == KafkaError.Code.notCoordinator else { throw error }
            }
        }
        let refusing = BrokerConnection.refusing(among: brokers, within: Self.connectingTime)
        do throws(KafkaError) {
            return try describeGroup(
                name, brokers: brokers.map(\.id).filter { id in !refusing.contains { $0.id == id } }, until: end)
        } catch {
            guard error.code == KafkaError.Code.notCoordinator, refusing.isEmpty else {
                guard error.code == KafkaError.Code.notCoordinator else { throw error }
                let names = refusing.map(\.description).joined(separator: ", ")
                throw KafkaError(
                    code: KafkaError.Code.transport,
                    message: "the coordinator of the group \(name) is none of the brokers that answer; no connection "
                        + "to \(names)")
            }
            // Before a cluster's first group there are no coordinators either.
            guard try hasNoGroups(until: end) else { throw error }
            return GroupDescription(state: GroupDescription.name(of: RD_KAFKA_CONSUMER_GROUP_STATE_DEAD), members: [])
        }
    }

    /// Deletes a group without members, and its offsets.
    public func deleteGroup(_ name: String, timeout: Milliseconds) throws(KafkaError) {
        var group = rd_kafka_DeleteGroup_new(name)
        defer { rd_kafka_DeleteGroup_destroy(group) }
        let error = try request(
            RD_KAFKA_ADMIN_OP_DELETEGROUPS, timeout: timeout,
            send: { rd_kafka_DeleteGroups(handle.client, &group, 1, $0, $1) },
            read: { event -> KafkaError? in
                var count = 0
                let groups = rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event), &count)
                return count == 1 ? rd_kafka_group_result_error(groups?[0]).map { KafkaError($0) } : nil
            })
        if let error { throw error }
    }

    private func describeGroup(
        _ name: String, brokers: [Int32], until end: ContinuousClock.Instant
    ) throws(KafkaError) -> GroupDescription {
        let queue = rd_kafka_queue_new(handle.client)
        defer { rd_kafka_queue_destroy(queue) }
        for broker in brokers {
            let options = try makeOptions(
                RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, broker: broker,
                timeout: Self.time(until: end))
            defer { rd_kafka_AdminOptions_destroy(options) }
            name.withCString { name in
                var first: UnsafePointer<CChar>? = name
                rd_kafka_DescribeConsumerGroups(handle.client, &first, 1, options, queue)
            }
        }
        var failure = KafkaError(code: KafkaError.Code.notCoordinator)
        for _ in brokers {
            do throws(KafkaError) {
                let group = try answer(
                    in: queue, timeout: Self.time(until: end), read: Self.description)
                coordinators.withLock { $0[name] = group.coordinator }
                return group
            } catch {
                if error.code == KafkaError.Code.notCoordinator { continue }
                // This broker may have been the coordinator; another one may still answer.
                guard error.kind == .unreachable else { throw error }
                failure = error
            }
        }
        throw failure
    }

    /// Whether the coordinators' topic is missing; a topic hidden from this user does not count as missing.
    private func hasNoGroups(until end: ContinuousClock.Instant) throws(KafkaError) -> Bool {
        let topic = try metadata(topics: ["__consumer_offsets"], timeout: Self.time(until: end))
            .topics.first
        return topic?.error?.code == KafkaError.Code.unknownTopicOrPartition
    }

    private static func description(_ event: OpaquePointer) throws(KafkaError) -> GroupDescription {
        var count = 0
        let answer = rd_kafka_event_DescribeConsumerGroups_result(event)
        let groups = rd_kafka_DescribeConsumerGroups_result_groups(answer, &count)
        guard count == 1, let group = groups?[0] else { throw KafkaError(code: KafkaError.Code.timedOut) }
        if let error = rd_kafka_ConsumerGroupDescription_error(group) { throw KafkaError(error) }
        return GroupDescription(group)
    }

    private static func time(until end: ContinuousClock.Instant) -> Milliseconds {
        Milliseconds(end - .now)
    }
}

extension GroupDescription {
    fileprivate init(_ group: OpaquePointer) {
        state = Self.name(of: rd_kafka_ConsumerGroupDescription_state(group))
        coordinator = rd_kafka_ConsumerGroupDescription_coordinator(group).map { rd_kafka_Node_id($0) }
        members = (0..<rd_kafka_ConsumerGroupDescription_member_count(group)).compactMap { index in
            rd_kafka_ConsumerGroupDescription_member(group, index).map { Member($0) }
        }
    }

    fileprivate static func name(of state: rd_kafka_consumer_group_state_t) -> String {
        String(cString: rd_kafka_consumer_group_state_name(state))
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
