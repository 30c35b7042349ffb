import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldWorker

/// A record that any reader may read at any time.
struct PlainRecord: LaneRecord, RetainedRecord {
    var topic: String
    var offset: Int64
    var value: [UInt8]
    var headers: HeaderList
    var timestampMilliseconds: Int64

    var isError: Bool { false }
    var error: KafkaError? { nil }
    var partition: Int32 { 0 }
    var retained: PlainRecord { self }
    func topicName() -> String { topic }
    func keep() {}
    func release() {}

    func withKey<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R { try body(nil) }

    func withValue<R, E: Error>(_ body: (RawSpan?) throws(E) -> R) throws(E) -> R { try body(value.span.bytes) }

    func forEachHeader(_ body: (_ name: RawSpan, _ value: RawSpan?) -> Void) {
        for index in 0..<headers.count { body(headers.name(at: index), headers.value(at: index)) }
    }
}
