/// What can be found, outages apart: the closed set of ``Finding/key``s, with a row for each.
package enum FindingKey: String, Sendable, CaseIterable {
    // A worker, which does not deliver because of it: the reasons of `/readyz`.
    case starting, stopping, stuck, unassigned
    case brokersUnreachable = "brokers-unreachable"
    case loginFailed = "login-failed"
    case topicsMissing = "topics-missing"
    case partitionsWithoutLeader = "partitions-without-leader"
    case offsetsMissing = "offsets-missing"
    case recordsLost = "records-lost"
    case tooFewBrokers = "too-few-brokers"
    case noProgress = "no-progress"
    case groupRefuses = "group-refuses"
    case recordsRefused = "records-refused"
    case commitsFailing = "commits-failing"
    case backendUnreachable = "backend-unreachable"

    // A worker that delivers: the warnings of `/readyz`.
    case lagGrowing = "lag-growing"
    case publisherFaults = "publisher-faults"
    case pushServiceFailing = "push-service-failing"
    case behindOpenTransaction = "behind-open-transaction"
    case strangerInGroup = "stranger-in-group"
    case brokersThrottle = "brokers-throttle"
    case recordRefused = "record-refused"
    case offsetsPassedOver = "offsets-passed-over"
    case topicsDrift = "topics-drift"
    case copiesMissing = "copies-missing"
    case preferencesBehind = "preferences-behind"

    // What looks at Kafka and at all workers: the console, the doctor, tools.
    case noWorker = "no-worker"
    case silentWorker = "silent"
    case olderWorker = "older-worker"
    case notKnown = "not-known"
    case consoleBrokers = "console-brokers"
    case groupUntold = "group-untold"
    case partitionStuck = "partition-stuck"
    case noMember = "no-member"
    case callsFail = "calls-fail"
    case rebalance, throttled, credentials, unanswered, oldest
    case campaignDead = "campaign-dead"
    case campaignFails = "campaign-fails"
    case campaignPaused = "campaign-paused"
    case campaignStopped = "campaign-stopped"
    case deadLetters = "dead-letters"
    case lettersUnread = "letters-unread"
}

extension FindingKey {
    /// What all findings of a kind have in common.
    package struct Entry: Sendable {
        package var severity: Finding.Severity
        /// It in a few words.
        package var title: String
        /// What to do, in the middle of a sentence; empty where that depends.
        package var step: String
        /// What to type first; empty where nothing is to be typed.
        package var command: [String]
        /// The alert of deploy/prometheus that fires because of it.
        package var alert: String?
        /// The section of docs/RUNBOOK.md, as its anchor: the alert's, or its own.
        package var section: String

        /// The command with the first of the push services that it is about in place of `PNS`.
        func command(for place: [String]) -> [String] { command.map { $0 == "PNS" ? place.first ?? $0 : $0 } }
    }

    private static let doctor = ["herald", "doctor", "--only", "kafka"]
    private static let service = ["systemctl", "status", "herald"]
    private static let topics = ["herald", "topics", "plan"]
    private static let letters = ["herald", "dlq", "list", "--since", "1h"]
    private static let login = "see what of name, port, TLS and login fails"
    private static let comings =
        "wait: the group gives members that are gone 10 s, and one that hangs a minute; if it lasts, see which workers come and go"
    private static let unanswering =
        "send one to a user of yours, which shows what that push service answers; then read the backend's log"
    private static let sample = ["herald", "send", "--user", "USER", "--pns", "PNS", "--message", "test"]

