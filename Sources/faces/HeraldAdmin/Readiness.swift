import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
public import HeraldTime
public import HeraldWorker

/// Whether a worker delivers, if not, why, and what people may want to look at although it does.
public struct Readiness {
    /// A lane whose loop has not turned for so long is stuck: it turns twice a second with nothing to do.
    static let stuckAfter: Milliseconds = .seconds(30)
    /// So many calls in a row without an answer, and the backend counts as out of reach.
    private static let silentCalls = 5
    /// Commits that fail for no longer than this pass, and so do records that a silent broker does not take: a rebalance
    /// fails some, and a leader that moves.
    private static let commitPatience: Milliseconds = .seconds(15)
    /// Outcomes that wait for longer than this, and than three commit intervals, without a commit: there is no progress.
    ///
    /// A coordinator that moves, or a transaction that is written again, takes less.
    private static let progressPatience: Milliseconds = .seconds(30)
    private static let namesShown = 5

    let report: WorkerReport
    let now: MonotonicTime

    /// Judges a worker by what it tells of itself.
    public init(_ report: WorkerReport, now: MonotonicTime) {
        self.report = report
        self.now = now
    }

    var isReady: Bool { reasons.isEmpty }
    /// Whether it is only about to.
    public var isStarting: Bool { reasons.contains { $0.key == FindingKey.starting.rawValue } }

    private var cluster: ClusterReport { report.cluster }
    private var lanes: [LaneReport] { report.lanes.filter { !$0.hasEnded } }

    /// Everything that is in the way, in the order in which it matters; empty when the worker is ready.
    var reasons: [Finding] {
        let stopping =
            report.isStopping
            ? Finding(.stopping, "the worker was told to stop and finishes its calls in flight") : nil
        let missing = missingTopics
        // What follows from a missing topic, or from brokers that are away, is not told beside it.
        let progress = missing == nil && areBrokersReachable != false ? [refusal, standstill, unanswered, commits] : []
        let own =
            [stopping, stuck, membership, missing, leaders, lostOffsets, lostRecords, brokers, waitsForPartitions]
            + progress
        return own.compactMap { $0 } + report.outageFindings.filter { $0.severity == .bad }
            + [backend].compactMap { $0 }
    }

    // MARK: The process

    /// How long ago the slowest lane's loop turned, if that is too long: the process does not work, whatever backend and
    /// brokers do.
    var stuckTime: Milliseconds? {
        lanes.map { now.time(since: $0.at) }.max().flatMap { $0 > Self.stuckAfter ? $0 : nil }
    }

    private var stuck: Finding? {
        stuckTime.map { Finding(.stuck, "a lane has not moved for \($0.wholeSeconds) s") }
    }

    // MARK: The brokers

    /// Whether a broker answers; `nil` before one was asked.
    ///
    /// Silence of a moment may be a restart, which passes unless it has cost the partitions.
    var areBrokersReachable: Bool? {
        cluster.isSilent && lanes.contains { $0.phase == .unassigned } ? false : cluster.isReachable
    }

    /// Why it has no partitions.
    private var membership: Finding? {
        if let trouble = cluster.loginTrouble { return trouble }
        if areBrokersReachable == false {
            return Finding(.brokersUnreachable, "no broker answers (\(cluster.error?.words ?? "no reason known"))")
        }
        if let obstacle = report.groupObstacle {
            return Finding(.groupRefuses, obstacle.what, step: obstacle.remedy)
        }
        if !report.isStopping, lanes.isEmpty || lanes.contains(where: { !$0.isReady }) {
            return Finding(.starting, "the worker is starting and its lanes consume no records yet")
        }
        return nil
    }

    /// That the group has given it no partitions, where nothing else says why.
    private var waitsForPartitions: Finding? {
        membership == nil && lanes.contains { $0.phase == .unassigned } ? unassigned : nil
    }

