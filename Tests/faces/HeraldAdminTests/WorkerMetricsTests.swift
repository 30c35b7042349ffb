import Foundation
import HeraldBackend
import HeraldCore
import HeraldEvents
import HeraldTelemetry
import HeraldTime
import TestSupport
import Testing

@testable import HeraldAdmin
@testable import HeraldWorker

@Suite("The metrics of a worker")
struct WorkerMetricsTests {
    private static let facts = ProcessFacts(
        facts: AdminServer.Facts(version: "0.1", kafkaVersion: "2.0.2", droppedLogLines: { 0 }),
        certificate: ClientCertificate.Facts(
            inUseUntil: WallTime(milliseconds: 1_800_000_000_000),
            inFileUntil: WallTime(milliseconds: 1_900_000_000_000)),
        usage: ProcessUsage.current())

    private func text(_ format: MetricsFormat, _ report: WorkerReport = Reports.ready()) -> String {
        let now = Moment(monotonic: Reports.now, wall: Reports.wall)
        return String(decoding: WorkerMetrics.text(report, Self.facts, format, now: now), as: UTF8.self)
    }

    @Test(
        "Samples have the lanes' values",
        arguments: [
            #"herald_notifications_total{pns="apns",outcome="delivered"} 1"#,
            #"herald_notifications_total{pns="",outcome="dead-lettered"} 1"#,
            #"herald_calls_total{pns="gcm",result="timeout"} 1"#,
            #"herald_end_to_end_seconds_count{topic="notifications"} 1"#,
            #"herald_end_to_end_seconds_count{topic="notifications.bulk"} 0"#,
            #"herald_end_to_end_seconds_count{topic=""} 1"#,
            #"herald_end_to_end_seconds_sum{topic="notifications"} 0.02"#,
            #"herald_end_to_end_seconds_bucket{topic="notifications",le="0.025"} 1"#,
            #"herald_oldest_event_age_seconds{topic="notifications"} 4.0"#,
            #"herald_oldest_event_age_seconds{topic="notifications.bulk"} 90.5"#,
            #"herald_oldest_event_age_seconds{topic=""} 0.0"#,
            #"herald_consumer_lag{topic="notifications",partition="0"} 15"#, #"herald_retry_backlog{delay="5s"} 7"#,
            #"herald_outage{reason="dead-letter-breaker"} 1"#, #"herald_outage{reason="credentials"} 0"#,
            "herald_limit_inflight 40",
            "herald_certificate_expiry_time_seconds 1800000000.0",
            #"herald_limit_calls_per_second{pns="apns"} 500.0"#, #"herald_limit_calls_per_second{pns="gcm"} +Inf"#,
            #"herald_build_info{version="0.1",librdkafka="2.0.2"} 1"#, "herald_ready 0", "herald_partitions_assigned 2",
        ])
    func samples(line: String) {
        let report = Reports.ready { $0.lanes[0].outage = OutageReport(.deadLetterBreaker, status: 404) }
        #expect(text(.prometheusText, report).split(separator: "\n").contains(line[...]))
    }

    @Test("The oldest event is the oldest of all lanes, and of events that no lane has consumed")
    func oldestEvent() {
        func age(_ change: (inout WorkerReport) -> Void) -> [Int64] {
            Reports.ready(change).oldestEventAges(now: Moment(monotonic: Reports.now, wall: Reports.wall)).map(\.count)
        }
        #expect(age { _ in } == [4_000, 90_500, 0])
        #expect(age { $0.lanes = [] } == [0, 0, 0], "nothing is known before the lanes start")
        let older = Reports.wall.advanced(by: .seconds(-100))
        let twoLanes = age {
            $0.lanes.append($0.lanes[0])
            $0.lanes[1].oldestEvents[1] = older
        }
        #expect(twoLanes == [4_000, 100_000, 0])
        // Seen for ten seconds, without consumption.
        let unread = PartitionReport(Reports.partition, done: 90)
        #expect(
            age {
                $0.cluster.backlog.note(
                    [unread], ends: [Reports.partition: 105], at: Reports.now.advanced(by: .seconds(-10)))
            } == [10_000, 90_500, 0])
        let ahead = Reports.wall.advanced(by: .seconds(5))
        #expect(age { $0.lanes[0].oldestEvents = [ahead, nil, nil] } == [0, 0, 0], "clocks differ")
    }

    @Test(
        "Every metric is written in both formats, once, even before there are lanes", arguments: MetricsFormat.allCases)
    func everyMetric(format: MetricsFormat) {
        for report in [Reports.ready(), Reports.ready { $0.lanes = [] }] {
            let lines = text(format, report).split(separator: "\n")
            for metric in WorkerMetrics.declarations {
                let name = format == .openMetrics ? metric.name : metric.sampleName
                #expect(lines.count { $0.hasPrefix("# HELP \(name) ") } == 1, "\(name)")
                #expect(lines.count { $0.hasPrefix("# TYPE \(name) ") } == 1, "\(name)")
            }
        }
    }

    @Test("Names and units follow Prometheus' and OpenMetrics' rules")
    func names() {
        #expect(Set(WorkerMetrics.declarations.map(\.name)).count == WorkerMetrics.declarations.count)
        for metric in WorkerMetrics.declarations {
            #expect(!metric.name.hasSuffix("_total") && !metric.name.hasSuffix("_info"), "\(metric.name)")
            #expect(metric.name.hasPrefix("herald_") || metric.name.hasPrefix("process_"), "\(metric.name)")
            for unit in [MetricDeclaration.Unit.seconds, .bytes] {
                #expect(metric.name.hasSuffix("_\(unit.rawValue)") == (metric.unit == unit), "\(metric.name)")
            }
            #expect(metric.help.hasSuffix(".") && metric.help.first?.isUppercase == true, "\(metric.name)")
        }
    }

    @Test("docs/METRICS.md has each metric with its kind, labels and the words of its declaration, and no other")
    func documentation() throws {
        let file = Repository.root.appending(path: "docs/METRICS.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let rows = WorkerMetrics.declarations.map { metric in
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(metric.sampleName)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |"
        }
        let found = lines.filter { $0.hasPrefix("| `herald_") || $0.hasPrefix("| `process_") }.map { String($0) }
        #expect(found == rows, "the table has to be:\n\(rows.joined(separator: "\n"))")
    }

    @Test("Each target's outage appears in the documents")
    func targetOutages() throws {
        func text(_ name: String) throws -> String {
            try String(contentsOf: Repository.root.appending(path: "docs/\(name)"), encoding: .utf8)
        }
        let (backend, metrics, runbook) = (try text("BACKEND.md"), try text("METRICS.md"), try text("RUNBOOK.md"))
        for word in TargetOutage.all.map(\.word) {
            #expect(backend.contains("`\(word)`") && metrics.contains("`outage-\(word)`"), "\(word)")
            #expect(runbook.contains("\n### outage-\(word)\n"), "\(word)")
        }
    }

    @Test("promtool finds no fault", .promtool)
    func promtool() throws {
        let report = Reports.ready { $0.lanes[0].outage = OutageReport(.breaker) }
        let complaints = try Promtool.check(text(.prometheusText, report))
        #expect(complaints == "")
    }
}
