import HeraldEvents
import HeraldKafka
import Testing

@testable import HeraldReplay

@Suite("What a replay may touch")
struct ReplayContextTests {
    private func context(requests: [String]) -> ReplayContext {
        var topics = Topics()
        topics.requests = requests
        return ReplayContext(
            topics: topics, readerProperties: [], writerProperties: [], auditProperties: [], decoder: RecordDecoder(),
            maximumReplays: 5, operatorName: "ann@web1")
    }

    @Test("A dead letter's header makes nobody read another topic than those of requests")
    func requestOfLetter() {
        let context = context(requests: ["notifications", "notifications.bulk"])
        let own = SampleEntry.make(["herald-origin": "notifications.bulk/3/99"])
        #expect(context.request(of: own) == Origin(topic: "notifications.bulk", partition: 3, offset: 99))
        for origin in ["payroll/3/99", "notifications.audit/0/1", "notifications.dead-letter/0/1", "nonsense"] {
            #expect(context.request(of: SampleEntry.make(["herald-origin": origin])) == nil, "\(origin)")
        }
    }

    @Test("The replays' name lies outside of the workers' prefix, so that no worker's rights end a replay")
    func transactionalID() {
        #expect(context(requests: ["notifications"]).transactionalID == "herald.dlq-notifications.dead-letter.state")
    }
}
