internal import HeraldEvents
internal import HeraldKafka
public import HeraldTime
public import HeraldTools

extension Replayer {
    private static let requestMilliseconds = 10_000
    /// The operator's clock gives a mark its moment, a broker's or a worker's the result.
    private static let clockDifference: Int64 = 300_000

    /// Reads what came of replays, from the results topic.
    ///
    /// - Parameters:
    ///   - book: tells since when there are replays.
    ///   - earliest: replays before this moment are not asked for.
    ///   - onProgress: how many of how many results were passed; `false` ends the reading.
    /// - Returns: what is known, and whether all was read.
    public func outcomes(
        of book: MarkBook, since earliest: WallTime?, onProgress: (Int64, Int64) -> Bool
    ) throws(ToolFailure) -> (outcomes: ReplayOutcomes, isWhole: Bool) {
        var outcomes = ReplayOutcomes()
        guard let first = book.firstReplayAt, !layout.results.isEmpty else { return (outcomes, true) }
        let moment = max(first, earliest?.milliseconds ?? first) - Self.clockDifference
        let topic = world.topics.results
        let reader = try TopicReader(
            properties: world.readerProperties, topic: topic, partitions: layout.results,
            from: try offsets(of: topic, layout.results, at: moment))
        defer { reader.close() }
        let isWhole = try reader.catchUp(onProgress: onProgress) { message in
            if let result = OutcomeWatch.result(message) { outcomes.take(result) }
        }
        return (outcomes, isWhole)
    }

    /// The first offsets at or after a moment, the end where there is none; nothing when the broker cannot tell.
    private func offsets(
        of topic: String, _ numbers: [Int32], at moment: Int64
    ) throws(ToolFailure) -> [Int32: Int64] {
        let partitions = numbers.map { TopicPartition(topic: topic, partition: $0) }
        do throws(KafkaError) {
            let consumer = try Consumer(properties: world.readerProperties)
            defer { consumer.close() }
            return try KafkaError.outwaiting(within: .milliseconds(Self.requestMilliseconds)) {
                () throws(KafkaError) in
                let ends = try consumer.queries.ends(of: partitions, timeoutMilliseconds: Self.requestMilliseconds)
                let found = try consumer.queries.offsets(
                    of: partitions, at: max(0, moment), timeoutMilliseconds: Self.requestMilliseconds)
                var starts: [Int32: Int64] = [:]
                for partition in partitions { starts[partition.partition] = found[partition] ?? ends[partition] }
                return starts
            }
        } catch {
            throw ToolFailure(reading: topic, error)
        }
    }

    /// The campaigns that were cancelled; `nil` when this user may not know.
    public func cancelledCampaigns() throws(ToolFailure) -> Set<String>? {
        guard let partitions = layout.campaigns else { return nil }
        guard !partitions.isEmpty else { return [] }
        var states = CampaignStates()
        let reader = try TopicReader(
            properties: world.readerProperties, topic: world.topics.campaigns, partitions: partitions)
        defer { reader.close() }
        try reader.catchUp { message in
            guard let key = message.keyCopy else { return }
            // What is damaged says nothing.
            if let value = message.valueCopy {
                try? states.take(key: key.span.bytes, value: value.span.bytes)
            } else {
                try? states.take(key: key.span.bytes, value: nil)
            }
        }
        return states.names.filter { states.control(of: $0)?.state == .cancelled }
    }
}
