extension KafkaError {
    /// The meaning of an error for the decision about the next step: the one table that all modules use.
    ///
    /// ``isFatal``, ``isRetriable`` and ``isAbortable`` say what a transaction requires; this says what happened.
    public enum Kind: Sendable, Hashable {
        /// No broker answers: the broker, the network, a name or a certificate is to blame.
        case unreachable
        /// Credentials are refused.
        case refusedCredentials
        /// There is no token to log in with.
        case noToken
        /// An ACL forbids it; ``KafkaError/advice(_:)`` says what to allow.
        case forbidden
        /// Another instance owns the identity.
        case fenced
        /// The topic or the partition is missing, as far as the client or a broker knows.
        case unknownTopic
        /// The offset is not in the partition any more.
        case offsetGone
        /// A batch cannot be decompressed, or is damaged.
        case unreadable
        /// The record, or its batch, is larger than the topic allows.
        case tooLarge
        /// The topic does not accept the record, or another one of its batch.
        case invalidRecord
        /// A leader or a coordinator is still taking over.
        case settling
        /// The brokers or the client do not support it.
        case unsupported
        /// Anything else.
        case other
    }

    /// The kind of this error.
    public var kind: Kind {
        if code == Code.authentication, message.hasPrefix(Self.noToken) { return .noToken }
        return Self.kinds[code] ?? .other
    }

    /// The prefix of librdkafka's message for a missing token (rd_kafka_oauthbearer_set_token_failure0).
    private static let noToken = "Failed to acquire SASL OAUTHBEARER token"

    private static let kinds: [Int32: Kind] = [
        Code.timedOut: .unreachable, Code.transport: .unreachable, Code.resolve: .unreachable, Code.ssl: .unreachable,
        Code.allBrokersDown: .unreachable, Code.messageTimedOut: .unreachable,
        Code.authentication: .refusedCredentials, Code.saslAuthenticationFailed: .refusedCredentials,
        Code.topicAuthorizationFailed: .forbidden, Code.groupAuthorizationFailed: .forbidden,
        Code.clusterAuthorizationFailed: .forbidden, Code.transactionalIDAuthorizationFailed: .forbidden,
        Code.fenced: .fenced, Code.fencedInstanceID: .fenced,
        Code.unknownTopicOrPartition: .unknownTopic, Code.unknownTopic: .unknownTopic,
        Code.unknownPartition: .unknownTopic,
        Code.offsetOutOfRange: .offsetGone, Code.autoOffsetReset: .offsetGone,
        // notImplemented: a codec or a version of batches that does not exist.
        Code.badCompression: .unreadable, Code.badMessage: .unreadable, Code.notImplemented: .unreadable,
        Code.messageSizeTooLarge: .tooLarge, Code.recordListTooLarge: .tooLarge,
        Code.invalidRecord: .invalidRecord, Code.invalidTimestamp: .invalidRecord, Code.invalidMessage: .invalidRecord,
        Code.policyViolation: .invalidRecord,
        Code.notLeaderForPartition: .settling, Code.leaderNotAvailable: .settling, Code.notCoordinator: .settling,
        Code.coordinatorNotAvailable: .settling, Code.coordinatorLoadInProgress: .settling,
        Code.unsupportedFeature: .unsupported, Code.unsupportedVersion: .unsupported,
    ]

    /// Whether the next attempt would fail in the same way.
    public var isLasting: Bool {
        switch kind {
        case .forbidden, .tooLarge: true
        // Producers learn late of a partition that was just added.
        case .unknownTopic: code != Code.unknownPartition
        default: false
        }
    }

    /// Whether a login failed: until an operator fixes that, no broker answers.
    public var isOfLogin: Bool { kind == .refusedCredentials || kind == .noToken }

    /// Whether the topic has changed: it is missing, forbidden, or another one of the same name.
    ///
    /// A client reports it only after it has lasted for a while (`topic.metadata.propagation.max.ms`).
    public var isOfTopic: Bool {
        switch kind {
        case .unknownTopic, .offsetGone: true
        default: code == Code.topicAuthorizationFailed
        }
    }

    /// Whether the group does not count the caller as a member of its current generation, and so refuses its offsets.
    public var isOfMembership: Bool {
        switch code {
        case Code.illegalGeneration, Code.unknownMemberID, Code.fencedInstanceID, Code.assignmentLost: true
        default: false
        }
    }
}
