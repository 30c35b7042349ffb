import HeraldKafka
import HeraldTools
import Testing

@Suite("The publisher of replays and campaigns")
struct TransactionalPublisherTests {
    @Test("Brokers without transactions are named as such, with what works there and what does not")
    func withoutTransactions() throws {
        let cluster = try MockCluster()
        try cluster.remove(.initProducerID)
        let failure = #expect(throws: ToolFailure.self) {
            _ = try TransactionalPublisher(
                properties: [("bootstrap.servers", cluster.bootstrapServers)], name: "p", heartbeat: .seconds(10))
        }
        let text = failure?.description ?? ""
        #expect(text.hasPrefix("the brokers have no transactions"), "\(text)")
        #expect(text.contains("delivery.guarantee: at-least-once") && text.contains("notified twice"), "\(text)")
    }
}
