import HeraldCore
import HeraldKafka
import HeraldTime
import HeraldWorker

/// Judging by progress: what becomes durable counts, whatever a client believes of its connections.
extension Readiness {
    /// How long outcomes have waited without a commit; zero when none waits, or not for longer than they should.
    static func stalledTime(_ report: WorkerReport, now: MonotonicTime) -> Milliseconds {
        report.lanes.filter { !$0.hasEnded }.compactMap { lane in
            guard let since = lane.outcomesWaitSince else { return nil }
            let waited = now.time(since: since)
            return waited > max(progressPatience, 3 * lane.commitInterval) ? waited : nil
        }.max() ?? .zero
    }

    /// That there is no progress, and what is known about it; `nil` while there is some, or nothing to be done.
    static func standstill(_ report: WorkerReport, now: MonotonicTime) -> String? {
        let cluster = report.cluster
        let cause = cluster.silentBrokers.isEmpty ? "" : "; \(silent(cluster))"
        let stalled = stalledTime(report, now: now)
        if stalled > .zero, let throttling = report.throttling(of: .producer, now: now) {
            return "Nothing was committed for \(stalled.wholeSeconds) s. \(throttling.sentence(now: now))"
        }
        if stalled > .zero {
            let events = report.lanes.filter { $0.outcomesWaitSince != nil }.reduce(0) { $0 + $1.events }
            return
                "Nothing was committed for \(stalled.wholeSeconds) s, and \(events) events in memory wait for it\(cause): look "
                + "at the brokers, their disks, and what leads the group and its transactions; nothing is lost. What "
                + "was called is called again only where partitions change hands before it is recorded: do not restart workers."
        }
        guard !cluster.standingStill.isEmpty else { return nil }
        let events =
            "Events wait in \(cluster.standingStill.names), and none was taken for \(ClusterReport.standstillSeconds) s"
        if let throttling = report.throttling(of: .consumer, now: now) {
            return "\(events). \(throttling.sentence(now: now))"
        }
        return
            "\(events)\(cause): look at the brokers that lead these partitions; nothing is lost."
    }

    /// Why nothing is consumed although the worker is a member of its group.
    static func unassigned(_ lanes: [LaneReport], now: MonotonicTime) -> String {
        let begun = lanes.filter { $0.phase == .unassigned }.compactMap(\.beginning)
        guard let first = begun.min(by: { $0.since < $1.since }) else {
            return
                "The group has given out no partitions yet: wait for the rebalance to end; when it lasts, look for a "
                + "member of the group that hangs."
        }
        let number = begun.reduce(0) { $0 + $1.partitions }
        let count = number == 1 ? "1 partition" : "\(number) partitions"
        let trouble = begun.compactMap(\.trouble).first.map { "; the brokers answered: \($0)" } ?? ""
        return
            "The worker has read the history of \(count) for \(now.time(since: first.since).wholeSeconds) s: what was "
            + "committed, where the dedupe window begins, and the dead letters of that window\(trouble). Wait; when it lasts, "
            + "the log says why."
    }

    /// Which partitions wait because the brokers do not say where they begin, besides those of which more is known.
    static func unanswered(_ lanes: [LaneReport], besides known: [TopicPartition]) -> String? {
        let all = lanes.flatMap(\.unanswered).filter { !known.contains($0.partition) }
        guard let first = all.first else { return nil }
        return
            "The brokers do not say where to begin in \(all.map(\.partition).names) (\(first.text)): look at the brokers that "
            + "lead these partitions, and at transactions that are open there; they are asked again, all others continue, and "
            + "nothing is lost."
    }

    /// Which brokers do not answer.
    static func silent(_ cluster: ClusterReport) -> String {
        let brokers = cluster.silentBrokers
        guard !brokers.isEmpty else { return "brokers do not answer" }
        let names = brokers.prefix(namesShown).map(\.description).joined(separator: ", ")
        return brokers.count == 1 ? "broker \(names) does not answer" : "brokers \(names) do not answer"
    }
}