    /// Why nothing is consumed although the worker is a member of its group.
    private var unassigned: Finding {
        let begun = lanes.filter { $0.phase == .unassigned }.compactMap(\.beginning)
        guard let first = begun.min(by: { $0.since < $1.since }) else {
            return Finding(.unassigned, "the group has given out no partitions yet")
        }
        let number = begun.reduce(0) { $0 + $1.partitions }
        let count = number == 1 ? "1 partition" : "\(number) partitions"
        let trouble = begun.compactMap(\.trouble).first.map { "; the brokers answered: \($0)" } ?? ""
        return Finding(
            .unassigned,
            "the worker has read the history of \(count) for \(now.time(since: first.since).wholeSeconds) s: what was "
                + "committed, where the dedupe window begins, and the dead letters of that window\(trouble)",
            step: "wait; when it lasts, the log says why")
    }

    /// The missing topics without which calls cannot go on.
    private var missingTopics: Finding? {
        let missing = cluster.missingTopics.filter { instead(of: $0) == nil }
        return missing.isEmpty ? nil : ClusterReport.missing(missing)
    }

    /// The topic by way of which all lanes' retries go in place of this one.
    func instead(of topic: String) -> String? {
        lanes.allSatisfy { $0.detours[topic] != nil } ? lanes.first?.detours[topic] : nil
    }

    private var leaders: Finding? {
        let leaderless = cluster.leaderless
        return leaderless.isEmpty
            ? nil
            : Finding(
                .partitionsWithoutLeader,
                "\(leaderless.counted) \(leaderless.count == 1 ? "has no leader and waits" : "have no leader and wait") "
                    + "(\(leaderless.names))", place: leaderless.map(\.description))
    }

    /// Which partitions are not consumed because their offsets are missing, or may be.
    private var lostOffsets: Finding? {
        let lost = lanes.flatMap(\.withoutOffsets)
        if !lost.isEmpty {
            let missing = MissingOffsets(lost, others: lanes.compactMap(\.otherGroups).first)
            return Finding(
                .offsetsMissing, "the group has \(missing.words)", place: lost.map(\.description), step: missing.remedy)
        }
        let lookedUp = lanes.flatMap(\.lookedUp)
        return lookedUp.isEmpty
            ? nil
            : Finding(
                .offsetsMissing,
                "the group has no offset for \(lookedUp.counted) (\(lookedUp.names)), and the results are read for outcomes "
                    + "of their events", place: lookedUp.map(\.description),
                step: "wait; if it lasts, the log says why they cannot be read")
    }

    /// Of request topics: what is published there is not called.
    ///
    /// With retries alone the worker delivers all that comes.
    private var lostRecords: Finding? { hasLostRequests ? losses : nil }

    private var hasLostRequests: Bool {
        lanes.flatMap(\.lostRecords).contains { report.requestTopics.contains($0.partition.topic) }
    }

    private var losses: Finding? { LostRecords(lanes.flatMap(\.lostRecords)).finding }

    /// That retries are lost, and no requests.
    var lostRetries: Finding? { hasLostRequests ? nil : losses }

    private var brokers: Finding? {
        let unusable = cluster.unusable
        guard areBrokersReachable != false, !unusable.isEmpty else { return nil }
        // Brokers come first: of a long sentence the console shows its beginning.
        let unreadable = cluster.unreadable
        let what =
            unreadable.isEmpty
            ? "written"
            : unreadable == unusable ? "written or read" : "written, and \(unreadable.counted) not read either"
        return Finding(
            .tooFewBrokers,
            "\(silentBrokers), so \(unusable.counted) cannot be \(what) (\(unusable.names))"
                + silentDuties([]),
            place: cluster.silentBrokers.map(\.description), numbers: ["partitions": unusable.count])
    }

    var silentBrokers: String {
        let brokers = cluster.silentBrokers
        guard !brokers.isEmpty else { return "brokers do not answer" }
        let names = brokers.prefix(Self.namesShown).map { $0.host.isEmpty ? "number \($0.id)" : $0.address }
        let all =
            cluster.brokerCount > brokers.count
            ? " of \(cluster.brokerCount) brokers" : brokers.count == 1 ? " broker" : " brokers"
        return
            "\(brokers.count)\(all) \(brokers.count == 1 ? "does" : "do") not answer (\(names.joined(separator: ", ")))"
    }

