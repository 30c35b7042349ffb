public import HeraldText

/// Everything that can be set, checked and in its own types; made by ``load(_:requiring:)``.
///
/// Each field's meaning, default and range stand at its declaration in the table and in docs/SETTINGS.md.
public struct Settings: Sendable {
    /// The cluster and this worker's place in its group.
    public let kafka: Kafka
    /// The topics' names, and what `herald topics` wants of them.
    public let topics: Topics
    /// The backend and how to talk to it.
    public let backend: Backend
    /// How events are taken and settled.
    public let delivery: Delivery
    /// How failed calls are repeated.
    public let retry: Retry
    /// Bounds.
    public let limits: Limits
    /// `outages.*`.
    public let outages: Outages
    /// Logging.
    public let log: Log
    /// Health, metrics and console.
    public let admin: Admin

    /// `kafka.*`.
    public struct Kafka: Sendable {
        /// Brokers as `host:port`; empty when not set.
        public let bootstrapServers: [String]
        /// The consumer group.
        public let group: String
        /// This worker's own name; nil for a new random one.
        public let instance: String?
        /// Whether partitions are kept through a restart.
        public let staticMembership: Bool
        /// Passed through to librdkafka; none of what Herald sets itself.
        public let properties: KafkaProperties
    }

    /// `topics.*`.
    public struct Topics: Sendable {
        /// Where requests come from.
        public let requests: [RequestTopic]
        /// Where outcomes go.
        public let results: String
        /// The retry topics' prefix, without the dot.
        public let retryPrefix: String
        /// Where undeliverable events go.
        public let deadLetter: String
        /// Where campaigns stand.
        public let campaigns: String
        /// Where it stands which dead letters were replayed.
        public let state: String
        /// Where it stands who did what.
        public let audit: String
        /// Partitions of a topic to be made.
        public let partitions: Int
        /// Copies of each partition; nil leaves it to the cluster.
        public let replicationFactor: Int?
        /// How long records are kept.
        public let retention: Duration

        /// The retry topic of a delay, `notifications.retry.5s`.
        public func retry(_ delay: RetryDelay) -> String { "\(retryPrefix).\(delay.text)" }
    }

    /// `backend.*`.
    public struct Backend: Sendable {
        /// Where it is; nil when not set.
        public let url: HTTPAddress?
        /// The path of a notification, behind the URL's own.
        public let path: String
        /// The path of a registration, behind the URL's own.
        public let registerPath: String
        /// One call's deadline.
        public let timeout: Duration
        /// The part of it that making a connection may take.
        public let connectTimeout: Duration
        /// Connections at most, of the process.
        public let connections: Int?
        /// The proxy's URL, which may hold a password.
        public let proxy: Secret?
        /// The file with the proxy's password.
        public let proxyPassword: SecretSource?
        /// Statuses whose class differs from the table of outcomes.
        public let statuses: [Int: StatusClass]
        /// The push services that the backend knows, lower case.
        public let pushServices: [String]
        /// Other names for push services.
        public let aliases: [String: String]
        /// How to authenticate; nil when what its kind needs is not set.
        public let authentication: Authentication?
        /// Files for TLS.
        public let tls: TLS
    }

    /// `backend.auth.*`, in the form of its kind.
    public enum Authentication: Sendable {
        /// No credentials.
        case none
        /// User and password.
        case basic(username: String, password: SecretSource)
        /// A token.
        case bearer(token: SecretSource)
        /// A token that a token endpoint gives.
        case oauth2(OAuth2)
    }

    /// What kind `oauth2` needs.
    public struct OAuth2: Sendable {
        /// The token endpoint.
        public let tokenURL: String
        /// The client's id.
        public let clientID: String
        /// The client's secret.
        public let clientSecret: SecretSource
        /// What the token is for.
        public let scope: String?
        /// Where id and secret stand in a request.
        public let clientAuthentication: ClientAuthentication
        /// The authorities to trust; nil for the backend's.
        public let caFile: String?
    }

    /// `backend.tls.*`.
    public struct TLS: Sendable {
        /// The authorities to trust; nil for the system's.
        public let caFile: String?
        /// The client certificate; there if and only if ``keyFile`` is.
        public let certificateFile: String?
        /// Its private key.
        public let keyFile: String?
    }

    /// `delivery.*`.
    public struct Delivery: Sendable {
        /// How settlements become durable.
        public let guarantee: DeliveryGuarantee
        /// What is sent in order.
        public let ordering: DeliveryOrdering
        /// Lanes of the process.
        public let lanes: Int
        /// Events in flight at most, of the process.
        public let maxInFlight: Int
        /// The time between commits.
        public let commitInterval: Duration
        /// How long an outcome may wait for its commit before no new call begins.
        public let maxUnrecorded: Duration
        /// How long a stop waits for calls on their way.
        public let drainTimeout: Duration
        /// How events that come again are recognised.
        public let dedupe: Dedupe
    }

    /// `delivery.dedupe.*`.
    public struct Dedupe: Sendable {
        /// How long an event is remembered.
        public let window: Duration
        /// How many events are remembered, of the process.
        public let size: Int
    }

    /// `retry.*`.
    public struct Retry: Sendable {
        /// Retries right after the first call.
        public let immediate: Int
        /// The waits between later calls, strictly increasing.
        public let delays: [RetryDelay]
        /// How long after the first call retries may go on.
        public let maxElapsed: Duration
        /// Replays of one dead letter at most.
        public let replays: Int
    }

    /// `limits.*`.
    public struct Limits: Sendable {
        /// Calls a second at most over all push services; no limit when nil.
        public let perSecond: Int?
        /// Calls a second at most to single push services.
        public let pushServices: [String: Int]
        /// An event's value at most, in bytes.
        public let eventBytes: Int
    }

    /// `outages.*`.
    public struct Outages: Sendable {
        /// When calls that fail for now stop everything.
        public let breaker: Threshold
        /// When answers that would make dead letters stop everything.
        public let deadLetterBreaker: Threshold
    }

    /// So large a share of so many.
    public struct Threshold: Sendable {
        /// Between 0 and 1.
        public let share: Double
        /// 0: never.
        public let of: Int
    }

    /// `log.*`.
    public struct Log: Sendable {
        /// The least severe level that is logged.
        public let level: LogLevel
        /// The form of a line.
        public let format: LogFormat
    }

    /// `admin.*`.
    public struct Admin: Sendable {
        /// Where it is served.
        public let listen: ListenAddress
        /// What callers show off loopback; nil when there is none.
        public let token: SecretSource?
    }
}
