import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldWorker

/// The world of a simulated lane, without the parts that no simulation has.
///
/// The clients themselves never fail, and there is neither a loop nor a reader of reports. The records fetched ahead
/// are each world's own concern.
protocol SimulatedIO: LaneIO {}

extension SimulatedIO {
    var nextDeadline: MonotonicTime? { nil }

    func assign(_ positions: [(TopicPartition, offset: Int64)]) {}
    func unassign() {}
    func consumerError() -> KafkaError? { nil }

    func openQueues(_ count: Int) {}
    func forward(_ partition: TopicPartition, to queue: Int) {}
    func nextUnforwarded() -> Record? { nil }
    var fetchedBytes: Int { 0 }
    func retainQueue(_ queue: Int) {}
    func dropRetained(_ queue: Int) {}
    func seek(_ partition: TopicPartition, to offset: Int64) {}
    func pause(_ partition: TopicPartition) {}
    func resume(_ partition: TopicPartition) {}
    func findRange(of partition: TopicPartition, _ question: RangeQuestion, after pause: Milliseconds) {}
    func readCaps(of homes: [Int32], assignment: Int) {}
    func readBatch(of partition: TopicPartition, _ question: RangeQuestion) {}
    func emptyRecord(of partition: TopicPartition, at offset: Int64) -> Record.Retained {
        preconditionFailure("a simulated client says what it can't read")
    }

    func use(_ settings: LaneSettings) {}
    func redact(_ detail: String, hiding text: RawSpan, named name: String) -> String { detail }
    func credentialsRefused(sentAt: MonotonicTime, isInOutage: Bool) {}

    func announce(_ notice: Notice, outage: Outage?) {}
    func announceTroubles(_ counters: Counters, since before: Counters, now: MonotonicTime) {}
    func pauseCampaign(_ failures: CampaignFailures) {}
    func leave(_ report: LaneReport) -> Bool { true }
    func isBroken(_ what: StaticString) { fatalError("\(what)") }

    func beginClosing() {}
    var isClosed: Bool { true }
    func wait(timeout: Milliseconds) -> LaneEvents { [] }
    func close(_ report: LaneReport) {}
}

/// The same without a transactional producer.
protocol PlainIO: SimulatedIO {}

extension PlainIO {
    func prepareProducer() {}
    func renewProducer() {}
    func producerError() -> KafkaError? { nil }
    func beginTransaction() {}
    func commitTransaction(_ sequence: UInt64, _ positions: [CommitPosition], by member: Member?) {}
    func abortTransaction() {}
    func giveUpRecords() {}
    func resolveCommit(_ sequence: UInt64, _ positions: [CommitPosition]) {}
}

extension EndedCall {
    init(_ result: CallResult, at now: MonotonicTime) {
        self.init(result, sentAt: now, durationNanoseconds: result.duration.nanoseconds)
    }
}
