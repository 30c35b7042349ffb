import HeraldText

/// Every setting, declared once.
///
/// The file's checks, the environment, flags, `config show`, docs/SETTINGS.md and the
/// JSON Schema come from here. A new setting is one declaration, its place in ``all``, and a field of ``Settings``.
enum SettingsTable {
    // Kafka

    static let kafkaBootstrapServers = Setting(
        "kafka.bootstrapServers", .list(of: .broker, count: 0...100, unique: { $0 }), default: "",
        "The brokers to connect to first; required by every command that uses Kafka.")
    static let kafkaGroup = Setting(
        "kafka.group", .text(.line(249)), default: "herald",
        "The consumer group: all workers of one group share the work.")
    static let kafkaInstance = Setting(
        "kafka.instance", optional: .text(.name(1...128, others: "._-")),
        "The unique name of this worker: no two may run with the same; random at each start when absent.")
    static let kafkaStaticMembership = Setting(
        "kafka.staticMembership", .bool, default: "false",
        "Keep the partitions through a restart, under the name of kafka.instance.")
    static let kafkaProperties = Setting(
        "kafka.properties", .kafkaProperties, default: "",
        "Any other property of librdkafka, such as security.protocol; secrets among them are masked.")

    // Topics

    static let topicsRequests = Setting(
        "topics.requests", .list(of: .requestTopic, count: 1...16, unique: { $0.name }, shape: .weightedList),
        default: "notifications=10,notifications.bulk=1",
        "Where requests come from, each with its weight (1 when only named; name=weight in a flag).")
    static let topicsResults = Setting(
        "topics.results", .text(.topic(), "TOPIC"), default: "notifications.results", "Where final outcomes go.")
    static let topicsRetry = Setting(
        "topics.retry", .text(.topic(leaving: 16), "TOPIC"), default: "notifications.retry",
        "The prefix of the retry topics, which end in a dot and the delay.")
    static let topicsDeadLetter = Setting(
        "topics.deadLetter", .text(.topic(), "TOPIC"), default: "notifications.dead-letter",
        "Where events go that cannot be delivered.")
    static let topicsCampaigns = Setting(
        "topics.campaigns", .text(.topic(), "TOPIC"), default: "notifications.campaigns",
        "The state of campaigns, which workers follow too; compacted.")
    static let topicsState = Setting(
        "topics.state", .text(.topic(), "TOPIC"), default: "notifications.dead-letter.state",
        "Records which dead letters were replayed; compacted.")
    static let topicsAudit = Setting(
        "topics.audit", .text(.topic(), "TOPIC"), default: "notifications.audit",
        "Records who did what to dead letters and campaigns, and who read messages.")
    static let topicsPartitions = Setting(
        "topics.partitions", .wholeNumber(1...10_000), default: "6",
        "Partitions of a topic that herald topics "
            + "creates.")
    static let topicsReplicationFactor = Setting(
        "topics.replicationFactor", .wholeNumber(0...100), default: "0",
        "Replicas of each partition of a topic that herald topics creates; 0 leaves it to the cluster.")
    static let topicsRetention = Setting(
        "topics.retention", .duration(.seconds(60)...(.seconds(3_650 * 86_400))), default: "7d",
        "How long a topic that herald topics creates keeps its records.")

    // Backend

