package import HeraldBytes
package import HeraldEvents
package import HeraldKafka

/// A record to be written in a transaction.
package struct OutgoingRecord: Sendable {
    package var topic: String
    /// Its key, which chooses the partition.
    package var key: [UInt8]?
    /// Its value; `nil` is a tombstone.
    package var value: [UInt8]?
    package var headers: HeaderList

    package init(topic: String, key: [UInt8]?, value: [UInt8]?, headers: HeaderList = HeaderList()) {
        self.topic = topic
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Lets its consumer's spans link to this one.
    package mutating func link(to writer: TraceContext) {
        headers.append(name: HeaderName.writtenBy.literal, value: writer.bytes.span.bytes)
    }

    /// Its approximate number of bytes.
    package var byteCount: Int { (key?.count ?? 0) + (value?.count ?? 0) + 256 }

    /// Produces it; returns the reason of a refusal.
    package func produce(with producer: Producer, token: UInt64) throws(KafkaError) -> KafkaError? {
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
