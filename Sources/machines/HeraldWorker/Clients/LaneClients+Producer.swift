import Dispatch
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// Records that are written, and transactions.
extension LaneClients {
    func prepareProducer() {
        transactionCalls?.close()
        let calls = TransactionCalls(client: producer.client, queue: transactionQueue) { [mailbox] in
            mailbox.post(.transaction($0))
        }
        transactionCalls = calls
        calls.prepare()
    }

    func renewProducer() throws(KafkaError) {
        let former = producer
        producer = try RecordProducer(configuration: configuration)
        producer.client.notify(producerWakeup)
        // Releasing a client waits for its threads.
        transactionQueue.async { former.client.close() }
        prepareProducer()
    }

    func produce(
        _ id: ProductionID, _ production: Production, key: RawSpan?, value: RawSpan?, headers: HeaderList?
    ) -> ProduceAnswer {
        producer.produce(production, key: key, value: value, headers: headers, token: id.rawValue)
    }

    func deliveries(_ body: (ProductionID, KafkaError?) -> Void) {
        _ = producer.client.deliveries { token, error in body(ProductionID(rawValue: token), error) }
    }

    func producerError() -> KafkaError? {
        let (notices, _) = producer.client.takeNotices()
        for notice in notices { troubles.kafka(notice, now: SystemClock.monotonic()) }
        return producer.client.fatalError()
    }

    func beginTransaction() throws(KafkaError) { try producer.client.beginTransaction() }

    func commitTransaction(_ sequence: UInt64, _ positions: [CommitPosition], by member: GroupMetadata?) {
        transactionCalls?.commit(sequence, positions, group: member)
    }

    func abortTransaction() { transactionCalls?.abort() }

    func giveUpRecords() { producer.client.purgeQueue() }

    func resolveCommit(_ sequence: UInt64, _ positions: [CommitPosition]) {
        transactionCalls?.lookUp(sequence, positions, queries: consumer.queries)
    }
}
