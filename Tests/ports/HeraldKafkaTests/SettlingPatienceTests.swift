import HeraldKafka
import HeraldThreads
import Testing

@Suite("Waiting for leaders, coordinators and topics")
struct SettlingPatienceTests {
    /// Answers with errors until there are none left.
    private final class Broker {
        private var errors: [Int32]
        private(set) var count = 0

        init(_ errors: [Int32]) { self.errors = errors.reversed() }

        func ask() throws(KafkaError) -> String {
            count += 1
            guard let error = errors.popLast() else { return "answer" }
            throw KafkaError(code: error)
        }
    }

    private static let loading = KafkaError.Code.coordinatorLoadInProgress

    @Test("A query is repeated until it is answered, and a lasting error is thrown at once")
    func answered() throws {
        let broker = Broker([Self.loading, KafkaError.Code.leaderNotAvailable])
        #expect(try SettlingPatience(.seconds(60)).outwait(broker.ask) == "answer")
        #expect(broker.count == 3)
        let forbidding = Broker([Self.loading, KafkaError.Code.groupAuthorizationFailed])
        #expect(throws: KafkaError.self) { try SettlingPatience(.seconds(60)).outwait(forbidding.ask) }
        #expect(forbidding.count == 2)
    }

    @Test("All queries share one time: a leader that never appears costs it once, and is reported once")
    func shared() {
        let said = Guarded<[KafkaError]>([])
        let patience = SettlingPatience(.milliseconds(250), sayingAfter: .milliseconds(50)) { error, left in
            #expect(left > .zero && left <= .milliseconds(250))
            said.withLock { $0.append(error) }
        }
        let properties = ClientProperties([], settling: patience)
        let first = Broker(Array(repeating: Self.loading, count: 1_000))
        #expect(throws: KafkaError.self) { try properties.outwaiting(within: .seconds(60), first.ask) }
        #expect(first.count > 1 && first.count < 1_000)
        for _ in 0..<3 {
            let next = Broker(Array(repeating: KafkaError.Code.notCoordinator, count: 1_000))
            #expect(throws: KafkaError.self) { try properties.outwaiting(within: .seconds(60), next.ask) }
            #expect(next.count == 1)
        }
        #expect(said.withLock { $0.map(\.code) } == [Self.loading])
    }

    @Test("A query within another spends the time once")
    func nested() throws {
        let patience = SettlingPatience(.seconds(60))
        patience.shorten(to: .milliseconds(250))
        let broker = Broker(Array(repeating: Self.loading, count: 1_000))
        #expect(throws: KafkaError.self) {
            try patience.outwait { () throws(KafkaError) in try patience.outwait(broker.ask) }
        }
        #expect(broker.count < 10)
    }

    @Test("Without a shared time, or after its end, each query has its caller's")
    func own() throws {
        let patience = SettlingPatience(.zero)
        let properties = ClientProperties([], settling: patience)
        #expect(throws: KafkaError.self) {
            try properties.outwaiting(within: .seconds(60), Broker([Self.loading]).ask)
        }
        patience.end()
        #expect(try properties.outwaiting(within: .seconds(60), Broker([Self.loading]).ask) == "answer")
        #expect(try ClientProperties([]).outwaiting(within: .seconds(60), Broker([Self.loading]).ask) == "answer")
    }

    @Test("Properties with additions or omissions share the same time")
    func properties() {
        let patience = SettlingPatience(.zero)
        let properties = (ClientProperties([("a", "1")], settling: patience) + [("b", "2")]).without(["a"])
        #expect(properties.settling === patience)
        #expect(properties.unnoted.settling == nil)
    }
}
