import HeraldBackend
import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTime

extension Lane {
    /// A report is left this often (milliseconds).
    static let reportInterval: Int64 = 250
    /// How far partitions are is looked at this often (milliseconds).
    static let progressInterval: Int64 = 1_000

    /// Leaves a report for others.
    func leaveReport(now: MonotonicTime) {
        tellTroubles(now: now)
        lookAtStatistics()
        if now >= nextProgress || partitionReports.count != engine.progress.count {
            nextProgress = now.advanced(byMilliseconds: Self.progressInterval)
            partitionReports = progress()
        }
        records.take(configuration.limits)
        // Somebody reads: a turn later, then.
        guard board.leave(report(now: now)) else { return }
        nextReport = now.advanced(byMilliseconds: Self.reportInterval)
    }

    /// Says what has become of events since the last time.
    private func tellTroubles(now: MonotonicTime) {
        troubles.note(engine.counters.troubles(since: told, services: pushServiceNames.count), now: now)
        told = engine.counters
    }

    /// The last report of all.
    func leaveLastReport() {
        tellTroubles(now: SystemClock.monotonic())
        partitionReports = []
        var last = report(now: SystemClock.monotonic())
        last.hasEnded = true
        last.hold = nil
        board.leaveLast(last)
    }

    private func report(now: MonotonicTime) -> LaneReport {
        var report = LaneReport(number: configuration.number, at: now, services: pushServiceNames.count)
        report.isReady = isSubscribed
        report.phase = engine.phase
        report.hold = engine.hold.map { HoldReport($0.reason, status: $0.status) }
        report.inFlightLimit = engine.inFlightLimit
        report.rateLimits = pushServiceNames.indices.map { engine.rateLimit(ofService: $0) }
        report.counters = engine.counters
        report.meter = meter
        (report.calls, report.events, report.records) = engine.load
        report.connections = calls.connectionCount
        report.partitions = partitionReports
        report.refusal = refusal
        report.commitTrouble = commitTrouble
        report.statistics = statistics
        return report
    }

    private func progress() -> [PartitionReport] {
        engine.progress.map { place in
            let partition = TopicPartition(topic: place.topic, partition: place.number)
            return PartitionReport(
                partition, delay: configuration.topics.delay(ofTopic: place.topic)?.description, done: place.done)
        }
    }

    private func lookAtStatistics() {
        if let text = consumer.takeStatistics() {
            statistics.consumer = text
            statistics.number += 1
        }
        if let text = records.client.takeStatistics() {
            statistics.producer = text
            statistics.number += 1
        }
    }

    /// Notes how a commit ended.
    func noteCommit(_ outcome: CommitOutcome, _ error: KafkaError?) {
        let now = SystemClock.monotonic()
        meter.commitEnded(outcome, now: now)
        if outcome == .acknowledged {
            commitTrouble = nil
            refusal = nil
        } else {
            commitTrouble = .init(since: commitTrouble?.since ?? now, text: "\(error?.description ?? "no answer")")
        }
    }
}