    /// What of theirs another broker has to take over, behind what they are named for.
    ///
    /// - Parameter led: the partitions that they lead, as far as nothing else is told of these.
    func silentDuties(_ led: [TopicPartition]) -> String {
        let isOne = cluster.silentBrokers.count == 1
        let coordinated = cluster.silentlyCoordinated.map {
            $0 == .groups ? "the group" : "transactions of this worker"
        }
        let duties =
            (led.isEmpty ? [] : ["\(isOne ? "leads" : "lead") \(led.counted) (\(led.names))"])
            + (coordinated.isEmpty
                ? [] : ["\(isOne ? "coordinates" : "coordinate") \(coordinated.joined(separator: " and "))"])
        return duties.isEmpty
            ? ""
            : "; \(isOne ? "it" : "they") \(duties.joined(separator: " and ")): that waits until another broker takes over"
    }

    // MARK: Progress: what becomes durable counts, whatever a client believes of its connections

    /// How long outcomes have waited without a commit; zero when none waits, or not for longer than they should.
    var stalledTime: Milliseconds {
        lanes.compactMap { lane in
            guard let since = lane.outcomesWaitSince else { return nil }
            let waited = now.time(since: since)
            return waited > max(Self.progressPatience, 3 * lane.commitInterval) ? waited : nil
        }.max() ?? .zero
    }

    /// The silent brokers, behind what may follow from them.
    private var brokersInDoubt: String { cluster.silentBrokers.isEmpty ? "" : "; \(silentBrokers)" }

    /// That there is no progress, and what is known about it; `nil` while there is some, or nothing to be done.
    private var standstill: Finding? {
        let cause = brokersInDoubt
        let stalled = stalledTime
        if stalled > .zero, !lanes.contains(where: { $0.refusal?.topic != nil }) {
            let what = "nothing was committed for \(stalled.wholeSeconds) s"
            if let throttling = report.throttling(of: .producer, now: now) {
                return throttling.finding(.noProgress, behind: what, now: now)
            }
            if let refused {
                return Finding(.noProgress, "\(what): \(refused.what)", place: refused.place, step: refused.step)
            }
            let events = report.lanes.filter { $0.outcomesWaitSince != nil }.reduce(0) { $0 + $1.events }
            return Finding(
                .noProgress, what + (events > 0 ? ", and \(events) events in memory wait for it" : "") + cause,
                step:
                    "look at the brokers, their disks, and what leads the group and its transactions; nothing is lost, and "
                    + "what was called is not called again unless partitions change hands: restart workers last",
                numbers: ["seconds": Int(stalled.wholeSeconds), "events": events])
        }
        let still = cluster.standingStill
        guard !still.isEmpty else { return nil }
        let what = "events wait in \(still.names), and none was taken for \(ClusterReport.standstillSeconds) s"
        if let throttling = report.throttling(of: .consumer, now: now) {
            return throttling.finding(.noProgress, behind: what, now: now)
        }
        return Finding(
            .noProgress, what + cause, place: still.map(\.description),
            step: "look at the brokers that lead these partitions; nothing is lost")
    }

    /// Which partitions wait because the brokers do not say where they begin, besides those of which more is known.
    private var unanswered: Finding? {
        let all = lanes.flatMap(\.unanswered).filter { !cluster.leaderless.contains($0.partition) }
        return all.first.map { first in
            Finding(
                .noProgress, "the brokers do not say where to begin in \(all.map(\.partition).names) (\(first.text))",
                place: all.map(\.partition.description),
                step:
                    "look at the brokers that lead these partitions, and at transactions that are open there; they are "
                    + "asked again, all others continue, and nothing is lost")
        }
    }

