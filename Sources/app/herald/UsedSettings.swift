import HeraldSettings

/// The settings that a command uses: what its help shows, and its flags complete to.
struct UsedSettings: Sendable, ExpressibleByArrayLiteral {
    /// Settings and sections, as paths; a section stands for all that is in it.
    let paths: [String]

    init(arrayLiteral paths: String...) { self.paths = paths }

    private init(_ paths: [String]) { self.paths = paths }

    static func + (left: Self, right: Self) -> Self { Self(left.paths + right.paths) }

    /// Whether a setting is one of them.
    func includes(_ path: String) -> Bool { paths.contains { path == $0 || path.hasPrefix($0 + ".") } }

    /// None: the command loads no settings.
    static let none: Self = []

    static let all = Self(Array(Set(SettingsFlag.all.map { String($0.path.prefix { $0 != "." }) })))

    static let cluster: Self = ["kafka.bootstrapServers", "kafka.group", "kafka.auth", "kafka.properties"]

    /// The names of these topics.
    static func topics(_ names: String...) -> Self { Self(names.map { "topics.\($0)" }) }
    static let allTopics = topics(
        "requests", "results", "retry", "deadLetter", "campaigns", "state", "audit", "feedback")
    /// What tells whether workers deliver.
    static let workers: Self = ["kafka.group", "admin.listen", "console.workers"]

    /// What a command needs to ask them why an event waits.
    static let waiting: Self = workers + ["admin.token", "admin.tokenFile"]

    /// Whom events may name, and on what.
    static let pushServices: Self = ["backend.pushServices", "backend.aliases", "backend.users"]

    /// What a command needs for the span of what it publishes.
    static let traces: Self = ["traces.url", "traces.serviceName", "traces.headersFile", "traces.caFile"]

    static let events = pushServices + ["limits.eventBytes"]

    static let topicPlan: Self = [
        "kafka.bootstrapServers", "kafka.auth", "kafka.properties", "topics", "retry.delays", "retry.maxElapsed",
        "limits.eventBytes", "backend.kind", "backend.hub.telemetry",
    ]

    /// What a client of the backend needs, but for the path.
    static let backendClient: Self = [
        "backend.kind", "backend.url", "backend.hub", "backend.timeout", "backend.connectTimeout", "backend.http",
        "backend.proxy", "backend.proxyPasswordFile", "backend.statuses", "backend.auth", "backend.tls",
    ]

    /// What a worker needs, which makes no topics and registers no devices.
    static let worker: Self =
        [
            "kafka", "topics.requests", "topics.results", "topics.retry", "topics.deadLetter", "topics.campaigns",
            "backend.path", "backend.connections",
        ] + backendClient + pushServices + ["delivery", "retry", "limits", "outages", "log", "admin", "traces"]

    /// What the follower of a hub's telemetry needs.
    static let feedback: Self =
        [
            "backend.kind", "backend.hub.connectionStringFile", "backend.hub.name", "backend.hub.telemetry",
            "backend.timeout", "backend.connectTimeout", "backend.proxy", "backend.proxyPasswordFile", "backend.tls",
            "feedback", "log",
        ] + cluster + topics("results", "feedback", "state")

    /// What the console shows and changes.
    static let console: Self =
        ["console", "retry", "limits.eventBytes", "backend.statuses"] + waiting + cluster + allTopics + pushServices

    /// What is looked at for a worker, from outside.
    static let doctor: Self =
        ["kafka.instance", "backend.path", "delivery.guarantee"] + workers + backendClient + topicPlan
}
