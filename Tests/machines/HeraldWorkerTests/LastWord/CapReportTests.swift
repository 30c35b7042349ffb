import HeraldEvents
import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldWorker

@Suite("Caps that are being read")
struct CapReportTests {
    private func finding(
        _ trouble: CapReport.Trouble?, of partitions: [Int32] = [3], after seconds: Int64 = 6
    ) -> Finding? {
        let report = CapReport(
            topic: "caps", partitions: partitions, since: MonotonicTime(nanoseconds: 0), trouble: trouble)
        return report.finding(after: .seconds(5), now: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
    }

    @Test("are a finding once it takes too long, with the partitions, why, and what to do")
    func findings() {
        #expect(finding(nil, after: 5) == nil)
        let slow = finding(nil)
        #expect(slow?.key == FindingKey.preferencesBehind.rawValue)
        #expect(
            slow?.what.hasPrefix("the caps of partition 3 are not known, because they are being read for 6 s:") == true)
        let few = finding(.tooFew(2), of: [2, 3])
        #expect(few?.what.contains("caps of partitions 2, 3") == true)
        #expect(few?.what.contains("caps has only 2 partitions") == true)
        #expect(few?.step == "run `herald topics apply`")
        let missing = finding(.unreadable(KafkaError(code: KafkaError.Code.unknownTopicOrPartition)))
        #expect(missing?.what.contains("caps is not there") == true)
        let forbidden = finding(.unreadable(KafkaError(code: KafkaError.Code.topicAuthorizationFailed)))
        #expect(forbidden?.step.contains("Write") == true)
    }
}
