package import HeraldCore
package import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// Everything that a ``Lane`` reaches beyond its own memory: the group, records, a producer, the backend, clocks,
/// randomness and people.
///
/// A worker's lane has ``LaneClients``, specialised when it is compiled; the simulation (`Tests/Simulation`) runs the
/// same lane over a cluster and a backend in memory. Nothing here blocks: long work is begun, and its outcome comes as
/// a ``LaneMessage`` or through a method that takes a body. All of it is called on the lane's thread.
package protocol LaneIO: AnyObject {
    /// A record from the consumer.
    associatedtype Record: LaneRecord
    /// The identity of this member of the group in one generation.
    associatedtype Member

    // MARK: Time, chance, messages

    /// The time on both clocks.
    var now: Moment { get }
    /// The time at which ``answers(_:)`` may have a call's end although nothing arrives.
    var nextDeadline: MonotonicTime? { get }
    /// Random bits for jitter.
    func entropy() -> UInt64
    /// The messages since the last time.
    func drainMessages() -> [LaneMessage]

    // MARK: The group

    /// Joins the group.
    func subscribe() throws(KafkaError)
    /// The oldest rebalance that was not taken yet.
    func takeRebalance() -> Rebalance?
    /// Finds the starts of these partitions, after a pause (milliseconds): ``LaneMessage/starts(assignment:_:)``.
    ///
    /// A partition that begins at its first record has that committed before.
    func findStarts(of partitions: [TopicPartition], assignment: Int, after pause: Milliseconds)
    /// Fetches exactly these partitions from these offsets; records fetched before, or taken out of a queue, are void.
    func assign(_ positions: [(TopicPartition, offset: Int64)]) throws(KafkaError)
    /// Gives back all partitions, and the queues of ``openQueues(_:)``.
    func unassign() throws(KafkaError)
    /// This member's present identity.
    func member() -> Member?
    /// The own identity of the cluster that assigned the partitions; `nil` where brokers do not say it.
    var clusterID: String? { get }
    /// Sends a commit without a transaction; its outcome comes through ``commitOutcomes(_:)``, or at once when it cannot be
    /// sent.
    func commit(_ sequence: UInt64, _ positions: [CommitPosition]) -> KafkaError?
    /// Calls `body` with every outcome that has arrived.
    func commitOutcomes(_ body: (UInt64, KafkaError?) -> Void)
    /// The error after which the consumer is unusable, if any.
    func consumerError() -> KafkaError?

    // MARK: Records

    /// Makes a queue for each of the engine's sources.
    func openQueues(_ count: Int)
    /// Sends the partition's records to this queue from now on.
    func forward(_ partition: TopicPartition, to queue: Int)
    /// The next record, or error, of a queue.
    func next(from queue: Int) -> Record?
    /// The next record that came before its partition was forwarded.
    func nextUnforwarded() -> Record?
    /// Names each queue that was empty and has filled since the last time, or, if asked for, each that has anything.
    ///
    /// A queue is named again only after it was found empty by ``next(from:)``.
    func filledQueues(all: Bool, _ body: (Int) -> Void)
    /// The number of records in each queue.
    var queueCounts: [Int] { get }
    /// The number of bytes fetched so far.
    var fetchedBytes: Int { get }
    /// Takes the records out of a queue; they are handed out first.
    func retainQueue(_ queue: Int)
    /// Gives up the records taken out of a queue.
    func dropRetained(_ queue: Int)
    /// Fetches a partition again from this offset.
    func seek(_ partition: TopicPartition, to offset: Int64) throws(KafkaError)
    /// Stops fetching a partition, which invalidates the records in its queue.
    func pause(_ partition: TopicPartition) throws(KafkaError)
    /// Resumes fetching it.
    func resume(_ partition: TopicPartition) throws(KafkaError)
    /// Finds the range of a partition: ``LaneMessage/range(_:_:_:)``.
    func findRange(of partition: TopicPartition, _ question: RangeQuestion, after pause: Milliseconds)
    /// Finds out, with another client, whether a partition is readable from the wanted offset:
    /// ``LaneMessage/batch(_:_:_:)``.
    func readBatch(of partition: TopicPartition, _ question: RangeQuestion)
    /// Reads what caps count of these home partitions: ``LaneMessage/caps(assignment:_:)``, then
    /// ``LaneMessage/capsRead(assignment:_:)``.
    func readCaps(of homes: [Int32], assignment: Int)
    /// The placeholder in a slot for unreadable records.
    func emptyRecord(of partition: TopicPartition, at offset: Int64) -> Record.Retained

    // MARK: The producer

    /// Makes the transactional producer ready: ``TransactionReport/ready``.
    func prepareProducer()
    /// Replaces the producer with a new one, and makes it ready.
    func renewProducer() throws(KafkaError)
    /// Offers a record, of which nothing is kept when this returns.
    ///
    /// - Parameter headers: `nil` for a result or a record of caps, which have none.
    func produce(
        _ id: ProductionID, _ production: Production, key: RawSpan?, value: RawSpan?, headers: HeaderList?
    ) -> ProduceAnswer
    /// Calls `body` with the outcomes of accepted records; in a transaction only with failures, because its commit
    /// stands for all others.
    func deliveries(_ body: (ProductionID, KafkaError?) -> Void)
    /// The error after which the producer is unusable, if any.
    func producerError() -> KafkaError?
    /// Opens a transaction.
    func beginTransaction() throws(KafkaError)
    /// Commits it with these offsets, for this member; the same number again continues the same commit.
    func commitTransaction(_ sequence: UInt64, _ positions: [CommitPosition], by member: Member?)
    /// Aborts it.
    func abortTransaction()
    /// Gives up the records that no broker has been sent: the commit under way fails by that, and does not wait for them.
    func giveUpRecords()
    /// Finds out whether a commit was made: then the group's offsets equal its positions.
    func resolveCommit(_ sequence: UInt64, _ positions: [CommitPosition])

    // MARK: The backend

    /// These settings count from now on; calls for which there is no connection wait.
    func use(_ settings: LaneSettings)
    /// Begins a call, of whose arguments nothing is kept when this returns.
    ///
    /// - Parameters:
    ///   - event: the record's content, as places in `value`.
    ///   - traceparent: the call's own, in place of the event's; empty without one.
    func call(
        _ token: CallToken, now: Moment, event: borrowing DecodedEvent, value: RawSpan, traceparent: [UInt8])
    /// Calls `body` with every call that has ended.
    func answers(_ body: (CallToken, inout EndedCall) -> Void)
    /// A backend's answer, without a text that was sent: the message, or another by its name.
    func redact(_ detail: String, hiding text: RawSpan, named name: String) -> String
    /// Notes a refused call that began at this moment, during an outage because of credentials or not.
    func credentialsRefused(sentAt: MonotonicTime, isInOutage: Bool)
    /// Renews the credentials: ``LaneMessage/credentialsRenewed``.
    func renewCredentials()

    // MARK: People

    /// Logs a notice, one line at each change; `outage` is why nothing is taken now.
    func announce(_ notice: Notice, outage: Outage?)
    /// Logs the events' troubles periodically.
    func announceTroubles(_ counters: Counters, since before: Counters, now: MonotonicTime)
    /// Has a campaign paused, because too many of its events failed.
    func pauseCampaign(_ failures: CampaignFailures)
    /// Leaves a report for other threads; false while one of them reads the former.
    func leave(_ report: LaneReport) -> Bool
    /// Reports an impossible order of the engine: a mistake in Herald.
    func isBroken(_ what: StaticString)

    // MARK: The end

    /// Begins to leave the group.
    func beginClosing() throws(KafkaError)
    /// Whether the group is left.
    var isClosed: Bool { get }
    /// Waits until something arrives, at most for this long (milliseconds).
    func wait(timeout: Milliseconds) -> LaneEvents
    /// Releases everything, leaving the last report.
    func close(_ report: LaneReport)
}

