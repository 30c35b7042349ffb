import HeraldEvents
import HeraldText

/// What to do about a finding: the first step, its command, and where the runbook goes on.
struct NextStep: Sendable, Equatable {
    /// In one sentence.
    var sentence: String
    /// What to run; `nil` where nothing is to be run.
    var command: [String]?
    /// A page of the console that helps.
    var href: String?
    /// The dead letters that a replay could be planned of, as a filter of the page Failures.
    var plan: JSONValue?
    /// The section of docs/RUNBOOK.md, as its anchor.
    var section: String

    init(_ sentence: String, _ command: [String]? = nil, href: String? = nil, section: String) {
        self.sentence = sentence
        self.command = command
        self.href = href
        self.section = section
    }

    private static let kafka = ["herald", "doctor", "--only", "kafka"]
    private static let backend = ["herald", "doctor", "--only", "backend"]
    private static let send = ["herald", "send", "--self"]

    /// What to do about what a worker says at `/readyz`, by its word.
    static func against(word: String) -> Self {
        if let reason = ReadinessReason(word: word) { return against(reason) }
        return ReadinessWarning(rawValue: word).map(against) ?? unknown
    }

    /// Of a worker that is newer than this console.
    private static let unknown = Self("Look at the worker's /readyz and its log.", kafka, section: "not-ready")

    static func against(_ reason: ReadinessReason) -> Self {
        switch reason {
        case .starting:
            Self(
                "Wait some seconds; if it lasts, the log's last lines say what it waits for.", kafka,
                section: "starting")
        case .unassigned:
            Self(
                "Wait for the rebalance to end; if it lasts, look for a member that hangs.", kafka,
                section: "unassigned")
        case .groupRefuses:
            Self(
                "Change the setting that keeps workers out of their group; waiting does not help.", kafka,
                section: "group-refuses")
        case .stopping: Self("Do nothing: it finishes its calls in flight.", section: "stopping")
        case .stuck: Self("Restart the worker; nothing is lost.", ["systemctl", "restart", "herald"], section: "stuck")
        case .brokersUnreachable: brokers
        case .loginFailed:
            Self(
                "Put the right password into the file that kafka.auth names; no restart is needed.", kafka,
                section: "login-failed")
        case .topicsMissing:
            Self(
                "See what differs, and create what is missing.", ["herald", "topics", "plan"], section: "topics-missing"
            )
        case .partitionsWithoutLeader: leaders
        case .offsetsMissing:
            Self(
                "See what would be restored from the results, and restore it.",
                ["herald", "offsets", "restore", "--dry-run"], section: "offsets-missing")
        case .tooFewBrokers: Self("Bring back the brokers that do not answer.", kafka, section: "heraldtoofewbrokers")
        case .noProgress:
            Self(
                "Look at the brokers, their disks, and what leads the group and its transactions.", kafka,
                section: "heraldcommitsstall")
        case .recordsRefused:
            Self(
                "Look at the topic's brokers, their disks, and Herald's permissions.", kafka, section: "records-refused"
            )
        case .commitsFailing:
            Self(
                "Look at the brokers and at Herald's permissions on its group.", kafka, section: "heraldcommitsfail")
        case .backendUnreachable:
            Self(
                "Check that the backend runs, and backend.url.", backend, section: "backend-unreachable")
        case .outage(let reason): against(reason, section: reason.runbookSection)
        }
    }

    private static func against(_ reason: OutageReason, section: String) -> Self {
        switch reason {
        case .credentials:
            Self(
                "Check the backend's password or token; a new file needs no restart.", send, section: section)
        case .tokenUnavailable:
            Self(
                "Ask the token endpoint for a token, as the worker does.", send, section: section)
        case .tls: Self("Look at the backend's certificate.", backend, section: section)
        case .nameNotFound:
            Self(
                "Fix the backend's name in DNS, or backend.url.", backend, section: section)
        case .proxyRefused:
            Self(
                "Write the right password into backend.proxyPasswordFile; no restart.", backend,
                section: section)
        case .hubNotFound:
            Self(
                "Compare the hub's name with the portal's, letter by letter.",
                ["herald", "config", "show", "backend.hub"],
                section: section)
        case .quotaUsedUp:
            Self(
                "Choose a larger tier in the portal, or wait for the next period.", section: section)
        case .breaker:
            Self(
                "Send one yourself: it shows what the backend answers. Then read the backend's log.", send,
                section: section)
        case .deadLetterBreaker:
            Self(
                "See what was rejected with which status.",
                ["herald", "dlq", "list", "--since", "1h", "--group-by", "status"], href: "/failures",
                section: section)
        }
    }

