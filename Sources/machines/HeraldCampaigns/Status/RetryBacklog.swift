internal import HeraldBytes
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldText
package import HeraldTime
internal import HeraldTools

/// Counts what a campaign has in the retry topics: between what the workers' group has committed and the ends.
///
/// It is an estimate: what workers have done behind a committed offset is counted too, and a backlog that cannot be read in
/// time is judged by its first part. One thread.
package final class RetryBacklog {
    /// What there is, in outcomes that are still to come.
    package struct Count: Equatable, Sendable {
        package var retrying = 0
        /// Those that wait for longer than the shortest delay, or for their users: nothing waits for them.
        package var retryingLong = 0
        /// Of these, those whose own calls have failed, or whose users are waited for: they are called one by one, whatever
        /// becomes of a push service or of the workers.
        package var waitingAlone = 0
        /// Those that are suspended because the campaign is, or was, paused.
        package var suspended = 0
        /// When the last of ``suspended`` is called again, once the campaign runs.
        package var suspendedUntil: WallTime?
        /// Those that wait for the end of their users' quiet hours.
        package var asleep = 0
        /// When the first of ``asleep`` is called.
        package var asleepUntil: WallTime?
        /// When the next of ``retrying`` is called.
        package var nextCall: WallTime?
        /// Whether the topics could not be read to their ends in time.
        package var isPartly = false

        package init(retrying: Int = 0, retryingLong: Int = 0) {
            self.retrying = retrying
            self.retryingLong = retryingLong
        }

        fileprivate mutating func extrapolate(_ factor: Double) {
            retrying = Int(saturating: Double(retrying) * factor)
            retryingLong = Int(saturating: Double(retryingLong) * factor)
            waitingAlone = Int(saturating: Double(waitingAlone) * factor)
            suspended = Int(saturating: Double(suspended) * factor)
            asleep = Int(saturating: Double(asleep) * factor)
            isPartly = true
        }
    }

    private static let requestTimeout = Milliseconds.seconds(5)

    private let reader: TopicReader
    /// With open transactions on the group's offsets only such a client is told what is committed.
    private let group: Consumer
    private let partitions: [TopicPartition]
    private let campaign: String
    /// All but the topic of the shortest delay, unless it is the only one.
    private let longTopics: Set<String>
    private let delays: [String: Milliseconds]

    package init(_ context: CampaignContext, _ layout: CampaignContext.Layout, campaign: String) throws {
        self.campaign = campaign
        partitions = layout.retries.flatMap { topic, numbers in
            numbers.map { TopicPartition(topic: topic, partition: $0) }
        }
        let delays = layout.retries.keys.compactMap { topic in context.topics.delay(ofTopic: topic).map { ($0, topic) }
        }
        self.delays = Dictionary(uniqueKeysWithValues: delays.map { ($0.1, $0.0.length) })
        let shortest = delays.count > 1 ? delays.min { $0.0.length < $1.0.length }?.1 : nil
        longTopics = Set(delays.map(\.1)).subtracting([shortest].compactMap(\.self))
        do throws(KafkaError) {
            reader = try TopicReader(properties: context.readerProperties)
            group = try Consumer(properties: context.readerProperties + [("isolation.level", "read_uncommitted")])
        } catch {
            throw ToolFailure("the retry topics cannot be read", error)
        }
    }

    /// What there is now; `nil` when the brokers don't say it, for instance to a user that may not read the group.
    ///
    /// - Parameter patience: how long the reading may take.
    package func count(within patience: Duration, isStopping: () -> Bool = { false }) -> Count? {
        // There always are retry topics: a user that sees none may not see them.
        guard !partitions.isEmpty else { return nil }
        let deadline = ContinuousClock.now + patience
        do throws(KafkaError) {
            try reader.begin(try committed(), to: .committed)
            var count = Count()
            reading: while ContinuousClock.now < deadline, !isStopping() {
                switch try reader.next(wait: .milliseconds(50)) {
                case .end: break reading
                case .nothing: continue
                case .record(let message):
                    defer { message.release() }
                    add(message, &count)
                }
            }
            let (passed, total) = reader.progress
            guard passed < total else { return count }
            guard passed > 0 else { return nil }
            count.extrapolate(Double(total) / Double(passed))
            return count
        } catch {
            return nil
        }
    }

    package func close() {
        reader.close()
        group.close()
    }

    private func committed() throws(KafkaError) -> [TopicPartition: TopicReader.Start] {
        var starts: [TopicPartition: TopicReader.Start] = [:]
        for position in try group.queries.committed(partitions, timeout: Self.requestTimeout) {
            starts[position.partition] = position.offset < 0 ? .beginning : .offset(position.offset)
        }
        return starts
    }

    private func add(_ message: Message, _ count: inout Count) {
        var headers = HeaderList()
        message.forEachHeader { headers.append(name: $0, value: $1) }
        guard headers.lastValue(named: HeaderName.campaign.literal)?.text == campaign else { return }
        let services = headers.lastValue(named: HeaderName.pushServices.literal)?.text ?? ""
        let outcomes = max(1, services.split(separator: ",").count)
        let reason = headers.lastValue(named: HeaderName.reason.literal)?.text
        let known = reason.flatMap(RetryReason.init(rawValue:))
        switch known {
        case .paused:
            count.suspended += outcomes
            count.suspendedUntil = [count.suspendedUntil, due(message, headers)].compactMap(\.self).max()
        case .quietHours:
            count.asleep += outcomes
            count.retryingLong += outcomes
            count.waitingAlone += outcomes
            let end = headers.lastValue(named: HeaderName.notBefore.literal)?.decimal
            count.asleepUntil = [count.asleepUntil, end.map { WallTime(milliseconds: $0) }].compactMap(\.self).min()
        case .transient, .throttled, .notBefore, .blocked, .preferences, .held, nil:
            count.retrying += outcomes
            count.nextCall = [count.nextCall, due(message, headers)].compactMap(\.self).min()
            guard longTopics.contains(message.topicName()) else { break }
            count.retryingLong += outcomes
            if known == .transient || known == .throttled { count.waitingAlone += outcomes }
        }
    }

    /// When a retry record is due: at its moment, or at the end of its hop.
    private func due(_ message: Message, _ headers: HeaderList) -> WallTime? {
        let moment = headers.lastValue(named: HeaderName.notBefore.literal)?.decimal
        let hop = delays[message.topicName()].map { message.timestampMilliseconds + $0.count }
        return [moment, hop].compactMap(\.self).min().map(WallTime.init(milliseconds:))
    }
}
