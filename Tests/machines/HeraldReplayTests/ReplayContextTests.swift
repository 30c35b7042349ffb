import HeraldEvents
import HeraldKafka
import HeraldTools
import Testing

@testable import HeraldReplay

@Suite("The topics that a replay may use")
struct ReplayContextTests {
    private func context(requests: [String], foreign: String? = nil, to destination: String? = nil) -> ReplayContext {
        var topics = Topics()
        topics.requests = requests
        var context = ReplayContext(
            topics: topics, readerProperties: [], writerProperties: [], auditProperties: [], decoder: RecordDecoder(),
            maximumReplays: 5, operatorName: "ann@web1")
        context.foreign = foreign.map { ForeignTopic(name: $0, destination: destination, own: topics) }
        return context
    }

    /// The decision on a letter of another program.
    private func decision(
        _ letter: DeadLetterEntry, requests: [String], to destination: String? = nil
    ) -> ReplayRules.Decision {
        let context = context(requests: requests, foreign: "orders.DLT", to: destination)
        var letter = letter
        return context.rules.decision(for: &letter, MarkIndex(), now: SampleEntry.moment)
    }

    @Test("A dead letter's header can only select request topics for reading")
    func requestOfLetter() {
        let context = context(requests: ["notifications", "notifications.bulk"])
        let own = SampleEntry.make(["herald-origin": "notifications.bulk/3/99"])
        #expect(context.request(of: own) == Origin(topic: "notifications.bulk", partition: 3, offset: 99))
        for origin in ["payroll/3/99", "notifications.audit/0/1", "notifications.dead-letter/0/1", "nonsense"] {
            #expect(context.request(of: SampleEntry.make(["herald-origin": origin])) == nil, "\(origin)")
        }
    }

    @Test("A foreign letter is replayed to a request topic only; to other topics only with --to")
    func destinationOfForeignLetter() throws {
        let letter = ForeignSample.spring()
        #expect(decision(letter, requests: ["notifications", "orders"]).topic == "orders")
        for requests in [["notifications"], ["orders.again"]] {
            let decision = decision(letter, requests: requests)
            #expect(decision == .leaveOut(.otherTopic), "\(decision)")
        }
        #expect(decision(letter, requests: ["notifications"], to: "orders").topic == "orders")
    }

    @Test(
        "Only replays to others' topics are watched for returning letters", arguments: [nil, "notifications", "orders"])
    func watched(destination: String?) {
        let context = context(requests: ["notifications"], foreign: "orders.DLT", to: destination)
        #expect(context.watchedTopic == (destination == "orders" ? "orders.DLT" : nil))
        #expect(self.context(requests: ["notifications"]).watchedTopic == nil)
    }

    @Test("Foreign letters from other topics are refused with their origins and the remedy")
    func refusalOfForeignLetter() throws {
        let context = context(requests: ["notifications"], foreign: "orders.DLT")
        var plan = ReplayPlan()
        for topic in ["orders", "orders", "payroll", "audit", "more"] {
            let letter = ForeignSample.entry([("__connect.errors.topic", ForeignSample.text(topic))])
            plan.add(letter, decision(letter, requests: ["notifications"]))
        }
        let failure = #expect(throws: ToolFailure.self) { try context.checkOrigins(of: plan) }
        #expect(
            failure?.description
                == "5 of the dead letters in orders.DLT came from topics that are not in topics.requests, such as orders, "
                + "payroll, audit: give --to TOPIC to say where they go, or leave them out (--where 'topic in "
                + "(notifications)'); nothing was replayed"
        )
        #expect(throws: Never.self) { try context.checkOrigins(of: ReplayPlan()) }
    }

    @Test("The replays' name lies outside of the workers' prefix, so that no right of a worker can end a replay")
    func transactionalID() {
        #expect(context(requests: ["notifications"]).transactionalID == "herald.dlq-notifications.dead-letter.state")
    }
}

extension ReplayRules.Decision {
    /// The topic of the replay; `nil` when it is left out.
    fileprivate var topic: String? {
        if case .replay(let replay) = self { replay.topic } else { nil }
    }
}
