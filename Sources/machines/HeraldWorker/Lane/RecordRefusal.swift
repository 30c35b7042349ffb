import HeraldKafka
import HeraldTime

/// Why a topic does not take a record, and what to do.
struct RecordRefusal {
    /// When that was seen last.
    let at: MonotonicTime
    let text: String
    let remedy: String

    init(_ error: KafkaError, at moment: MonotonicTime) {
        at = moment
        text = error.kind == .tooLarge ? "it is too large for its topic: max.message.bytes" : error.words
        remedy =
            error.code == KafkaError.Code.invalidTimestamp
            ? "compare the clocks of this machine and of the brokers, and look at the topic's "
                + "message.timestamp.after.max.ms and message.timestamp.before.max.ms"
            : "see what the topic demands with `herald topics plan`"
    }
}
