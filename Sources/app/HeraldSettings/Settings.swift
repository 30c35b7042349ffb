package import HeraldText

/// Everything that can be set, checked and in its own types; made by ``load(_:requiring:)``.
///
/// Each field's meaning, default and range stand at its declaration in the table and in docs/SETTINGS.md.
package struct Settings: Sendable {
    /// The cluster and this worker's place in its group.
    package let kafka: Kafka
    /// The topics' names, and what `herald topics` wants of them.
    package let topics: Topics
    /// The backend and how to talk to it.
    package let backend: Backend
    /// How events are taken and settled.
    package let delivery: Delivery
    /// How failed calls are repeated.
    package let retry: Retry
    /// Bounds.
    package let limits: Limits
    /// `outages.*`.
    package let outages: Outages
    /// Logging.
    package let log: Log
    /// Health, metrics and console.
    package let admin: Admin

    /// `kafka.*`.
    package struct Kafka: Sendable {
        /// Brokers as `host:port`; empty when not set.
        package let bootstrapServers: [String]
        /// The consumer group.
        package let group: String
        /// This worker's own name; nil for a new random one.
        package let instance: String?
        /// Whether partitions are kept through a restart.
        package let staticMembership: Bool
        /// Passed through to librdkafka; none of what Herald sets itself.
        package let properties: KafkaProperties
    }

    /// `topics.*`.
    package struct Topics: Sendable {
        /// Where requests come from.
        package let requests: [RequestTopic]
        /// Where outcomes go.
        package let results: String
        /// The retry topics' prefix, without the dot.
        package let retryPrefix: String
        /// Where undeliverable events go.
        package let deadLetter: String
        /// Where campaigns stand.
        package let campaigns: String
        /// Where it stands which dead letters were replayed.
        package let state: String
        /// Where it stands who did what.
        package let audit: String
        /// Partitions of a topic to be made.
        package let partitions: Int
        /// Copies of each partition; nil leaves it to the cluster.
        package let replicationFactor: Int?
        /// How long records are kept.
        package let retention: Duration

        /// The retry topic of a delay, `notifications.retry.5s`.
        package func retry(_ delay: RetryDelay) -> String { "\(retryPrefix).\(delay.text)" }
    }

    /// `backend.*`.
    package struct Backend: Sendable {
        /// Where it is; nil when not set.
        package let url: HTTPAddress?
        /// The path of a notification, behind the URL's own.
        package let path: String
        /// The path of a registration, behind the URL's own.
        package let registerPath: String
        /// One call's deadline.
        package let timeout: Duration
        /// The part of it that making a connection may take.
        package let connectTimeout: Duration
        /// Connections at most, of the process.
        package let connections: Int?
        /// The proxy's URL, which may hold a password.
        package let proxy: Secret?
        /// The file with the proxy's password.
        package let proxyPassword: SecretSource?
        /// Statuses whose class differs from the table of outcomes.
        package let statuses: [Int: StatusClass]
        /// The push services that the backend knows, lower case.
        package let pushServices: [String]
        /// Other names for push services.
        package let aliases: [String: String]
        /// How to authenticate; nil when what its kind needs is not set.
        package let authentication: Authentication?
        /// Files for TLS.
        package let tls: TLS
    }

    /// `backend.auth.*`, in the form of its kind.
    package enum Authentication: Sendable {
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
    package struct OAuth2: Sendable {
        /// The token endpoint.
        package let tokenURL: String
        /// The client's id.
        package let clientID: String
        /// The client's secret.
        package let clientSecret: SecretSource
        /// What the token is for.
        package let scope: String?
        /// Where id and secret stand in a request.
        package let clientAuthentication: ClientAuthentication
        /// The authorities to trust; nil for the backend's.
        package let caFile: String?
    }

    /// `backend.tls.*`.
    package struct TLS: Sendable {
        /// The authorities to trust; nil for the system's.
        package let caFile: String?
        /// The client certificate; there if and only if ``keyFile`` is.
        package let certificateFile: String?
        /// Its private key.
        package let keyFile: String?
    }

    /// `delivery.*`.
    package struct Delivery: Sendable {
        /// How settlements become durable.
        package let guarantee: DeliveryGuarantee
        /// What is sent in order.
        package let ordering: DeliveryOrdering
        /// Lanes of the process.
        package let lanes: Int
        /// Events in flight at most, of the process.
        package let maxInFlight: Int
        /// The time between commits.
        package let commitInterval: Duration
        /// How long an outcome may wait for its commit before no new call begins.
        package let maxUnrecorded: Duration
        /// How long a stop waits for calls on their way.
        package let drainTimeout: Duration
        /// How events that come again are recognised.
        package let dedupe: Dedupe
    }

    /// `delivery.dedupe.*`.
    package struct Dedupe: Sendable {
        /// How long an event is remembered.
        package let window: Duration
        /// How many events are remembered, of the process.
        package let size: Int
    }

    /// `retry.*`.
    package struct Retry: Sendable {
        /// Retries right after the first call.
        package let immediate: Int
        /// The waits between later calls, strictly increasing.
        package let delays: [RetryDelay]
        /// How long after the first call retries may go on.
        package let maxElapsed: Duration
        /// Replays of one dead letter at most.
        package let replays: Int
    }

    /// `limits.*`.
    package struct Limits: Sendable {
        /// Calls a second at most over all push services; no limit when nil.
        package let perSecond: Int?
        /// Calls a second at most to single push services.
        package let pushServices: [String: Int]
        /// An event's value at most, in bytes.
        package let eventBytes: Int
    }

    /// `outages.*`.
    package struct Outages: Sendable {
        /// When calls that fail for now stop everything.
        package let breaker: Threshold
        /// When answers that would make dead letters stop everything.
        package let deadLetterBreaker: Threshold
    }

    /// So large a share of so many.
    package struct Threshold: Sendable {
        /// Between 0 and 1.
        package let share: Double
        /// 0: never.
        package let of: Int
    }

    /// `log.*`.
    package struct Log: Sendable {
        /// The least severe level that is logged.
        package let level: LogLevel
        /// The form of a line.
        package let format: LogFormat
    }

    /// `admin.*`.
    package struct Admin: Sendable {
        /// Where it is served.
        package let listen: ListenAddress
        /// What callers show off loopback; nil when there is none.
        package let token: SecretSource?
    }
}
