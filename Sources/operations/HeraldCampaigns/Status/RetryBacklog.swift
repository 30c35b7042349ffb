internal import HeraldBytes
internal import HeraldEvents
internal import HeraldKafka
public import HeraldTools

/// Counts what a campaign has in the retry topics: between what the workers' group has committed and the ends.
///
/// It is an estimate: what workers have done behind a committed offset is counted too, and a backlog that cannot be read in
/// time is judged by its first part. One thread.
public final class RetryBacklog {
    /// What there is, in outcomes that are still to come.
    public struct Count: Equatable, Sendable {
        /// Those that wait for their next call.
        public var retrying = 0
        /// Those that are parked because the campaign is paused.
        public var parked = 0
        /// Whether the topics could not be read to their ends in time.
        public var isPartly = false

        /// Nothing.
        public init() {}

        fileprivate mutating func extrapolate(_ factor: Double) {
            retrying = Int((Double(retrying) * factor).rounded())
            parked = Int((Double(parked) * factor).rounded())
            isPartly = true
        }
    }

    private static let requestMilliseconds = 5_000

    private let reader: Consumer
    /// With open transactions on the group's offsets only such a client is told what is committed.
    private let group: Consumer
    private let partitions: [TopicPartition]
    private let campaign: String

    /// A reader of the retry topics.
    public init(_ world: CampaignWorld, _ layout: CampaignWorld.Layout, campaign: String) throws(ToolFailure) {
        self.campaign = campaign
        partitions = layout.retries.flatMap { topic, numbers in
            numbers.map { TopicPartition(topic: topic, partition: $0) }
        }
        do throws(KafkaError) {
            reader = try Consumer(properties: world.readerProperties)
            group = try Consumer(properties: world.readerProperties + [("isolation.level", "read_uncommitted")])
        } catch {
            throw ToolFailure("the retry topics cannot be read: \(error)")
        }
    }

    /// What there is now; `nil` when the brokers don't say it, to whom may not read the group for instance.
    ///
    /// - Parameter patience: how long the reading may take.
    public func count(within patience: Duration, isStopping: () -> Bool = { false }) -> Count? {
        // There always are retry topics: who sees none may not see them.
        guard !partitions.isEmpty else { return nil }
        let deadline = ContinuousClock.now + patience
        do throws(KafkaError) {
            var rest = try ranges()
            let total = rest.values.reduce(Int64(0)) { $0 + Int64($1.count) }
            guard total > 0 else { return Count() }
            try reader.assign(rest.map { ($0.key, offset: $0.value.lowerBound) })
            let count = try read(&rest, until: deadline, isStopping)
            try reader.unassign()
            let left = rest.values.reduce(Int64(0)) { $0 + Int64($1.count) }
            guard left > 0 else { return count }
            guard left < total else { return nil }
            var estimate = count
            estimate.extrapolate(Double(total) / Double(total - left))
            return estimate
        } catch {
            return nil
        }
    }

    /// Ends the clients.
    public func close() {
        reader.close()
        group.close()
    }

    private func ranges() throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        let ends = try reader.queries.ends(of: partitions, timeoutMilliseconds: Self.requestMilliseconds)
        var ranges: [TopicPartition: Range<Int64>] = [:]
        for position in try group.queries.committed(partitions, timeoutMilliseconds: Self.requestMilliseconds) {
            guard let end = ends[position.partition], end > position.offset else { continue }
            var start = position.offset
            if start < 0 {
                start = try reader.queries.watermarks(
                    of: position.partition, timeoutMilliseconds: Self.requestMilliseconds
                ).low
            }
            if start < end { ranges[position.partition] = start..<end }
        }
        return ranges
    }

    private func read(
        _ rest: inout [TopicPartition: Range<Int64>], until deadline: ContinuousClock.Instant, _ isStopping: () -> Bool
    ) throws(KafkaError) -> Count {
        var count = Count()
        var names: [TopicHandleID: String] = [:]
        for topic in Set(partitions.map(\.topic)) { names[try reader.topicID(of: topic)] = topic }
        while !rest.isEmpty, ContinuousClock.now < deadline, !isStopping() {
            guard let message = reader.queue.next(waitMilliseconds: 50) else { continue }
            defer { message.release() }
            guard let topic = names[message.topic] else { continue }
            let partition = TopicPartition(topic: topic, partition: message.partition)
            guard let range = rest[partition] else { continue }
            if let error = message.error {
                if error.code == KafkaError.Code.topicAuthorizationFailed { throw error }
                // Behind the last record lie the ends of transactions.
                let isEnd = error.code == KafkaError.Code.partitionEOF && message.offset >= range.upperBound
                if isEnd { rest[partition] = nil }
                continue
            }
            guard message.offset >= range.lowerBound else { continue }
            if message.offset < range.upperBound { take(message, &count) }
            rest[partition] = message.offset + 1 < range.upperBound ? message.offset + 1..<range.upperBound : nil
        }
        return count
    }

    private func take(_ message: Message, _ count: inout Count) {
        var headers = HeaderList()
        message.forEachHeader { headers.append(name: $0, value: $1) }
        guard headers.lastValue(named: HeaderName.campaign.literal)?.text == campaign else { return }
        let services = headers.lastValue(named: HeaderName.pushServices.literal)?.text ?? ""
        let outcomes = max(1, services.split(separator: ",").count)
        if headers.lastValue(named: HeaderName.reason.literal)?.text == RetryReason.parked.rawValue {
            count.parked += outcomes
        } else {
            count.retrying += outcomes
        }
    }
}