    private var refusal: Finding? {
        let refusals = lanes.compactMap(\.refusal).filter { !isPassing($0) && !isOver($0) }
        guard let refusal = refusals.first(where: { $0.topic != nil }) ?? refusals.first else { return nil }
        let what =
            (refusal.topic.map { "the topic \($0) refuses nearly all records" } ?? "the brokers accept no records")
            + " (\(refusal.text))" + (refusal.isSilence ? brokersInDoubt : "")
        if refusal.remedy == nil, let throttling = report.throttling(of: .producer, now: now) {
            return throttling.finding(.recordsRefused, behind: what, now: now)
        }
        var finding = Finding(
            .recordsRefused, what, place: [refusal.topic].compactMap { $0 },
            step: refusal.remedy.map { $0 + "; nothing is lost, Herald retries" })
        let applying = FindingKey.topicsDrift.entry
        if refusal.remedy == applying.step { finding.command = applying.command }
        return finding
    }

    /// Whether it follows from a silent broker, of which is told, and may be over when the leaders have moved.
    private func isPassing(_ refusal: LaneReport.Trouble) -> Bool {
        refusal.isSilence && !cluster.silentBrokers.isEmpty
            && now.time(since: refusal.since) <= Self.commitPatience
    }

    /// Whether the brokers have accepted records since, of any lane: this one waits for its turn.
    private func isOver(_ refusal: LaneReport.Trouble) -> Bool {
        let latest = refusal.latest ?? refusal.since
        return refusal.topic == nil && report.lanes.contains { ($0.meter.lastCommitAt ?? latest) > latest }
    }

    /// A record that is refused fails each commit that it is part of, and no other: that is told of it.
    private var commits: Finding? {
        let others = lanes.filter { $0.refusedRecords.isEmpty && $0.refusal?.remedy == nil }
        let troubles = others.compactMap(\.commitTrouble)
        guard let trouble = troubles.first(where: { now.time(since: $0.since) > Self.commitPatience }) else {
            return nil
        }
        let what = "offsets can't be committed (\(trouble.text))"
        return report.throttling(of: .producer, now: now)?.finding(.commitsFailing, behind: what, now: now)
            ?? Finding(.commitsFailing, what)
    }

    // MARK: The backend

    var backend: Finding? {
        let lane = lanes.first { $0.outage == nil && isUnanswered($0, calls: Self.silentCalls) }
        return lane.map {
            Finding(
                .backendUnreachable,
                "the last \($0.meter.unansweredCalls) calls had no answer (\($0.meter.lastFailure?.word ?? ""))",
                numbers: ["calls": $0.meter.unansweredCalls])
        }
    }

    /// Whether so many calls in a row had no answer, no other call was answered while the latest of them waited, and no
    /// push service is spared that was answered a short while ago: what hangs then is one push service, or users, and calls
    /// to the others wait for their places.
    private func isUnanswered(_ lane: LaneReport, calls: Int) -> Bool {
        let meter = lane.meter
        guard meter.unansweredCalls >= calls, let since = meter.unansweredSince else { return false }
        return !report.lanes.contains { other in
            other.meter.latestStatus.enumerated().contains { service, answer in
                answer.at > since
                    || meter.lastFailure == .timeout && !meter.unansweredServices.contains(service)
                        && now.time(since: answer.at) < NewestCalls.longest
            }
        }
    }

    /// Whether the backend answers, as the latest calls showed; `nil` when there were none, or when they were answered
    /// on connections that are all gone since, so that it is unknown.
    var isBackendReachable: Bool? {
        if report.outages.contains(where: \.reason.isBeyondReach) {
            return false
        }
        let called = report.lanes.filter { $0.meter.lastCallAt != nil }
        guard let latest = called.max(by: { ($0.meter.lastCallAt ?? $0.at) < ($1.meter.lastCallAt ?? $1.at) }) else {
            return nil
        }
        // Connection refused: one call is enough to know. One user's calls may hang for ever while others are answered.
        if isUnanswered(latest, calls: latest.meter.lastFailure == .refused ? 1 : Self.silentCalls) {
            return false
        }
        return latest.connections > 0 ? true : nil
    }
}
