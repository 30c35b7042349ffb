internal import CRDKafka
internal import Glibc

struct TopicPartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(capacity: Int) {
        pointer = rd_kafka_topic_partition_list_new(Int32(clamping: capacity))
    }

    init(_ partitions: [TopicPartition]) {
        self.init(capacity: partitions.count)
        for partition in partitions { add(partition) }
    }

    init(_ positions: [(TopicPartition, offset: Int64)]) {
        self.init(capacity: positions.count)
        for (partition, offset) in positions { add(partition).pointee.offset = offset }
    }

    init(_ positions: [CommitPosition]) {
        self.init(capacity: positions.count)
        for position in positions {
            let element = add(position.partition)
            element.pointee.offset = position.offset
            if !position.metadata.isEmpty { Self.setMetadata(of: element, to: position.metadata) }
        }
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    @discardableResult
    private func add(_ partition: TopicPartition) -> UnsafeMutablePointer<rd_kafka_topic_partition_t> {
        rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)
    }

    /// The list's destructor calls `free` on the metadata, so it has to come from `malloc`.
    private static func setMetadata(of element: UnsafeMutablePointer<rd_kafka_topic_partition_t>, to text: String) {
        let count = text.utf8.count
        guard let copy = malloc(count) else { return }
        text.utf8.withContiguousStorageIfAvailable { bytes in
            if let start = bytes.baseAddress { memcpy(copy, start, count) }
        } ?? UnsafeMutableRawBufferPointer(start: copy, count: count).copyBytes(from: text.utf8)
        element.pointee.metadata = copy
        element.pointee.metadata_size = count
    }

    /// The elements, valid while this list is.
    var elements: UnsafeMutableBufferPointer<rd_kafka_topic_partition_t> { Self.elements(of: pointer) }

    /// A borrowed list's elements; none for `nil`.
    static func elements(
        of list: UnsafePointer<rd_kafka_topic_partition_list_t>?
    ) -> UnsafeMutableBufferPointer<rd_kafka_topic_partition_t> {
        guard let list else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        return UnsafeMutableBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt))
    }

    static func elements(
        of list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) -> UnsafeMutableBufferPointer<rd_kafka_topic_partition_t> {
        elements(of: list.map { UnsafePointer($0) })
    }

    var firstError: KafkaError? {
        for element in elements {
            if let error = element.error { return error }
        }
        return nil
    }
}

extension rd_kafka_topic_partition_t {
    var topicPartition: TopicPartition { TopicPartition(topic: String(cString: topic), partition: partition) }

    /// The partition's error, naming the partition.
    var error: KafkaError? {
        guard err != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return KafkaError(err, message: "\(topicPartition): \(String(cString: rd_kafka_err2str(err)))")
    }

    var commitPosition: CommitPosition {
        let note = UnsafeRawBufferPointer(start: metadata, count: metadata == nil ? 0 : metadata_size)
        return CommitPosition(
            partition: topicPartition, offset: offset, metadata: String(decoding: note, as: UTF8.self))
    }
}
