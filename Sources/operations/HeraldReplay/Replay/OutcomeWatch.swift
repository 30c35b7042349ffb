internal import HeraldBytes
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

/// Reads the results topic on from the end that it had when this was made, for the outcomes of replays.
///
/// One thread.
final class OutcomeWatch {
    private let tail: ResultsTail

    init(properties: [(String, String)], topic: String, partitions: [Int32]) throws(ToolFailure) {
        tail = try ResultsTail(properties: properties, topic: topic, partitions: partitions)
    }

    /// Takes what has come, waiting up to this long for the first.
    func take(into book: inout OutcomeBook, waitMilliseconds: Int32) throws(ToolFailure) {
        var wait = waitMilliseconds
        while true {
            switch try tail.next(waitMilliseconds: wait) {
            case .nothing: return
            case .trouble: continue
            case .record(let message):
                defer { message.release() }
                wait = 0
                if let result = Self.result(message) { book.take(result) }
            }
        }
    }

    func close() { tail.close() }

    /// A result of a replay; others are most of what lies there, and are not worth reading.
    static func result(_ message: Message) -> NotificationResult? {
        message.withValue { value in
            guard let value, isOfReplay(value) else { return nil }
            // What somebody else has written there is no result of these events.
            return try? NotificationResult(decoding: value)
        }
    }

    private static func isOfReplay(_ value: RawSpan) -> Bool {
        let wanted = #""replays""# as StaticString
        guard value.byteCount >= wanted.utf8CodeUnitCount else { return false }
        for start in 0...value.byteCount - wanted.utf8CodeUnitCount
        where value[byteAt: start] == UInt8(ascii: "\"")
            && value.extracting(start..<start + wanted.utf8CodeUnitCount).hasSameBytes(as: wanted)
        { return true }
        return false
    }
}
