import HeraldCore
import HeraldDriver
public import HeraldEvents
import HeraldKafka
import HeraldText
public import HeraldTime
public import HeraldWorker

/// Whether a worker delivers, and if not, why: one sentence for each reason, with what to do.
public struct Readiness: Sendable, Equatable {
    /// Why a worker is not ready.
    public typealias Reason = ReadinessReason

    /// A reason and its sentence.
    public struct Finding: Sendable, Equatable {
        /// What kind it is.
        public let reason: Reason
        /// What happened and what to do.
        public let sentence: String
    }

    /// A lane whose loop has not turned for so long is stuck: it turns twice a second with nothing to do.
    public static let stuckAfter: Milliseconds = .seconds(30)
    /// So many calls in a row without an answer, and the backend counts as out of reach.
    static let silentCalls = 5
    /// Commits that fail for no longer than this pass: a rebalance fails some.
    static let commitPatience: Milliseconds = .seconds(15)
    /// Outcomes that wait for longer than this, and than three commit intervals, without a commit: there is no progress.
    ///
    /// A coordinator that moves, or a transaction that is written again, takes less.
    static let progressPatience: Milliseconds = .seconds(30)
    /// So many names are listed at most.
    static let namesShown = 5

    /// Everything that is in the way; empty when the worker is ready.
    public let findings: [Finding]

    /// Judges a worker by what it tells of itself.
    public init(_ report: WorkerReport, now: MonotonicTime) {
        var findings: [Finding] = []
        func find(_ reason: Reason, _ sentence: String) {
            findings.append(Finding(reason: reason, sentence: sentence))
        }
        let cluster = report.cluster
        let lanes = report.lanes.filter { !$0.hasEnded }
        let throttled = report.throttling(of: .producer, now: now)?.sentence(now: now)
        if report.isStopping {
            find(.stopping, "The worker was told to stop and finishes its calls in flight: nothing to do.")
        }
        if let silence = Self.silence(of: report, now: now), silence > Self.stuckAfter {
            find(.stuck, "A lane has not moved for \(silence.wholeSeconds) s: restart the worker; nothing is lost.")
        }
        if let sentence = cluster.loginTrouble {
            find(.loginFailed, sentence)
        } else if cluster.isReachable == false {
            find(
                .brokersUnreachable,
                "No broker answers (\(cluster.error?.words ?? "no reason known")): check that the brokers run and that "
                    + "kafka.bootstrapServers and security.protocol are right; the worker resumes by itself.")
        } else if let obstacle = report.groupObstacle {
            find(.groupRefuses, obstacle.sentence)
        } else if !report.isStopping, lanes.isEmpty || lanes.contains(where: { !$0.isReady }) {
            find(
                .starting,
                "The worker is starting and its lanes consume no records yet: wait; if it lasts, the log says why.")
        } else if lanes.contains(where: { $0.phase == .unassigned }) {
            find(.unassigned, Self.unassigned(lanes, now: now))
        }
        if !cluster.missingTopics.isEmpty {
            find(
                .topicsMissing,
                "\(cluster.missingTopics.joined(separator: ", ")): missing, or Herald may not see it: run `herald topics "
                    + "apply`, or grant Describe.")
        }
        if !cluster.leaderless.isEmpty {
            find(
                .partitionsWithoutLeader,
                "\(cluster.leaderless.count) partitions have no leader (\(cluster.leaderless.names)) and wait: bring a broker back that "
                    + "has a replica; all others continue.")
        }
        if let sentence = Self.lostOffsets(lanes) { find(.offsetsMissing, sentence) }
        if cluster.isReachable != false, !cluster.unusable.isEmpty {
            // Brokers come first: of a long sentence the console shows its beginning.
            let silent = Self.silent(cluster)
            find(
                .tooFewBrokers,
                "\(silent.prefix(1).uppercased())\(silent.dropFirst()), so \(cluster.unusable.counted) cannot be "
                    + "written or read (\(cluster.unusable.names)): bring the brokers back; nothing is lost, and the "
                    + "worker resumes by itself.")
        }
        if let sentence = Self.standstill(report, now: now) { find(.noProgress, sentence) }
        if let sentence = Self.unanswered(lanes, besides: cluster.leaderless) { find(.noProgress, sentence) }
        if let refusal = lanes.compactMap(\.refusal).first {
            let what = refusal.topic.map { "\($0) takes no record" } ?? "The brokers accept no records"
            let remedy = refusal.remedy ?? "look at the topic's brokers, disks and permissions"
            find(
                .recordsRefused,
                throttled.flatMap { refusal.remedy == nil ? "\(what) (\(refusal.text)). \($0)" : nil }
                    ?? "\(what) (\(refusal.text)): \(remedy); nothing is lost, Herald retries.")
        }
        // A record that is refused alone fails each commit that it is part of, and no other: a warning tells of it.
        if let trouble = lanes.filter(\.refusedRecords.isEmpty).compactMap(\.commitTrouble).first(where: {
            now.time(since: $0.since) > Self.commitPatience
        }) {
            let what = "Offsets can't be committed (\(trouble.text))"
            find(
                .commitsFailing,
                throttled.map { "\(what). \($0)" }
                    ?? "\(what): look at the brokers and at this worker's permissions; nothing is lost, Herald retries."
            )
        }
        for outage in report.outages { find(.outage(outage.reason), outage.sentence) }
        if let lane = lanes.first(where: { $0.outage == nil && $0.meter.unansweredCalls >= Self.silentCalls }) {
            find(
                .backendUnreachable,
                "The last \(lane.meter.unansweredCalls) calls had no answer (\(lane.meter.lastFailure?.word ?? "")): check "
                    + "that the backend runs, and backend.url or the hub's connection string; its events are retried.")
        }
        self.findings = findings
    }