/// The sources of events that woke a lane.
package struct LaneEvents: OptionSet, Sendable {
    package var rawValue: UInt8
    /// Records, rebalances or outcomes of commits.
    package static let consumer = LaneEvents(rawValue: 1)
    /// Acknowledgements of records.
    package static let producer = LaneEvents(rawValue: 2)
    /// Messages from outside of the lane's thread.
    package static let messages = LaneEvents(rawValue: 4)

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// A consumed record, or an error in a record's place, until ``release()`` or ``retained``.
package protocol LaneRecord {
    associatedtype Retained: RetainedRecord
    var isError: Bool { get }
    var error: KafkaError? { get }
    var partition: Int32 { get }
    var offset: Int64 { get }
    /// -1 when unknown.
    var timestampMilliseconds: Int64 { get }
    func topicName() -> String
    func withKey<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R
    func withValue<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R
    func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void)
    /// The same record for one of the engine's slots.
    var retained: Retained { get }
    func release()
}

/// A record in one of the engine's slots, until ``release()``.
package protocol RetainedRecord {
    func withKey<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R
    func withValue<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R
    func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void)
    /// Copies it, because it stays for longer than most.
    mutating func keep()
    func release()
}

/// The outcome of offering a record to the producer.
package enum ProduceAnswer {
    /// The client has a copy of it.
    case accepted
    /// Its topic does not allow a record of that size.
    case doesNotFit
    case refused(KafkaError)
}
