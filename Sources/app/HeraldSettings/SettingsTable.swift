package import HeraldBackend
package import HeraldCore
package import HeraldEvents
package import HeraldHTTP
package import HeraldHub
package import HeraldTelemetry
package import HeraldText

/// Every setting, declared once.
///
/// The file's checks, the environment, flags, `config show`, docs/SETTINGS.md, the JSON Schema and the members of
/// ``Settings`` derive from it, in this order. A new setting is one declaration.
package struct SettingsTable: SettingsDeclarations {
    static let declared = SettingsTable()
    /// All settings in the order of their declarations.
    package static let all = settings(in: declared)

    private static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })

    package static func setting(_ path: String) -> (any AnySetting)? { byPath[path] }

    /// The settings of a section in the order of their declarations.
    static func settings(in section: any SettingsDeclarations) -> [any AnySetting] {
        Mirror(reflecting: section).children.flatMap { child -> [any AnySetting] in
            if let inner = child.value as? any SettingsDeclarations { return settings(in: inner) }
            return [child.value as? any AnySetting].compactMap(\.self)
        }
    }

    /// The file's top-level sections and their subjects.
    static let sections = [
        ("kafka", "The cluster, and this worker's place in its group."),
        ("topics", "The topics' names, and the properties that herald topics gives them."),
        ("backend", "The notification backend and how to talk to it."),
        ("feedback", "Questions to a hub about its messages (herald feedback)."),
        ("delivery", "How events are consumed, sent and recorded."),
        ("retry", "How failed calls are retried."),
        ("limits", "Bounds on events and calls."),
        ("outages", "When Herald stops consuming until the backend or the settings are fixed."),
        (
            "preferences",
            "Users' opt-outs and quiet hours, and recalls of events, which hold at the moment of each call."
        ),
        ("log", "The log on standard error."),
        ("admin", "Health and metrics."),
        ("console", "The page for people (herald console)."),
        ("traces", "Spans of events and calls, sent to an OpenTelemetry collector."),
    ]

    let kafka = Kafka()
    let topics = Topics()
    let backend = Backend()
    let feedback = Feedback()
    let delivery = Delivery()
    let retry = Retry()
    let limits = Limits()
    let outages = Outages()
    let preferences = Preferences()
    let log = Log()
    let admin = Admin()
    let console = Console()
    let traces = Traces()

    package struct Kafka: SettingsDeclarations {
        package let bootstrapServers = Setting(
            "kafka.bootstrapServers", .list(of: .broker, count: 0...100, unique: { $0 }), default: "",
            "The brokers to connect to first; required by every command that uses Kafka.")
        package let group = Setting(
            "kafka.group", .text(.line(249)), default: "herald",
            "The consumer group: all workers of one group share the work.")
        package let instance = Setting(
            "kafka.instance", optional: .text(.name(1...128, others: "._-")),
            "The unique name of this worker: no two may run with the same; random at each start when absent.")
        package let staticMembership = Setting(
            "kafka.staticMembership", .bool, default: "false",
            "Keep the partitions through a restart, under the name of kafka.instance.")
        package let properties = Setting(
            "kafka.properties", .kafkaProperties, default: "",
            "Any other property of librdkafka, such as security.protocol; secrets among them are masked.")
        package let auth = Authentication()

        package struct Authentication: SettingsDeclarations {
            package let kind = Setting(
                "kafka.auth.kind", .choice(KafkaAuthenticationKind.self), default: "none",
                "The login to the brokers: over TLS, unless kafka.properties sets security.protocol. "
                    + "none leaves it to kafka.properties.")
            package let username = Setting(
                "kafka.auth.username", optional: .text(.line(256)), "The user of kinds plain and scram-sha-*.")
            package let passwordFile = Setting(
                "kafka.auth.passwordFile", optional: .file,
                "A file with that user's password; read again when it changes.")
            package let tokenURL = Setting(
                "kafka.auth.tokenURL", optional: .tokenURL,
                "The token endpoint of kind oauthbearer (client credentials).")
            package let clientID = Setting(
                "kafka.auth.clientID", optional: .text(.line(256)), "The client's id of kind oauthbearer.")
            package let clientSecretFile = Setting(
                "kafka.auth.clientSecretFile", optional: .file,
                "A file with the client's secret; read again when it changes.")
            package let scope = Setting(
                "kafka.auth.scope", optional: .text(.line(1_024)),
                "The scope of the token of kind oauthbearer; several with spaces between.")
            package let clientAuthentication = Setting(
                "kafka.auth.clientAuthentication", .choice(ClientCredentials.Authentication.self), default: "basic",
                "The place of the client's id and secret in a token request: a header (basic) or the form (post).")
            package let caFile = Setting(
                "kafka.auth.caFile", optional: .file,
                "The authorities to trust (PEM) for the token endpoint, in place of the system's.")
            package let certificateFile = Setting(
                "kafka.auth.certificateFile", optional: .file,
                "The client certificate (PEM) of kind certificate; read at the start.")
            package let keyFile = Setting(
                "kafka.auth.keyFile", optional: .file,
                "The private key (PEM) of that certificate; read at the start.")
        }
    }

    package struct Topics: SettingsDeclarations {
        package let requests = Setting(
            "topics.requests", .list(of: .requestTopic, count: 1...16, unique: { $0.name }, shape: .weightedList),
            default: "notifications=10,notifications.bulk=1",
            "The topics of requests, each with its weight (1 by default; name=weight in a flag).")
        package let results = Setting(
            "topics.results", .text(.topic(), "TOPIC"), default: "notifications.results",
            "The topic of final outcomes.")
        package let feedback = Setting(
            "topics.feedback", .text(.topic(), "TOPIC"), default: "notifications.feedback",
            "The topic in which herald feedback records what happened to notifications that a hub accepted.")
        package let retry = Setting(
            "topics.retry", .text(.topic(leaving: 16), "TOPIC"), default: "notifications.retry",
            "The prefix of the retry topics, which end in a dot and the delay.")
        package let deadLetter = Setting(
            "topics.deadLetter", .text(.topic(), "TOPIC"), default: "notifications.dead-letter",
            "The topic of events that cannot be delivered.")
        package let campaigns = Setting(
            "topics.campaigns", .text(.topic(), "TOPIC"), default: "notifications.campaigns",
            "The state of campaigns, which workers follow too; compacted.")
        package let audiences = Setting(
            "topics.audiences", .text(.topic(), "TOPIC"), default: "notifications.audiences",
            "The audiences of campaigns that begin later and are detached, until they are over; compacted.")
        package let state = Setting(
            "topics.state", .text(.topic(), "TOPIC"), default: "notifications.dead-letter.state",
            "Records which dead letters were replayed; compacted.")
        package let audit = Setting(
            "topics.audit", .text(.topic(), "TOPIC"), default: "notifications.audit",
            "Records who did what to dead letters and campaigns, and who read messages.")
        package let preferences = Setting(
            "topics.preferences", .text(.topic(), "TOPIC"), default: "notifications.preferences",
            "The users' opt-outs, which workers follow with preferences.enabled; compacted.")
        package let recalls = Setting(
            "topics.recalls", .text(.topic(), "TOPIC"), default: "notifications.recalls",
            "The recalls of events and campaigns, which workers follow with preferences.enabled; compacted.")
        package let caps = Setting(
            "topics.caps", .text(.topic(), "TOPIC"), default: "notifications.caps",
            "What was delivered to users, as far as preferences.caps counts it; compacted.")
        package let classes = Setting(
            "topics.classes", .classes, default: "",
            "The class of the events of a request topic: transactional, which a topic that is not named has, or "
                + "promotional; required by preferences.enabled ({} if no topic is promotional).")
        package let partitions = Setting(
            "topics.partitions", .wholeNumber(1...10_000), default: "6",
            "The number of partitions of a topic created by herald topics.")
        package let replicationFactor = Setting(
            "topics.replicationFactor", .wholeNumber(0...100), default: "0",
            "Replicas of each partition of a topic created by herald topics; 0 leaves it to the cluster.")
        package let retention = Setting(
            "topics.retention", .duration(.seconds(60)...(.seconds(3_650 * 86_400))), default: "7d",
            "The time that a topic created by herald topics keeps its records.")
    }

    package struct Backend: SettingsDeclarations {
        package let kind = Setting(
            "backend.kind", .choice(BackendKind.self), default: "http",
            "The kind of backend: one with Herald's own contract (http), or an Azure Notification Hub (azure-hub).")
        package let url = Setting(
            "backend.url", optional: .httpAddress,
            "The URL of a backend of kind http; required by every command that calls it.")
        package let path = Setting(
            "backend.path", .text(.requestPath, "PATH"), default: "/api/notifications",
            "The path of a notification, behind backend.url.")
        package let registerPath = Setting(
            "backend.registerPath", .text(.requestPath, "PATH"), default: "/api/register",
            "The path of a registration, behind backend.url.")
        package let body = Setting(
            "backend.body", .choice(HTTPBody.self), default: "text",
            "The body of a call to a backend of kind http: the message as a JSON string (text; other parts of the event are "
                + "counted and named in results), or an object with all parts.")
        package let timeout = Setting(
            "backend.timeout", .duration(.milliseconds(1)...(.seconds(600))), default: "10s",
            "The time limit of one call, from connecting to the end of the answer.")
        package let connectTimeout = Setting(
            "backend.connectTimeout", .duration(.milliseconds(1)...(.seconds(600))), default: "5s",
            "The time limit for opening one connection, including TLS and proxy; never more than backend.timeout.")
        package let connections = Setting(
            "backend.connections", .wholeNumber(0...100_000), default: "0",
            "Connections to the backend at most, for the whole process, divided among the lanes; each carries one call "
                + "at a time, over HTTP/2 16, and more once there may be no other one. 0: as many as "
                + "delivery.maxInFlight.")
        package let http = Setting(
            "backend.http", .choice(HTTPVersions.self), default: "auto",
            "The HTTP version for the backend: auto (2 where the backend agrees to it over TLS, else 1.1), 1.1, or 2 "
                + "(agreed on by ALPN with TLS, by prior knowledge without).")
        package let proxy = Setting(
            "backend.proxy", optional: .proxy,
            "A proxy on the way to the backend and the token endpoint, perhaps with a user (http://user@proxy:3128); "
                + "the environment's is not used.")
        package let proxyPasswordFile = Setting(
            "backend.proxyPasswordFile", optional: .file,
            "A file with the password of the user in backend.proxy; read again when it changes.")
        package let statuses = Setting(
            "backend.statuses", .statuses, default: "",
            "Changes the meaning of single HTTP statuses.", reload: .live)
        package let pushServices = Setting(
            "backend.pushServices", .list(of: .text(.pushService, "NAME"), count: 1...64, unique: { $0 }),
            default: "apns,gcm,wns", "The push services that the backend knows.")
        package let aliases = Setting(
            "backend.aliases", .aliases, default: "fcm=gcm",
            "Other names that events may use for a push service; the default applies if backend.pushServices has gcm "
                + "and not fcm."
        )
        package let users = Setting(
            "backend.users", .choice(UserRule.self), default: "tag",
            "The rule for users: valid in a hub's tag (tag), or any text of up to 256 bytes without control "
                + "characters (text), for a backend of kind http that never makes a tag expression of to_tag.")
        package let hub = Hub()
        package let auth = Authentication()
        package let tls = TLS()

        package struct Hub: SettingsDeclarations {
            package let connectionStringFile = Setting(
                "backend.hub.connectionStringFile", optional: .file,
                "A file with the connection string of the hub (a rule with Send is enough for a worker); read again "
                    + "when it changes.")
            package let name = Setting(
                "backend.hub.name", optional: .text(.hub, "HUB"),
                "The hub's name, as it stands in its address, without the namespace.")
            package let tag = Setting(
                "backend.hub.tag", .text(.tagTemplate, "TEMPLATE"), default: "username:{user}",
                "The tag that a user's devices are registered with; {user} stands for the user.")
            package let formats = Setting(
                "backend.hub.formats", .hubFormats, default: "",
                "The hub's format for a push service, where it is not the usual one: apns=apple, fcm=fcmv1, gcm=fcmv1, "
                    + "wns=windows, browser=browser.")
            package let retryUnanswered = Setting(
                "backend.hub.retryUnanswered", .bool, default: "true",
                "Whether a call whose request may have reached the hub, and whose answer never came, is made again: the "
                    + "notification may be shown twice then. false: it becomes a dead letter.")
            package let telemetry = Setting(
                "backend.hub.telemetry", .bool, default: "false",
                "Keep the hub's message id of each notification in its result, for herald feedback; hubs of the "
                    + "Standard tier give one.")
        }

        package struct Authentication: SettingsDeclarations {
            package let kind = Setting(
                "backend.auth.kind", .choice(AuthenticationKind.self), default: "basic",
                "The authentication to the backend.")
            package let username = Setting(
                "backend.auth.username", optional: .text(.line(256, without: ":")), "The user of kind basic.")
            package let password = Setting(
                "backend.auth.password", optional: .secret, "The password of kind basic; better in a file.")
            package let passwordFile = Setting(
                "backend.auth.passwordFile", optional: .file, "A file with the password; read again when it changes.")
            package let token = Setting(
                "backend.auth.token", optional: .secret, "The token of kind bearer; better in a file.")
            package let tokenFile = Setting(
                "backend.auth.tokenFile", optional: .file, "A file with the token; read again when it changes.")
            package let tokenURL = Setting(
                "backend.auth.tokenURL", optional: .tokenURL, "The token endpoint of kind oauth2 (client credentials).")
            package let clientID = Setting(
                "backend.auth.clientID", optional: .text(.line(256)), "The client's id of kind oauth2.")
            package let clientSecret = Setting(
                "backend.auth.clientSecret", optional: .secret, "The client's secret of kind oauth2; better in a file.")
            package let clientSecretFile = Setting(
                "backend.auth.clientSecretFile", optional: .file,
                "A file with the client's secret; read again when it changes.")
            package let scope = Setting(
                "backend.auth.scope", optional: .text(.line(1_024)),
                "The scope of the token of kind oauth2, such as api://backend/.default; several with spaces between.")
            package let clientAuthentication = Setting(
                "backend.auth.clientAuthentication", .choice(ClientCredentials.Authentication.self), default: "post",
                "The place of the client's id and secret in a token request: the form (post) or a header (basic).")
            package let caFile = Setting(
                "backend.auth.caFile", optional: .file,
                "The authorities to trust (PEM) for the token endpoint, in place of those of backend.tls.caFile.")
        }

        package struct TLS: SettingsDeclarations {
            package let caFile = Setting(
                "backend.tls.caFile", optional: .file,
                "The authorities to trust (PEM) in place of the system's; read again when it changes.")
            package let certificateFile = Setting(
                "backend.tls.certificateFile", optional: .file,
                "The client certificate (PEM) to show to the backend; read again when it changes.")
            package let keyFile = Setting(
                "backend.tls.keyFile", optional: .file,
                "The private key (PEM) of the client certificate; read again when it changes.")
        }
    }

    package struct Feedback: SettingsDeclarations {
        package let asksPerSecond = Setting(
            "feedback.asksPerSecond", .wholeNumber(1...10_000), default: "100",
            "The maximum number of questions per second to the hub about its messages; a message that is not "
                + "finished is asked about again.")
        package let containerInterval = Setting(
            "feedback.containerInterval", .duration(.zero...(.seconds(7 * 86_400))), default: "1h",
            "The interval at which herald feedback reads the hub's list of devices that are gone; 0 never does.")
    }

    package struct Delivery: SettingsDeclarations {
        package let guarantee = Setting(
            "delivery.guarantee", .choice(DeliveryGuarantee.self), default: "atomic",
            "Records and offsets in one transaction (atomic), or offsets after the records (at-least-once: for brokers "
                + "without transactions)."
        )
        package let ordering = Setting(
            "delivery.ordering", .choice(Ordering.self), default: "key",
            "The events that are sent in order: one user's (key), one partition's (partition), or none.")
        package let lanes = Setting(
            "delivery.lanes", .wholeNumber(1...64), default: "1",
            "Threads, each an independent member of the group; at most one per processor core.")
        package let maxInFlight = Setting(
            "delivery.maxInFlight", .wholeNumber(1...100_000), default: "1000",
            "Calls in flight at most, for the whole process; divided among the lanes (at least 1 each).", reload: .live)
        package let commitInterval = Setting(
            "delivery.commitInterval", .duration(.milliseconds(1)...(.seconds(60))), default: "100ms",
            "The interval at which offsets and results are committed.")
        package let maxUnrecorded = Setting(
            "delivery.maxUnrecorded", .duration(.milliseconds(100)...(.seconds(60))), default: "1s",
            "No new call begins while an outcome has waited this long for its commit, so a kill repeats no more calls "
                + "than that; at least twice delivery.commitInterval.")
        package let drainTimeout = Setting(
            "delivery.drainTimeout", .duration(.zero...(.seconds(3_600))), default: "30s",
            "The time that a stopping worker waits for calls in flight.")
        package let dedupe = Dedupe()

        package struct Dedupe: SettingsDeclarations {
            package let window = Setting(
                "delivery.dedupe.window", .duration(.zero...(.seconds(12 * 3_600))), default: "10m",
                "The time in which an event counts as a duplicate of one with the same source, id and user, for each "
                    + "push service whose first outcome is known and no failure; 0 turns detection off.")
            package let size = Setting(
                "delivery.dedupe.size", .wholeNumber(0...100_000_000), default: "1000000",
                "The number of latest notifications (an event for one push service) remembered for that, for the "
                    + "whole process, at 18 bytes each, 27 for one that came before; 0 turns detection off.")
        }
    }

    package struct Retry: SettingsDeclarations {
        package let immediate = Setting(
            "retry.immediate", .wholeNumber(0...20), default: "2",
            "Quick retries after a failed first call, before the first delay.")
        package let delays = Setting(
            "retry.delays",
            .list(
                of: .retryDelay(.milliseconds(1)...(.seconds(7 * 86_400))), count: 1...20, unique: { $0.description }
            ).increasing(\.length), default: "5s,30s,5m,30m,2h",
            "The delays before later calls, with one retry topic each, named as written here.")
        package let maxElapsed = Setting(
            "retry.maxElapsed", .duration(.seconds(1)...(.seconds(30 * 86_400))), default: "24h",
            "The time after its first call in which an event may be retried.")
        package let replays = Setting(
            "retry.replays", .wholeNumber(0...100), default: "5",
            "The maximum number of replays of a dead letter.")
    }

    package struct Limits: SettingsDeclarations {
        package let perSecond = Setting(
            "limits.perSecond", optional: .wholeNumber(1...1_000_000),
            "Calls per second at most to all push services together, for the whole process; no limit when absent.",
            reload: .live)
        package let pushServices = Setting(
            "limits.pushServices", .rates, default: "",
            "Calls per second at most to single push services, for the whole process.",
            reload: .liveBeside("backend.pushServices"))
        package let eventBytes = Setting(
            "limits.eventBytes", .bytes(64...16_777_216), default: "65536", "The largest size of an event's value.")
    }

    package struct Outages: SettingsDeclarations {
        package let breaker = Breaker()
        package let deadLetterBreaker = DeadLetterBreaker()

        package struct Breaker: SettingsDeclarations {
            package let share = Setting(
                "outages.breaker.share", .share, default: "0.8",
                "Circuit breaker: an outage begins when this share of the last 20 seconds' calls failed (5xx, "
                    + "time-outs, refused connections); a failing user counts once.", reload: .live)
            package let of = Setting(
                "outages.breaker.of", .wholeNumber(0...1_000_000), default: "100",
                "Circuit breaker: the fewest such calls that it judges, divided among the lanes; 0 turns it off.",
                reload: .live)
        }

        package struct DeadLetterBreaker: SettingsDeclarations {
            package let share = Setting(
                "outages.deadLetterBreaker.share", .share, default: "0.5",
                "Dead-letter breaker: an outage begins when this share of the latest answers rejects with the same "
                    + "status.", reload: .live)
            package let of = Setting(
                "outages.deadLetterBreaker.of", .wholeNumber(0...100_000), default: "200",
                "Dead-letter breaker: the number of latest answers that it judges, divided among the lanes; 0 turns it "
                    + "off.", reload: .live)
        }
    }

    package struct Preferences: SettingsDeclarations {
        package let enabled = Setting(
            "preferences.enabled", .bool, default: "false",
            "No call begins against a user's opt-out, in a user's quiet hours, or for an event that was recalled.")
        package let maxLag = Setting(
            "preferences.maxLag", .duration(.seconds(2)...(.seconds(3_600))), default: "5s",
            "The age of what a worker knows of opt-outs and recalls beyond which it holds promotional events; it asks "
                + "each second.")
        package let defaultZone = Setting(
            "preferences.defaultZone", optional: .text(.line(64), "ZONE"),
            "The time zone of quiet hours where neither the user's preference nor the event names one, as Europe/Berlin; "
                + "without it such quiet hours hold nothing, and results say so.")
        package let spread = Setting(
            "preferences.spread", .duration(.zero...(.seconds(6 * 3_600))), default: "10m",
            "The time after the end of quiet hours over which the events that waited leave, each user at a moment of its "
                + "own.")
        package let caps = Setting(
            "preferences.caps", .list(of: .capRule, count: 0...CapRule.most, unique: { $0 }), default: "",
            "How many promotional notifications a user gets, from a source or all of them, within a time that slides; "
                + "further ones are suppressed (capped).")
        package let forgetKeyFile = Setting(
            "preferences.forgetKeyFile", optional: .file,
            "A file with a secret of 16 bytes at least, the same for workers, commands and console, with which forget keeps "
                + "a user's opt-out under a keyed hash in place of the name; without it nothing is kept.")
    }

    package struct Log: SettingsDeclarations {
        package let level = Setting(
            "log.level", .choice(LogLevel.self), default: "info", "The least severe messages that are logged.",
            reload: .live)
        package let format = Setting(
            "log.format", .choice(LogFormat.self), default: "json", "The format of log lines.")
    }

    package struct Admin: SettingsDeclarations {
        package let listen = Setting(
            "admin.listen", .listenAddress, default: "127.0.0.1:9464",
            "The address of a worker's health and metrics; port 0 chooses a free one and logs it; off serves nothing.")
        package let token = Setting(
            "admin.token", optional: .secret,
            "The token that every request except health and metrics needs; required off loopback; better in a file.")
        package let tokenFile = Setting(
            "admin.tokenFile", optional: .file, "A file with that token; read again when it changes.")
    }

    package struct Console: SettingsDeclarations {
        package let listen = Setting(
            "console.listen", .listenAddress, default: "127.0.0.1:9465",
            "The address of herald console's page; port 0 chooses a free one.")
        package let tokenFile = Setting(
            "console.tokenFile", optional: .file,
            "A file with the users: a line ROLE NAME TOKEN for each person, the role being viewer or operator; read "
                + "again when it changes; required off loopback.")
        package let hosts = Setting(
            "console.hosts", .list(of: .text(.line(253)), count: 0...32, unique: { $0 }), default: "",
            "Names under which the console answers, beside addresses and localhost, such as a proxy's.")
        package let trustedProxies = Setting(
            "console.trustedProxies", .list(of: .text(.line(64)), count: 0...32, unique: { $0 }), default: "",
            "Addresses (10.0.0.7) and networks (10.0.0.0/8) of proxies whose X-Forwarded-For says whose request it is.")
        package let uploadLimit = Setting(
            "console.uploadLimit", .bytes(1_024...2_147_483_647), default: "256MiB",
            "The largest audience that is uploaded to the console; up to four lie in its TMPDIR, for an hour at most.")
        package let workers = Setting(
            "console.workers", .list(of: .adminPort, count: 0...64, unique: { $0 }), default: "",
            "The workers' admin ports; when empty, those at the hosts of the group's members, with the port of "
                + "admin.listen.")
        package let links = Links()

        package struct Links: SettingsDeclarations {
            package let traces = Setting(
                "console.links.traces", optional: .text(.line(2_048)),
                "The address of an event's trace, such as https://traces.example.com/trace/{traceId}; absent shows no "
                    + "link.")
            package let alerts = Setting(
                "console.links.alerts", optional: .text(.line(2_048)),
                "The address of a finding's alert, such as "
                    + "https://alerts.example.com/#/alerts?filter={alertname=\"{alert}\"}; absent shows no link.")
        }
    }

    package struct Traces: SettingsDeclarations {
        package let url = Setting(
            "traces.url", optional: .httpAddress,
            "The URL for spans (OTLP/HTTP with JSON), such as http://collector:4318/v1/traces; used as it is, as "
                + "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT; absent makes none.")
        package let sampleRatio = Setting(
            "traces.sampleRatio", .ratio, default: "1",
            "The share of events to record that come without a traceparent; one that has it is recorded if its sampled "
                + "flag is set.")
        package let serviceName = Setting(
            "traces.serviceName", .text(.line(256)), default: "herald", "The service.name of the spans.")
        package let headersFile = Setting(
            "traces.headersFile", optional: .file,
            "A file with headers for the collector, such as a key: lines of Name: value; read again for each request.")
        package let caFile = Setting(
            "traces.caFile", optional: .file,
            "The authorities to trust (PEM) for the collector, in place of the system's; read again for each request.")
    }
}

/// A section of the table: its properties are settings or further sections.
package protocol SettingsDeclarations: Sendable {}
