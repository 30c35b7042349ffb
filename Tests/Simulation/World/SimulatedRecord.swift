import HeraldEvents
import HeraldKafka
import HeraldWorker

/// A record in the hands of a worker's lane, or an error in a record's place.
final class SimulatedRecord: LaneRecord, RetainedRecord {
    private unowned let worker: SimulatedWorker
    let name: RecordName
    let record: LogRecord
    let error: KafkaError?
    /// It is in one of the engine's slots.
    private var isRetained = false
    private var isReleased = false

    init(_ record: LogRecord, _ name: RecordName, of worker: SimulatedWorker) {
        self.worker = worker
        self.name = name
        self.record = record
        error = nil
    }

    /// An error in a record's place: the end for a reader of committed records is reached, the offset does not exist,
    /// or a batch is unreadable.
    init(_ code: Int32, at name: RecordName, of worker: SimulatedWorker) {
        self.worker = worker
        self.name = name
        record =
            code == KafkaError.Code.badCompression ? worker.simulation.cluster.record(name) ?? .marker(0) : .marker(0)
        error = KafkaError(code: code)
    }

    var isError: Bool { error != nil }
    var partition: Int32 { Int32(name.place.partition) }
    var offset: Int64 { name.offset }
    var timestampMilliseconds: Int64 { record.timestamp }

    func topicName() -> String { worker.simulation.cluster.topics[name.place.topic] }

    func withKey<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R {
        guard let key = record.key else { return try body(nil) }
        return try body(key.span.bytes)
    }

    func withValue<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R {
        guard let value = record.value else { return try body(nil) }
        return try body(value.span.bytes)
    }

    func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void) {
        let headers = record.headers
        for index in 0..<headers.count { body(headers.name(at: index), headers.value(at: index)) }
    }

    var retained: SimulatedRecord {
        isRetained = true
        worker.retained(name)
        return self
    }

    func keep() {
        if isReleased { worker.simulation.checkers.fail("a record is to be kept that was released") }
    }

    func release() {
        if isReleased { worker.simulation.checkers.fail("\(worker.process): a record is released twice") }
        isReleased = true
        if isRetained { worker.released(name) }
    }
}
