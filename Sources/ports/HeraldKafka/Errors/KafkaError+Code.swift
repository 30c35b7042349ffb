internal import CRDKafka

extension KafkaError {
    /// The raw codes that callers compare ``KafkaError/code`` with; any other code may come back too.
    public enum Code {
        /// A partition's end was reached; only with `enable.partition.eof`.
        public static let partitionEOF = RD_KAFKA_RESP_ERR__PARTITION_EOF.rawValue
        /// The client is broken for good: see ``Consumer/fatalError()`` and ``Producer/fatalError()``.
        public static let fatal = RD_KAFKA_RESP_ERR__FATAL.rawValue
        /// The client's sequence numbers and the broker's may differ: see ``Producer/beginTransaction()``.
        public static let inconsistent = RD_KAFKA_RESP_ERR__INCONSISTENT.rawValue
        /// Another instance with the same identity has taken over.
        public static let fenced = RD_KAFKA_RESP_ERR__FENCED.rawValue
        /// Another consumer has joined with the same `group.instance.id`.
        public static let fencedInstanceID = RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID.rawValue
        /// The coordinator has no transaction in the required state, such as one to abort.
        public static let invalidTransactionState = RD_KAFKA_RESP_ERR_INVALID_TXN_STATE.rawValue
        /// The brokers are too old for the request.
        public static let unsupportedFeature = RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE.rawValue
        /// The brokers do not know this version of a request.
        public static let unsupportedVersion = RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION.rawValue
        /// The call does not fit the present state, such as a produce outside of a transaction.
        public static let state = RD_KAFKA_RESP_ERR__STATE.rawValue
        /// The producer's local queue is full: serve deliveries, then try again.
        public static let queueFull = RD_KAFKA_RESP_ERR__QUEUE_FULL.rawValue
        /// A record was not acknowledged within `message.timeout.ms`.
        public static let messageTimedOut = RD_KAFKA_RESP_ERR__MSG_TIMED_OUT.rawValue
        /// A record was purged before it was sent.
        public static let purgedInQueue = RD_KAFKA_RESP_ERR__PURGE_QUEUE.rawValue
        /// A record was purged while it was on its way: it may or may not be written.
        public static let purgedInFlight = RD_KAFKA_RESP_ERR__PURGE_INFLIGHT.rawValue
        /// A blocking call's own time-out has passed.
        public static let timedOut = RD_KAFKA_RESP_ERR__TIMED_OUT.rawValue
        /// A connection to a broker broke or could not be made.
        public static let transport = RD_KAFKA_RESP_ERR__TRANSPORT.rawValue
        /// A broker's name could not be resolved.
        public static let resolve = RD_KAFKA_RESP_ERR__RESOLVE.rawValue
        /// A TLS connection to a broker could not be made.
        public static let ssl = RD_KAFKA_RESP_ERR__SSL.rawValue
        /// No broker can be reached.
        public static let allBrokersDown = RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue
        /// Credentials were refused by a broker.
        public static let authentication = RD_KAFKA_RESP_ERR__AUTHENTICATION.rawValue
        /// Credentials were refused by a broker.
        public static let saslAuthenticationFailed = RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED.rawValue
        /// The consumer was not polled within `max.poll.interval.ms` and has lost its partitions.
        public static let maxPollExceeded = RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED.rawValue
        /// The partitions were lost without a rebalance.
        public static let assignmentLost = RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST.rawValue
        /// There is no valid offset to go on from and `auto.offset.reset` is `error`.
        public static let autoOffsetReset = RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET.rawValue
        /// There was nothing to commit, or nothing is committed.
        public static let noOffset = RD_KAFKA_RESP_ERR__NO_OFFSET.rawValue
        /// A batch cannot be decompressed, or would be too large.
        public static let badCompression = RD_KAFKA_RESP_ERR__BAD_COMPRESSION.rawValue
        /// A batch's version or codec is unknown.
        public static let notImplemented = RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED.rawValue
        /// A response violates its format.
        public static let badMessage = RD_KAFKA_RESP_ERR__BAD_MSG.rawValue
        /// An argument or a property is wrong.
        public static let invalidArgument = RD_KAFKA_RESP_ERR__INVALID_ARG.rawValue
        /// The partition does not exist.
        public static let unknownPartition = RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION.rawValue
        /// The topic does not exist, as far as the client knows.
        public static let unknownTopic = RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC.rawValue
        /// The topic or partition does not exist on the broker.
        public static let unknownTopicOrPartition = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue
        /// The offset is not in the partition (any more).
        public static let offsetOutOfRange = RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE.rawValue
        /// The record is larger than the client or the topic allows.
        public static let messageSizeTooLarge = RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE.rawValue
        /// A batch is larger than a segment of its topic.
        public static let recordListTooLarge = RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE.rawValue
        /// The topic does not accept the record: it has no key, or violates a schema.
        public static let invalidRecord = RD_KAFKA_RESP_ERR_INVALID_RECORD.rawValue
        /// A record's timestamp is further from the broker's clock than its topic allows.
        public static let invalidTimestamp = RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP.rawValue
        /// The topic does not accept the record, as reported by brokers before Kafka 2.4.
        public static let invalidMessage = RD_KAFKA_RESP_ERR_INVALID_MSG.rawValue
        /// A policy of the brokers forbids it.
        public static let policyViolation = RD_KAFKA_RESP_ERR_POLICY_VIOLATION.rawValue
        /// Another record of the batch is not accepted: `_INVALID_DIFFERENT_RECORD`, from clients since 2.4.
        public static let invalidDifferentRecord: Int32 = -138
        /// A commit's metadata is longer than the broker allows.
        public static let offsetMetadataTooLarge = RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE.rawValue
        /// The partition has no leader.
        public static let leaderNotAvailable = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE.rawValue
        /// The partition's leader has moved.
        public static let notLeaderForPartition = RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION.rawValue
        /// The group's or transaction's coordinator has moved.
        public static let notCoordinator = RD_KAFKA_RESP_ERR_NOT_COORDINATOR.rawValue
        /// There is no coordinator.
        public static let coordinatorNotAvailable = RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE.rawValue
        /// The coordinator is starting.
        public static let coordinatorLoadInProgress = RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS.rawValue
        /// The group has rebalanced since.
        public static let illegalGeneration = RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION.rawValue
        /// The group has removed this member.
        public static let unknownMemberID = RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID.rawValue
        /// The brokers do not allow so short, or so long, a session.
        public static let invalidSessionTimeout = RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT.rawValue
        /// The group is full.
        public static let groupMaxSizeReached = RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED.rawValue
        /// The group's members share no assignment strategy with this one.
        public static let inconsistentGroupProtocol = RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL.rawValue
        /// The brokers do not allow so long a transaction.
        public static let invalidTransactionTimeout = RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT.rawValue
        /// The topic's ACLs forbid it.
        public static let topicAuthorizationFailed = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue
        /// The group's ACLs forbid it.
        public static let groupAuthorizationFailed = RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED.rawValue
        /// The cluster's ACLs forbid it.
        public static let clusterAuthorizationFailed = RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED.rawValue
        /// The ACLs of the `transactional.id` forbid it.
        public static let transactionalIDAuthorizationFailed = RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            .rawValue
        /// The topic exists already.
        public static let topicAlreadyExists = RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS.rawValue
        /// The number of partitions is wrong, such as lower than the current one.
        public static let invalidPartitions = RD_KAFKA_RESP_ERR_INVALID_PARTITIONS.rawValue
        /// A topic's configuration is not valid.
        public static let invalidConfig = RD_KAFKA_RESP_ERR_INVALID_CONFIG.rawValue
    }
}
