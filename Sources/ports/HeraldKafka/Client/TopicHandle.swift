internal import CRDKafka

/// Owns a topic handle, so that its address identifies this topic while the handle lives.
final class TopicHandle {
    let pointer: OpaquePointer
    private let client: ClientHandle

    init(_ name: String, of client: ClientHandle) throws(KafkaError) {
        // Fails for a name that is empty or longer than 512 bytes.
        guard let pointer = rd_kafka_topic_new(client.client, name, nil) else {
            throw KafkaError(code: rd_kafka_last_error().rawValue, message: "topic \(name)")
        }
        self.pointer = pointer
        self.client = client
    }

    deinit { rd_kafka_topic_destroy(pointer) }
}
