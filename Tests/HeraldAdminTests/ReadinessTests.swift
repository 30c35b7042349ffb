import HeraldCore
import HeraldHTTP
import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldAdmin
@testable import HeraldWorker

@Suite("Readiness")
struct ReadinessTests {
    private static let now = Reports.now

    @Test("A worker that delivers is ready and alive")
    func ready() {
        #expect(Readiness(Reports.ready(), now: Self.now).findings == [])
        #expect(Readiness.stuckLane(Reports.ready(), now: Self.now) == nil)
    }

    private struct Case: Sendable {
        var reason: Readiness.Reason
        /// What the sentence has to name.
        var part: String
        var change: @Sendable (inout WorkerReport) -> Void
    }

    private static let cases: [Case] = [
        Case(reason: .starting, part: "starting") { $0.lanes = [] },
        Case(reason: .starting, part: "starting") { $0.lanes[0].isReady = false },
        Case(reason: .stopping, part: "finishes") { $0.isStopping = true },
        Case(reason: .stuck, part: "31 s") { $0.lanes[0].at = now.advanced(byMilliseconds: -31_000) },
        Case(reason: .brokersUnreachable, part: "_TRANSPORT") {
            $0.cluster.isReachable = false
            $0.cluster.error = "_TRANSPORT: gone"
        },
        Case(reason: .topicsMissing, part: "herald topics apply") {
            $0.cluster.missingTopics = ["notifications.results"]
        },
        Case(reason: .partitionsWithoutLeader, part: "notifications/0") { $0.cluster.leaderless = [Reports.partition] },
        Case(reason: .unassigned, part: "rebalance") { $0.lanes[0].phase = .unassigned },
        Case(reason: .recordsRefused, part: "permissions") { $0.lanes[0].refusal = .init(since: now, text: "NO") },
        Case(reason: .commitsFailing, part: "NO") {
            $0.lanes[0].commitTrouble = .init(since: now.advanced(byMilliseconds: -16_000), text: "NO")
        },
        Case(reason: .backendUnreachable, part: "backend.url") { report in
            for _ in 0..<5 {
                report.lanes[0].meter.callEnded(CallResult(failure: .timeout), service: 0, nanoseconds: 1)
            }
        },
    ]

    @Test("What is in the way is named, with what to do", arguments: cases.indices)
    func reason(index: Int) throws {
        let expected = Self.cases[index]
        let findings = Readiness(Reports.ready(expected.change), now: Self.now).findings
        #expect(findings.map(\.reason) == [expected.reason])
        #expect(try #require(findings.first).sentence.contains(expected.part))
        let isStuck = Readiness.stuckLane(Reports.ready(expected.change), now: Self.now) != nil
        #expect(isStuck == (expected.reason == .stuck), "only a lane that does not turn makes the process dead")
    }

    @Test("Each hold has a reason and the sentence of the log", arguments: HoldReason.allCases)
    func hold(reason: HoldReason) throws {
        let report = Reports.ready { $0.lanes[0].hold = HoldReport(reason, status: 404) }
        let finding = try #require(Readiness(report, now: Self.now).findings.first)
        #expect(finding.reason == .hold(reason) && finding.reason.word == "hold-\(reason.word)")
        #expect(finding.sentence == reason.sentence(status: 404) && finding.sentence.contains(": "))
        let page = ReadinessPage(report, now: Self.now).response
        #expect(page.status == 503 && String(decoding: page.body, as: UTF8.self).contains(finding.sentence))
    }

    @Test(
        "What passes by itself is no reason: a lane that has ended, one failed commit, four lost calls, a growing lag")
    func passing() {
        let report = Reports.ready { report in
            report.cluster.lagPerSecond = 100
            report.lanes[0].commitTrouble = .init(since: Self.now, text: "NO")
            for _ in 0..<4 {
                report.lanes[0].meter.callEnded(CallResult(failure: .timeout), service: 0, nanoseconds: 1)
            }
            var ended = report.lanes[0]
            ended.number = 1
            ended.hasEnded = true
            ended.at = Self.now.advanced(byMilliseconds: -100_000)
            report.lanes.append(ended)
        }
        #expect(Readiness(report, now: Self.now).findings == [])
        #expect(Readiness.stuckLane(report, now: Self.now) == nil)
        let page = ReadinessPage(report, now: Self.now).response
        #expect(page.status == 200 && String(decoding: page.body, as: UTF8.self).contains("lag-growing"))
    }

    @Test("The lag is what lies between what is done and the end")
    func lag() {
        let lags = Reports.ready().lags.map(\.offsets)
        #expect(lags == [15, 7])
        #expect(ClusterReport().lag(of: PartitionReport(Reports.partition, done: 5)) == nil)
        var cluster = ClusterReport()
        cluster.ends = [Reports.partition: 0]
        #expect(cluster.lag(of: PartitionReport(Reports.partition, done: 5)) == 0)
        #expect(cluster.lag(of: PartitionReport(Reports.partition)) == 0)
        cluster.ends = [Reports.partition: 9]
        #expect(cluster.lag(of: PartitionReport(Reports.partition)) == nil)
    }

    @Test("The lag's growth is that of the last rounds")
    func trend() {
        var trend = LagTrend(rounds: 3)
        #expect(trend.perSecond == nil)
        for (second, offsets) in [(0, 1_000), (10, 100), (20, 150), (30, 300)] as [(Int64, Int64)] {
            trend.add(offsets, at: Self.now.advanced(byMilliseconds: second * 1_000))
        }
        #expect(trend.perSecond == 10)
    }

    @Test("What clients have counted goes on when one is made anew, and their levels are the newest")
    func statistics() {
        var sum = StatisticsSum()
        var lane = LaneReport(number: 0, at: Self.now, services: 1)
        for (requests, queued) in [(10, 1), (15, 2), (3, 4)] {
            lane.statistics.producer = Array(#"{"tx":\#(requests),"msg_cnt":\#(queued)}"#.utf8)
            lane.statistics.number += 1
            sum.add([lane])
            sum.add([lane])
        }
        #expect(sum.producers.requests == 18 && sum.producers.recordsQueued == 4 && sum.consumers == ClientStatistics())
    }
}
