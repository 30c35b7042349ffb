import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldWorker

@testable import HeraldCore

/// Reports in the form that lanes leave them.
enum Reports {
    static let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    static let wall = WallTime(milliseconds: 1_800_000_000_000)
    static let partition = TopicPartition(topic: "notifications", partition: 0)
    static let wishes = TopicWishes(
        names: Topics(), retryDelays: [], partitions: 1, replication: nil, retention: .days(7), maxElapsed: .days(1),
        eventBytes: 65_536)
    static let retry = TopicPartition(topic: "notifications.retry.5s", partition: 0)

    /// A worker that delivers.
    static func ready(_ change: (inout WorkerReport) -> Void = { _ in }) -> WorkerReport {
        var lane = LaneReport(number: 0, at: now, services: 2, requestTopics: 2)
        lane.isReady = true
        lane.phase = .taking
        lane.partitions = [
            PartitionReport(partition, done: 90), PartitionReport(retry, delay: "5s", done: 3),
        ]
        lane.oldestEvents = [
            wall.advanced(by: .seconds(-4)), wall.advanced(by: .milliseconds(-90_500)), nil,
        ]
        lane.inFlightLimit = 40
        lane.rateLimits = [500, nil]
        lane.counters.count(.delivered, service: 0, of: 0, after: .milliseconds(20))
        lane.counters.count(.deadLettered, service: nil, of: 2, after: .milliseconds(20))
        lane.counters.count(.unanswered(.timeout), service: 1)
        var cluster = ClusterReport()
        cluster.isReachable = true
        cluster.ends = [partition: 105, retry: 10]
        var report = WorkerReport(
            pushServices: ["apns", "gcm"], requestTopics: ["notifications", "notifications.bulk"], lanes: [lane],
            cluster: cluster)
        change(&report)
        return report
    }
}
