internal import HeraldEvents
internal import HeraldKafka
package import HeraldTime

/// How fast workers have shown that they are, by the times of the records of the results topic.
struct WorkerThroughput {
    fileprivate static let requestTimeout = Milliseconds.seconds(5)
    private static let hours: Int64 = 24
    /// Fewer outcomes in the busiest minute say nothing about how many there could have been.
    private static let leastCount: Int64 = 100

    /// How many offsets there are before a moment (milliseconds since the Unix epoch), over all partitions.
    let offset: (Int64) throws(KafkaError) -> Int64

    /// Outcomes a second in the busiest minute of the busiest hour of the last day; `nil` when there were too few.
    func busiest(now: WallTime) throws(KafkaError) -> Double? {
        guard
            let hour = try busiest(
                from: now.advanced(by: .hours(-Self.hours)).milliseconds, step: .hours(1), count: Self.hours),
            let best = try busiest(from: hour.start, step: .minutes(1), count: 60),
            best.outcomes >= Self.leastCount
        else { return nil }
        return Double(best.outcomes) / 60
    }

    private func busiest(
        from start: Int64, step: Milliseconds, count: Int64
    ) throws(KafkaError) -> (start: Int64, outcomes: Int64)? {
        var best: (start: Int64, outcomes: Int64)?
        var former = try offset(start)
        for index in 1...count {
            let next = try offset(start + index * step.count)
            if next - former > best?.outcomes ?? 0 { best = (start + (index - 1) * step.count, next - former) }
            former = next
        }
        return best
    }
}

extension Replayer {
    /// Outcomes a second that the workers have made in the busiest minute of the last day; `nil` when nothing shows
    /// it, or it cannot be asked for.
    package func outcomesPerSecond(now: WallTime) -> Double? {
        let partitions = layout.results.map { TopicPartition(topic: context.topics.results, partition: $0) }
        guard !partitions.isEmpty, let consumer = try? Consumer(properties: context.readerProperties) else {
            return nil
        }
        defer { consumer.close() }
        let limit = WorkerThroughput.requestTimeout
        guard let ends = try? consumer.queries.ends(of: partitions, timeout: limit) else { return nil }
        let throughput = WorkerThroughput { (moment) throws(KafkaError) in
            let found = try consumer.queries.offsets(of: partitions, at: moment, timeout: limit)
            return partitions.reduce(0) { $0 + (found[$1] ?? ends[$1] ?? 0) }
        }
        return (try? throughput.busiest(now: now)) ?? nil
    }
}