    /// Whether the worker delivers.
    public var isReady: Bool { findings.isEmpty }

    /// Whether the backend answers, as the latest calls showed; `nil` when there were none, or when they were answered
    /// on connections that are all gone since, so that it is unknown.
    static func isBackendReachable(_ report: WorkerReport) -> Bool? {
        if report.outages.contains(where: \.reason.isBeyondReach) {
            return false
        }
        let lanes = report.lanes.filter { $0.meter.lastCallAt != nil }
        guard let latest = lanes.max(by: { ($0.meter.lastCallAt ?? $0.at) < ($1.meter.lastCallAt ?? $1.at) }) else {
            return nil
        }
        // Connection refused: one call is enough to know. One user's calls may hang for ever while others are answered.
        if latest.meter.unansweredCalls >= (latest.meter.lastFailure == .refused ? 1 : Self.silentCalls) {
            return false
        }
        return latest.connections > 0 ? true : nil
    }

    /// Which partitions are not consumed because their offsets are missing, or may be.
    private static func lostOffsets(_ lanes: [LaneReport]) -> String? {
        let lost = lanes.flatMap(\.withoutOffsets)
        if !lost.isEmpty {
            let missing = MissingOffsets(lost, others: lanes.compactMap(\.otherGroups).first)
            return "The group has \(missing.words): \(missing.remedy)."
        }
        let lookedUp = lanes.flatMap(\.lookedUp)
        guard !lookedUp.isEmpty else { return nil }
        return
            "The group has no offset for \(lookedUp.counted) (\(lookedUp.names)), and the results are read for "
            + "outcomes of their events: wait; if it lasts, the log says why they cannot be read."
    }

    /// Whether the process works at all, whatever backend and brokers do; the sentence says why not.
    public static func stuckLane(_ report: WorkerReport, now: MonotonicTime) -> String? {
        guard let silence = silence(of: report, now: now), silence > stuckAfter else { return nil }
        return "A lane has not moved for \(silence.wholeSeconds) s."
    }

    /// How long ago the slowest lane's loop turned (milliseconds).
    private static func silence(of report: WorkerReport, now: MonotonicTime) -> Milliseconds? {
        report.lanes.filter { !$0.hasEnded }.map { now.time(since: $0.at) }.max()
    }
}