    /// Its row.
    package var entry: Entry {
        func row(
            _ severity: Finding.Severity, _ title: String, _ step: String = "", _ command: [String] = Self.doctor,
            alert: String? = nil, section: String? = nil
        ) -> Entry {
            Entry(
                severity: severity, title: title, step: step, command: command, alert: alert,
                section: alert?.lowercased() ?? section ?? rawValue)
        }
        return switch self {
        case .starting: row(.warn, "Starting", "wait; if it lasts, the log says why")
        case .stopping: row(.warn, "Stopping", "nothing to do", [])
        case .stuck:
            row(.bad, "A worker hangs", "restart the worker; nothing is lost", ["systemctl", "restart", "herald"])
        case .unassigned:
            row(
                .warn, "Waiting for partitions",
                "wait for the rebalance to end: the group gives members that are gone 10 s (also those of before the brokers "
                    + "came back), and one that hangs a minute; then look for a worker whose /livez says 503")
        case .brokersUnreachable:
            row(
                .bad, "Brokers unreachable",
                "check that the brokers run and that kafka.bootstrapServers and security.protocol are right; the worker "
                    + "resumes by itself", alert: "HeraldBrokersUnreachable")
        case .loginFailed:
            row(
                .bad, "The brokers refuse the login",
                "check kafka.auth, or the SASL properties in kafka.properties; the worker resumes by itself when a file "
                    + "that they name changes")
        case .topicsMissing:
            row(
                .bad, "Topics are missing",
                "run `herald topics apply`, or grant Describe; `herald account` names what was lost with one that was "
                    + "deleted", ["herald", "topics", "apply"])
        case .partitionsWithoutLeader:
            row(
                .bad, "Partitions have no leader", "bring a broker back that has a replica; all others continue",
                alert: "HeraldPartitionsWithoutLeader")
        case .offsetsMissing: row(.bad, "Offsets are missing", "", ["herald", "offsets", "restore", "--dry-run"])
        case .recordsLost:
            row(
                .bad, "Records are lost",
                "see what deleted them: the topic's retention, which is to be lengthened (`herald topics plan`), or somebody "
                    + "by hand (DeleteRecords); then run `herald offsets skip-lost --dry-run` and "
                    + "`herald offsets skip-lost`: until then nothing is consumed there, and all others continue",
                ["herald", "offsets", "skip-lost", "--dry-run"], alert: "HeraldRecordsLost")
        case .tooFewBrokers:
            row(
                .bad, "Too few brokers", "bring the brokers back; nothing is lost, and the worker resumes by itself",
                alert: "HeraldTooFewBrokers")
        case .noProgress: row(.bad, "No progress", alert: "HeraldCommitsStall")
        case .groupRefuses: row(.bad, "The group refuses workers")
        case .recordsRefused:
            row(
                .bad, "Results are refused",
                "look at the topic's brokers, disks and permissions; nothing is lost, Herald retries")
        case .commitsFailing:
            row(
                .bad, "Commits fail",
                "look at the brokers and at this worker's permissions; nothing is lost, Herald retries",
                alert: "HeraldCommitsFail")
        case .backendUnreachable:
            row(
                .bad, "The backend is unreachable",
                "check that the backend runs, and backend.url or the hub's connection string; its events are retried",
                ["herald", "doctor", "--only", "backend"])
        case .lagGrowing: row(.warn, "The lag grows", alert: "HeraldLag")
        case .publisherFaults: row(.warn, "Events were published wrongly", alert: "HeraldPublisherFaults")
        case .pushServiceFailing:
            row(.bad, "A push service fails", Self.unanswering, Self.sample, alert: "HeraldCallsFail")
        case .behindOpenTransaction: row(.warn, "A transaction is open", alert: "HeraldBehindOpenTransaction")
        case .strangerInGroup: row(.warn, "Another program takes events", alert: "HeraldStrangerInGroup")
        case .brokersThrottle: row(.warn, "Brokers throttle")
        case .recordRefused:
            row(
                .warn, "Records are refused", "", ["herald", "topics", "apply"], section: "records-refused")
        case .copiesMissing:
            row(.warn, "Copies are missing", "bring the broker back before a further one fails")
        case .preferencesBehind:
            row(
                .warn, "Opt-outs are behind",
                "look at the brokers that lead these topics, and whether a transaction is open there; all others are "
                    + "delivered", alert: "HeraldPreferencesBehind")
        case .offsetsPassedOver: row(.warn, "Offsets were passed over", alert: "HeraldOffsetsPassedOver")

        case .topicsDrift:
            row(
                .warn, "Topics differ from the settings", "run `herald topics apply`", ["herald", "topics", "apply"],
                alert: "HeraldTopicsDrift")

        case .noWorker:
            row(
                .bad, "No worker runs", "start a worker, or see why it ended (status 78: wrong settings)", Self.service,
                alert: "HeraldDown")
        case .silentWorker:
            row(
                .warn, "A worker is silent", "see whether it runs, and whether its admin port can be reached from here",
                Self.service, alert: "HeraldWorkerDown")
        case .olderWorker:
            row(
                .warn, "A worker is older",
                "update it: only its own /readyz says how it is until then", [], section: "first-look")
        case .notKnown:
            row(
                .unknown, "Not known whether the workers deliver",
                "name the workers' admin ports in console.workers, and give admin.listen a port that can be reached from "
                    + "here", ["herald", "config", "show", "admin.listen"], section: "first-look")
        case .consoleBrokers:
            row(
                .warn, "The console reaches no broker", Self.login,
                alert: "HeraldBrokersUnreachable")
        case .groupUntold:
            row(.unknown, "Nothing tells of the group", Self.login, alert: "HeraldBrokersUnreachable")
        case .lettersUnread:
            row(.warn, "The dead letters are not read", Self.login, alert: "HeraldBrokersUnreachable")
        case .partitionStuck:
            row(
                .bad, "A partition is stuck",
                "see whether all workers are there and ready; then the backend, or the number of workers, is the bound",
                alert: "HeraldLag")
        case .rebalance: row(.warn, "Partitions move between workers", Self.comings, alert: "HeraldRebalances")
        case .noMember: row(.bad, "Partitions have no worker", Self.comings, alert: "HeraldRebalances")
        case .callsFail: row(.warn, "Some calls fail", Self.unanswering, Self.sample, alert: "HeraldCallsFail")
        case .throttled:
            row(
                .warn, "The backend wants fewer calls",
                "if the rate that Herald found is too little, raise the backend's quota, or divide it",
                ["herald", "config", "show", "limits"], alert: "HeraldThrottled")
        case .credentials:
            row(
                .warn, "Some calls are unauthorised",
                "see which push service, and which of the backend's servers, refuse",
                Self.letters + ["--where", "status in (401, 403)", "--group-by", "pns"],
                alert: "HeraldCredentialsRefused")
        case .unanswered:
            row(
                .warn, "Calls get no answer",
                "before a replay, see whether the backend honours idempotency keys: otherwise people are notified twice",
                Self.letters + ["--where", "history ~ '*timeout*' or history ~ '*reset*'"],
                section: "calls-without-an-answer")
        case .campaignDead, .campaignFails, .campaignPaused:
            row(.warn, "A campaign fails", "", [], section: "campaign-paused")
        case .campaignStopped:
            row(
                .warn, "A campaign is stopped",
                "start it again with the same audience: it goes on with the rest, and nobody is notified twice",
                ["herald", "campaign", "status"], section: "campaign-stopped")
        case .oldest:
            row(
                .warn, "An event is late", "see what is beside it: an outage, one partition's lag, or retries alone",
                alert: "HeraldOldestEvent")
        case .deadLetters:
            row(
                .warn, "Some dead letters", "see them by reason, with what to do about each", Self.letters,
                alert: "HeraldDeadLetters")
        }
    }
}
