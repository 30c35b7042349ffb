import HeraldSettings

/// The settings that a command uses: shown in its help and completed as flags.
struct UsedSettings: Sendable, ExpressibleByArrayLiteral {
    /// Paths of settings and sections; a section includes everything in it.
    let paths: [String]

    init(arrayLiteral paths: String...) { self.paths = paths }

    private init(_ paths: [String]) { self.paths = paths }

    static func + (left: Self, right: Self) -> Self { Self(left.paths + right.paths) }

    func includes(_ path: String) -> Bool { paths.contains { path == $0 || path.hasPrefix($0 + ".") } }

    /// No settings: the command loads none.
    static let none: Self = []

    static let all = Self(Array(Set(SettingsTable.all.map { String($0.path.prefix { $0 != "." }) })))

    static let cluster: Self = ["kafka.bootstrapServers", "kafka.group", "kafka.auth", "kafka.properties"]

    static func topics(_ names: String...) -> Self { Self(names.map { "topics.\($0)" }) }
    static let allTopics = topics(
        "requests", "results", "retry", "deadLetter", "campaigns", "audiences", "state", "audit", "feedback",
        "preferences", "recalls")
    /// The settings for finding out whether workers deliver.
    static let workers: Self = ["kafka.group", "admin.listen", "console.workers"]

    /// The settings for asking workers why an event waits.
    static let waiting: Self = workers + ["admin.token", "admin.tokenFile"]

    /// The settings for reading what users and recalls say.
    static let words: Self =
        topics("preferences", "recalls", "classes") + ["preferences.enabled", "preferences.forgetKeyFile"]

    /// The settings that say what of a notification reaches a push service.
    static let contentReach: Self = [
        "backend.kind", "backend.url", "backend.body", "backend.hub.name", "backend.hub.formats",
    ]

    static let pushServices: Self = ["backend.pushServices", "backend.aliases", "backend.users"]

    static let traces: Self = ["traces.url", "traces.serviceName", "traces.headersFile", "traces.caFile"]

    static let events = pushServices + ["limits.eventBytes"]

    static let topicPlan: Self = [
        "kafka.bootstrapServers", "kafka.auth", "kafka.properties", "topics", "retry.delays", "retry.maxElapsed",
        "limits.eventBytes", "backend.kind", "backend.hub.telemetry", "preferences.enabled",
        "preferences.caps",
    ]

    /// The settings of a client of the backend, except the path.
    static let backendClient: Self = [
        "backend.kind", "backend.url", "backend.hub", "backend.timeout", "backend.connectTimeout", "backend.http",
        "backend.proxy", "backend.proxyPasswordFile", "backend.statuses", "backend.auth", "backend.tls",
    ]

    /// The settings of a worker, which creates no topics and registers no devices.
    static let worker: Self =
        [
            "kafka", "topics.requests", "topics.results", "topics.retry", "topics.deadLetter", "topics.campaigns",
            "topics.preferences", "topics.recalls", "topics.caps", "topics.classes", "preferences", "backend.path",
            "backend.body", "backend.connections",
        ] + backendClient + pushServices + ["delivery", "retry", "limits", "outages", "log", "admin", "traces"]

    static let feedback: Self =
        [
            "backend.kind", "backend.hub.connectionStringFile", "backend.hub.name", "backend.hub.telemetry",
            "backend.timeout", "backend.connectTimeout", "backend.proxy", "backend.proxyPasswordFile", "backend.tls",
            "feedback", "log",
        ] + cluster + topics("results", "feedback", "state")

    /// The settings of the console, for display and changes.
    static let console: Self =
        [
            "console", "retry", "limits.eventBytes", "backend.statuses", "preferences.enabled", "preferences.caps",
            "preferences.forgetKeyFile", "preferences.defaultZone", "topics.classes",
        ]
        + waiting + cluster
        + allTopics + pushServices
        + contentReach

    /// The settings for examining a worker's environment from outside.
    static let doctor: Self =
        ["kafka.instance", "backend.path", "delivery.guarantee", "preferences"] + workers + backendClient + topicPlan
}
