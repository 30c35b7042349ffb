internal import HeraldEvents
internal import HeraldKafka

/// A record to be written in a transaction.
struct OutgoingRecord: Sendable {
    var topic: String
    var key: [UInt8]?
    var value: [UInt8]?
    var headers = HeaderList()

    /// About how many bytes it takes.
    var byteCount: Int { (key?.count ?? 0) + (value?.count ?? 0) + 256 }

    /// Produces it; why it was refused.
    func produce(with producer: Producer, token: UInt64) throws(KafkaError) -> KafkaError? {
        let topic = try producer.topic(topic)
        let list = ProducerHeaders(capacity: headers.count)
        for index in 0..<headers.count {
            let name = headers.name(at: index)
            if let value = headers.value(at: index) {
                list.append(name: name, value: value)
            } else {
                list.append(name: name, value: nil)
            }
        }
        if let key {
            if let value {
                return producer.produce(
                    topic: topic, key: key.span.bytes, value: value.span.bytes, headers: list, token: token)
            }
            return producer.produce(topic: topic, key: key.span.bytes, value: nil, headers: list, token: token)
        }
        if let value {
            return producer.produce(topic: topic, key: nil, value: value.span.bytes, headers: list, token: token)
        }
        return producer.produce(topic: topic, key: nil, value: nil, headers: list, token: token)
    }
}