    static let backendURL = Setting(
        "backend.url", optional: .httpAddress, "The backend's URL; required by every command that calls it.")
    static let backendPath = Setting(
        "backend.path", .text(.requestPath, "PATH"), default: "/api/notifications",
        "The path of a notification, behind backend.url.")
    static let backendRegisterPath = Setting(
        "backend.registerPath", .text(.requestPath, "PATH"), default: "/api/register",
        "The path of a registration, behind backend.url.")
    static let backendTimeout = Setting(
        "backend.timeout", .duration(.milliseconds(1)...(.seconds(600))), default: "10s",
        "How long one call may take, from connecting to the answer's end.")
    static let backendConnectTimeout = Setting(
        "backend.connectTimeout", .duration(.milliseconds(1)...(.seconds(600))), default: "5s",
        "How long opening one connection may take, including TLS and proxy; never more than backend.timeout.")
    static let backendConnections = Setting(
        "backend.connections", .wholeNumber(0...100_000), default: "0",
        "Connections to the backend at most, for the whole process, divided among the lanes; each carries one call "
            + "at a time. 0: as many as delivery.maxInFlight.")
    static let backendProxy = Setting(
        "backend.proxy", optional: .proxy,
        "A proxy on the way to the backend and the token endpoint, perhaps with a user (http://user@proxy:3128); "
            + "the environment's is not used.")
    static let backendProxyPasswordFile = Setting(
        "backend.proxyPasswordFile", optional: .file,
        "A file with the password of the user in backend.proxy; read again when it changes.")
    static let backendStatuses = Setting(
        "backend.statuses", .statuses, default: "",
        "Changes what single HTTP statuses mean.")
    static let backendPushServices = Setting(
        "backend.pushServices", .list(of: .text(.pushService, "NAME"), count: 1...64, unique: { $0 }),
        default: "apns,gcm,wns", "The push services that the backend knows.")
    static let backendAliases = Setting(
        "backend.aliases", .aliases, default: "fcm=gcm",
        "Other names that events may use for a push service; the default applies if backend.pushServices has gcm and "
            + "not fcm."
    )
    static let backendAuthKind = Setting(
        "backend.auth.kind", .choice(AuthenticationKind.self), default: "basic",
        "How Herald authenticates to the backend.")
    static let backendAuthUsername = Setting(
        "backend.auth.username", optional: .text(.line(256, without: ":")), "The user of kind basic.")
    static let backendAuthPassword = Setting(
        "backend.auth.password", optional: .secret, "The password of kind basic; better in a file.")
    static let backendAuthPasswordFile = Setting(
        "backend.auth.passwordFile", optional: .file, "A file with the password; read again when it changes.")
    static let backendAuthToken = Setting(
        "backend.auth.token", optional: .secret, "The token of kind bearer; better in a file.")
    static let backendAuthTokenFile = Setting(
        "backend.auth.tokenFile", optional: .file, "A file with the token; read again when it changes.")
    static let backendAuthTokenURL = Setting(
        "backend.auth.tokenURL", optional: .tokenURL, "The token endpoint of kind oauth2 (client credentials).")
    static let backendAuthClientID = Setting(
        "backend.auth.clientID", optional: .text(.line(256)), "The client's id of kind oauth2.")
    static let backendAuthClientSecret = Setting(
        "backend.auth.clientSecret", optional: .secret, "The client's secret of kind oauth2; better in a file.")
    static let backendAuthClientSecretFile = Setting(
        "backend.auth.clientSecretFile", optional: .file,
        "A file with the client's secret; read again when it changes.")
    static let backendAuthScope = Setting(
        "backend.auth.scope", optional: .text(.line(1_024)),
        "What the token of kind oauth2 is for, such as api://backend/.default; several with spaces between.")
    static let backendAuthClientAuthentication = Setting(
        "backend.auth.clientAuthentication", .choice(ClientAuthentication.self), default: "post",
        "Where a token request carries the client's id and secret: in the form (post) or in a header (basic).")
    static let backendAuthCAFile = Setting(
        "backend.auth.caFile", optional: .file,
        "The authorities to trust (PEM) for the token endpoint, in place of those of backend.tls.caFile.")
    static let backendTLSCAFile = Setting(
        "backend.tls.caFile", optional: .file,
        "The authorities to trust (PEM) in place of the system's; read again when it changes.")
    static let backendTLSCertificateFile = Setting(
        "backend.tls.certificateFile", optional: .file,
        "The client certificate (PEM) to show to the backend; read again when it changes.")
    static let backendTLSKeyFile = Setting(
        "backend.tls.keyFile", optional: .file,
        "The private key (PEM) of the client certificate; read again when it changes.")

    // Delivery

    static let deliveryGuarantee = Setting(
        "delivery.guarantee", .choice(DeliveryGuarantee.self), default: "atomic",
        "Records and offsets in one transaction (atomic), or offsets after the records (at-least-once: for brokers without transactions)."
    )
    static let deliveryOrdering = Setting(
        "delivery.ordering", .choice(DeliveryOrdering.self), default: "key",
        "Which events are sent in order: one user's (key), one partition's (partition), or none.")
    static let deliveryLanes = Setting(
        "delivery.lanes", .wholeNumber(1...64), default: "1",
        "Threads, each an independent member of the group; at most one per processor core.")
    static let deliveryMaxInFlight = Setting(
        "delivery.maxInFlight", .wholeNumber(1...100_000), default: "1000",
        "Calls in flight at most, for the whole process; divided among the lanes (at least 1 each).")
    static let deliveryCommitInterval = Setting(
        "delivery.commitInterval", .duration(.milliseconds(1)...(.seconds(60))), default: "100ms",
        "How often offsets and results are committed.")
    static let deliveryMaxUnrecorded = Setting(
        "delivery.maxUnrecorded", .duration(.milliseconds(100)...(.seconds(60))), default: "1s",
        "No new call begins while an outcome has waited this long for its commit, so a kill repeats no more calls "
            + "than that; at least twice delivery.commitInterval.")
    static let deliveryDrainTimeout = Setting(
        "delivery.drainTimeout", .duration(.zero...(.seconds(3_600))), default: "30s",
        "How long a stopping worker waits for calls in flight.")

    static let deliveryDedupeWindow = Setting(
        "delivery.dedupe.window", .duration(.zero...(.seconds(12 * 3_600))), default: "10m",
        "How long an event counts as a duplicate of an earlier one with the same source, id and user, for each push "
            + "service whose first outcome is known and no failure; 0 turns detection off.")
    static let deliveryDedupeSize = Setting(
        "delivery.dedupe.size", .wholeNumber(0...100_000_000), default: "1000000",
        "How many of the latest notifications (an event for one push service) are remembered for that, for the whole "
            + "process, at most 24 bytes each; 0 turns detection off.")

