import HeraldEvents
import Testing

@testable import HeraldTools

@Suite("Requests to workers")
struct WorkerSurveyTests {
    @Test(
        "A token is sent on this machine only, whatever address a member of the group claims",
        arguments: [
            ("127.0.0.1:9464", true), ("[::1]:9464", true), ("192.0.2.1:9464", false), ("[2001:db8::1]:9464", false),
            ("127.evil.example:9464", false), ("localhost.evil.example:9464", false), ("", false),
        ])
    func own(address: String, isOwn: Bool) {
        #expect(WorkerSurvey.isOwn(address) == isOwn)
    }

    @Test("What a worker warns of another push service does not concern a campaign")
    func otherService() {
        var status = WorkerStatus()
        status.warnings = [Finding(.pushServiceFailing, "all of gcm's calls fail", place: ["gcm"])]
        let statuses = [("127.0.0.1:9464", status)]
        #expect(WorkerSurvey.warning(statuses, ["apns"]) == nil)
        #expect(WorkerSurvey.warning(statuses, ["gcm", "apns"]) != nil && WorkerSurvey.warning(statuses, nil) != nil)
        status.warnings.append(Finding(.lagGrowing, "the lag grows"))
        #expect(
            WorkerSurvey.warning([("a", status)], ["apns"])?.hasPrefix("The worker at a warns: The lag grows") == true)
    }

    @Test("A worker's answer is shortened, and its control characters are inert")
    func hostile() {
        let long = String(repeating: "x", count: 100_000)
        var status = WorkerStatus()
        status.reasons = (0..<1_000).map { number in
            Finding(
                key: "r\(number)\u{202E}", .bad, title: long, "\u{1B}[2J\(long)", place: [long], step: long,
                command: [long], section: long)
        }
        status.services = (0..<1_000).map {
            WorkerStatus.Service(pns: "\($0)\u{202E}", calls: ["x\u{1B}": -1], callsPerSecond: -1)
        }
        let bounded = status.bounded
        #expect(bounded.reasons.count == 16 && bounded.services.count == 65)
        #expect(bounded.reasons[0].key == "r0\\u{202E}" && bounded.reasons[0].what.hasPrefix("\\u{1B}[2J"))
        #expect(
            bounded.reasons.allSatisfy { finding in
                ([finding.title, finding.what, finding.step, finding.section] + finding.place + finding.command)
                    .allSatisfy { $0.count < 1_100 }
            })
        #expect(bounded.services[0].pns == "0\\u{202E}" && bounded.services[0].calls == ["x\\u{1B}": 0])
        #expect(bounded.services[0].callsPerSecond == 0)
    }
}
