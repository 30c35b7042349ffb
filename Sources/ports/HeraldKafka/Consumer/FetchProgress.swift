/// The progress of a client that reads one partition, according to its statistics.
struct FetchProgress {
    /// The next offset to fetch, at most a second old; negative when unknown.
    private(set) var position: Int64 = -1

    /// Reads librdkafka's JSON; `nil` when it is malformed.
    init?(json: [UInt8], of partition: TopicPartition) {
        var reader = StatisticsReader(json)
        do throws(StatisticsReader.Malformed) { try read(&reader, partition) } catch { return nil }
    }

    private mutating func read(
        _ reader: inout StatisticsReader, _ partition: TopicPartition
    ) throws(StatisticsReader.Malformed) {
        try reader.members { name, reader throws(StatisticsReader.Malformed) in
            guard name == "topics" else { return }
            try reader.members { _, reader throws(StatisticsReader.Malformed) in
                try reader.members { name, reader throws(StatisticsReader.Malformed) in
                    guard name == "partitions" else { return }
                    try reader.members { number, reader throws(StatisticsReader.Malformed) in
                        guard number == "\(partition.partition)" else { return }
                        try reader.members { name, reader throws(StatisticsReader.Malformed) in
                            if name == "next_offset" { position = Int64(try reader.number()) }
                        }
                    }
                }
            }
        }
    }
}
