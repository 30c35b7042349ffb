import Foundation
import HeraldEvents
import HeraldHTTP
import HeraldTime
import HeraldWorker
import Testing

@testable import HeraldAdmin
@testable import HeraldKafka
@testable import HeraldTools

@Suite("A worker's page /status")
struct StatusPageTests {
    private func status(_ report: WorkerReport) throws -> WorkerStatus {
        let facts = AdminServer.Facts(version: "1.2", kafkaVersion: "2", droppedLogLines: { 0 })
        let page = StatusPage(report, now: Reports.now)
            .status(
                ProcessFacts(facts: facts, certificate: nil, usage: nil),
                now: Moment(monotonic: Reports.now, wall: Reports.wall))
        #expect(page.status == 200)
        return try JSONDecoder().decode(WorkerStatus.self, from: Data(page.body))
    }

    @Test("has the data for the console: counts and limits of each push service, and the time to outcomes")
    func numbers() throws {
        let status = try status(Reports.ready { $0.group = "g" })
        #expect(status.isReady && status.warnings.isEmpty && status.version == "1.2" && status.startSeconds == nil)
        #expect(status.group.name == "g" && status.group.member && status.assignment.partitions == 2)
        #expect(status.inFlightLimit == 40 && status.oldestSeconds == 90.5 && status.outages == [])
        let expected: [WorkerStatus.Service] = [
            .init(pns: "apns", notifications: ["delivered": 1], calls: [:], callsPerSecond: 500),
            .init(pns: "gcm", calls: ["timeout": 1]), .init(pns: "", notifications: ["dead-lettered": 1]),
        ]
        #expect(status.services == expected)
        #expect(status.endToEnd.first { $0.withinSeconds == 0.025 }?.count == 2)
        #expect(status.endToEnd.last == .init(withinSeconds: nil, count: 2))
        #expect(status.endToEnd.first?.count == 0)
    }

    @Test("has the findings of /readyz with all that their display needs")
    func findings() throws {
        let report = Reports.ready {
            $0.lanes[0].outage = OutageReport(.tls)
            $0.lanes[0].outageSince = Reports.wall
            $0.cluster.strangers = [.init(clientID: "report-job", host: "/10.0.0.7", partitionCount: 3)]
            $0.cluster.leaderless = [Reports.partition]
        }
        let readiness = Readiness(report, now: Reports.now)
        let status = try status(report)
        #expect(status.reasons == readiness.reasons && status.warnings == readiness.warnings)
        #expect(status.reasons.map(\.key) == ["partitions-without-leader", "outage-tls"])
        #expect(status.reasons.first?.place == ["notifications/0"] && status.reasons.last?.since == Reports.wall)
        #expect(status.outages == ["tls"])
    }
}