    // Retry

    static let retryImmediate = Setting(
        "retry.immediate", .wholeNumber(0...20), default: "2",
        "Quick retries after a failed first call, before the first delay.")
    static let retryDelays = Setting(
        "retry.delays",
        .list(
            of: .retryDelay(.milliseconds(1)...(.seconds(7 * 86_400))), count: 1...20, unique: { $0.text }
        ).increasing(\.duration), default: "5s,30s,5m,30m,2h",
        "The delays before later calls, with one retry topic each, named as written here.")
    static let retryMaxElapsed = Setting(
        "retry.maxElapsed", .duration(.seconds(1)...(.seconds(30 * 86_400))), default: "24h",
        "How long after its first call an event may be retried.")
    static let retryReplays = Setting(
        "retry.replays", .wholeNumber(0...100), default: "5", "How often a dead letter may be replayed.")

    // Limits, log, admin

    static let limitsEventBytes = Setting(
        "limits.eventBytes", .bytes(64...16_777_216), default: "65536", "The largest size of an event's value.")
    static let limitsPerSecond = Setting(
        "limits.perSecond", optional: .wholeNumber(1...1_000_000),
        "Calls per second at most to all push services together, for the whole process; no limit when absent.")
    static let limitsPushServices = Setting(
        "limits.pushServices", .rates, default: "",
        "Calls per second at most to single push services, for the whole process.")
    static let outagesBreakerShare = Setting(
        "outages.breaker.share", .share, default: "0.8",
        "Circuit breaker: an outage begins when this share of the last 20 seconds' calls failed for now (5xx, "
            + "time-outs, refused connections); a failing user counts once."
    )
    static let outagesBreakerOf = Setting(
        "outages.breaker.of", .wholeNumber(0...1_000_000), default: "100",
        "Circuit breaker: the fewest such calls that it judges, divided among the lanes; 0 turns it off.")
    static let outagesDeadLetterBreakerShare = Setting(
        "outages.deadLetterBreaker.share", .share, default: "0.5",
        "Dead-letter breaker: an outage begins when this share of the latest answers rejects with the same status."
    )
    static let outagesDeadLetterBreakerOf = Setting(
        "outages.deadLetterBreaker.of", .wholeNumber(0...100_000), default: "200",
        "Dead-letter breaker: the number of latest answers that it judges, divided among the lanes; 0 turns it off.")
    static let logLevel = Setting(
        "log.level", .choice(LogLevel.self), default: "info", "The least severe messages that are logged.")
    static let logFormat = Setting(
        "log.format", .choice(LogFormat.self), default: "json", "How log lines are written.")
    static let adminListen = Setting(
        "admin.listen", .listenAddress, default: "127.0.0.1:9464",
        "Where a worker serves health and metrics; port 0 chooses a free one and logs it; off serves nothing.")
    static let adminToken = Setting(
        "admin.token", optional: .secret,
        "The token that every request except health and metrics needs; required off loopback; better in a file.")
    static let adminTokenFile = Setting(
        "admin.tokenFile", optional: .file, "A file with that token; read again when it changes.")

    /// All settings in the order of the documentation.
    static let all: [any AnySetting] = [
        kafkaBootstrapServers, kafkaGroup, kafkaInstance, kafkaStaticMembership, kafkaProperties,
        topicsRequests, topicsResults, topicsRetry, topicsDeadLetter, topicsCampaigns, topicsState, topicsAudit,
        topicsPartitions,
        topicsReplicationFactor, topicsRetention,
        backendURL, backendPath, backendRegisterPath, backendTimeout, backendConnectTimeout,
        backendConnections, backendProxy, backendProxyPasswordFile,
        backendStatuses, backendPushServices, backendAliases, backendAuthKind, backendAuthUsername,
        backendAuthPassword, backendAuthPasswordFile, backendAuthToken, backendAuthTokenFile,
        backendAuthTokenURL, backendAuthClientID, backendAuthClientSecret, backendAuthClientSecretFile,
        backendAuthScope,
        backendAuthClientAuthentication, backendAuthCAFile, backendTLSCAFile,
        backendTLSCertificateFile, backendTLSKeyFile,
        deliveryGuarantee, deliveryOrdering, deliveryLanes, deliveryMaxInFlight, deliveryCommitInterval,
        deliveryMaxUnrecorded,
        deliveryDrainTimeout, deliveryDedupeWindow, deliveryDedupeSize,
        retryImmediate, retryDelays, retryMaxElapsed, retryReplays,
        limitsPerSecond, limitsPushServices, limitsEventBytes,
        outagesBreakerShare, outagesBreakerOf, outagesDeadLetterBreakerShare, outagesDeadLetterBreakerOf, logLevel,
        logFormat, adminListen, adminToken,
        adminTokenFile,
    ]
}
