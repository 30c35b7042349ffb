import HeraldKafka

/// Why a topic does not take a record, and what to do.
struct RecordRefusal {
    let text: String
    let remedy: String

    init(_ error: KafkaError) {
        text = error.kind == .tooLarge ? "it is too large for its topic: max.message.bytes" : error.words
        remedy =
            error.code == KafkaError.Code.invalidTimestamp
            ? "compare the clocks of this machine and of the brokers, and look at the topic's "
                + "message.timestamp.after.max.ms and message.timestamp.before.max.ms"
            : "see what the topic demands with `herald topics plan`"
    }
}