    static func against(_ warning: ReadinessWarning) -> Self {
        switch warning {
        case .lagGrowing: lag
        case .publisherFaults:
            Self(
                "See which topic and which of its newest records, then tell their publisher.", kafka,
                section: "heraldpublisherfaults")
        case .pushServiceFailing: callsFail
        case .strangerInGroup:
            Self(
                "Stop that program, or give it a group.id of its own.", kafka, section: "heraldstrangeringroup")
        case .behindOpenTransaction:
            Self(
                "See whose transaction it is, and abort it if its publisher is dead.", kafka,
                section: "heraldbehindopentransaction")
        case .brokersThrottle:
            Self("Raise the quota of the workers' user or client id.", kafka, section: "brokers-throttle")
        case .recordRefused:
            Self(
                "See what the topic demands of records.", ["herald", "topics", "plan"], section: "records-refused")
        case .offsetsPassedOver:
            Self(
                "Nobody is called twice. Decide whether what was passed over is to be called.", kafka,
                section: "heraldoffsetspassedover")
        }
    }

    static let brokers = Self(
        "See what of name, port, TLS and login fails.", kafka, section: "heraldbrokersunreachable")
    static let leaders = Self(
        "Bring a broker back that has a copy of these partitions.", kafka, section: "heraldpartitionswithoutleader")
    static let lag = Self(
        "Are all workers there and ready? Then the backend, or the number of workers, is the bound.", kafka,
        section: "heraldlag")
    static let noWorker = Self(
        "Start a worker, or see why it ended: status 78 means wrong settings. Workers of another group (kafka.group), such as "
            + "a sandbox's, are not seen here.", ["systemctl", "status", "herald"],
        section: "heralddown")
    static let silentWorker = Self(
        "See whether it runs, and whether its admin port can be reached from here.",
        ["systemctl", "status", "herald"], section: "heraldworkerdown")
    static let nameWorkers = Self(
        "Name the workers' admin ports in console.workers, and give admin.listen a port that can be reached from here.",
        ["herald", "config", "show", "admin.listen"],
        section: "first-look")
    static let rebalance = Self(
        "Wait; if it lasts, see which workers come and go.", kafka, section: "heraldrebalances")
    static let callsFail = Self(
        "Send one to a user of yours: it shows what that push service answers. Then read the backend's log.",
        ["herald", "send", "--user", "USER", "--pns", "PNS", "--message", "test"], section: "heraldcallsfail")
    static let unanswered = Self(
        "Before a replay, see whether the backend honours idempotency keys: else who got one is notified twice.",
        ["herald", "dlq", "list", "--since", "1h", "--where", "history ~ '*timeout*' or history ~ '*reset*'"],
        href: "/failures", section: "calls-without-an-answer")
    static let throttled = Self(
        "If the rate that Herald found is too little, raise the backend's quota, or divide it.",
        ["herald", "config", "show", "limits"], section: "heraldthrottled")
    static let credentials = Self(
        "See which push service, and which of the backend's servers, refuse.",
        ["herald", "dlq", "list", "--since", "1h", "--where", "status in (401, 403)", "--group-by", "pns"],
        href: "/failures", section: "heraldcredentialsrefused")
    static let oldest = Self(
        "See what is beside it: an outage, one partition's lag, or retries alone.", kafka,
        section: "heraldoldestevent")
    static let deadLetters = Self(
        "See them by reason, with what to do about each.", ["herald", "dlq", "list", "--since", "1h"],
        href: "/failures", section: "heralddeadletters")

    static func campaignPaused(_ name: String) -> Self {
        Self(
            "See why, then resume or cancel it: `herald campaign resume \(name)` goes on, and counts anew.",
            letters(ofCampaign: name), href: "/campaigns", section: "campaign-paused")
    }
    static func campaignFails(_ name: String) -> Self {
        Self(
            "See why; `herald campaign pause \(name)` stops it meanwhile.", letters(ofCampaign: name),
            href: "/campaigns", section: "campaign-paused")
    }

    private static func letters(ofCampaign name: String) -> [String] {
        ["herald", "dlq", "list", "--where", "campaign = '\(name)'", "--group-by", "status"]
    }

    /// The same by what these have in common, and a plan of their replay.
    ///
    /// - Parameter mayHaveArrived: whether a replay may notify a second time.
    static func deadLetters(_ pattern: FailurePattern?, mayHaveArrived: Bool) -> Self {
        var step = deadLetters(pattern)
        if mayHaveArrived { (step.sentence, step.section) = (unanswered.sentence, unanswered.section) }
        return step
    }

    private static func deadLetters(_ pattern: FailurePattern?) -> Self {
        guard let pattern, let field = pattern.groupField else { return deadLetters }
        var step = Self(
            "See them by \(field), with what to do about each.",
            ["herald", "dlq", "list", "--since", "1h", "--group-by", field], href: "/failures?since=1h&by=\(field)",
            section: deadLetters.section)
        step.plan = .present([
            .init("since", "1h"), .init("where", pattern.condition.map { .string($0) } ?? .null),
        ])
        return step
    }
}
