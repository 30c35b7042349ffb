public import HeraldEvents
internal import HeraldKafka
public import HeraldTools

/// Counts the outcomes of one campaign from the results topic, which holds those of everybody else, too.
///
/// One thread.
public final class OutcomeReader {
    private let reader: TopicReader
    private let starts: [Int32: Int64]
    private let campaign: String
    private let mention: BytePattern
    private let pushServiceCount: Int

    /// What came of the campaign, as far as it was read.
    public private(set) var count: OutcomeCount

    /// A reader of one campaign's outcomes.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's: `read_committed`, with end-of-partition events; nothing is committed.
    ///   - pushServiceCount: of the campaign.
    ///   - starts: where to begin, by partition: the definition's `resultOffsets`, or those of a progress record.
    ///   - count: what is known up to there.
    ///   - moment: epoch milliseconds; results since then are handed out also where they come before `starts`, and are not
    ///     counted again.
    public init(
        properties: [(String, String)], topic: String, partitions: [Int32], campaign: String, pushServiceCount: Int,
        from starts: [Int32: Int64], count: OutcomeCount = OutcomeCount(), lookingBackTo moment: Int64? = nil
    ) throws(ToolFailure) {
        reader = try TopicReader(
            properties: properties, topic: topic, partitions: partitions, from: starts, lookingBackTo: moment)
        self.starts = starts
        self.campaign = campaign
        self.pushServiceCount = pushServiceCount
        self.count = count
        // A campaign's name needs no escapes, so a result that has it has these bytes.
        mention = BytePattern("\"\(campaign)\"")
    }

    /// Where to go on from, by partition: everything below is in ``count``.
    public var positions: [Int32: Int64] { reader.positions.merging(starts, uniquingKeysWith: max) }

    /// Results that were deleted before they could be read, whoever's they were.
    public var deletedCount: Int64 { reader.deletedCount }

    /// Reads to the present end.
    ///
    /// - Parameters:
    ///   - onProgress: how many of how many records of the topic were passed; `false` ends the reading.
    ///   - onResult: called with each result of the campaign.
    /// - Returns: whether the end was reached.
    @discardableResult
    public func catchUp(
        onProgress: (Int64, Int64) -> Bool = { _, _ in true }, onResult: (NotificationResult) -> Void = { _ in }
    ) throws(ToolFailure) -> Bool {
        try reader.catchUp(onProgress: onProgress) { take($0, onResult) }
    }

    /// Takes what has come since, waiting up to this long for the first record; whether something has, of whoever.
    @discardableResult
    public func takeArrived(
        waitMilliseconds: Int32 = 0, onResult: (NotificationResult) -> Void = { _ in }
    ) throws(ToolFailure) -> Bool {
        try reader.takeArrived(waitMilliseconds: waitMilliseconds) { take($0, onResult) } > 0
    }

    /// Ends the client.
    public func close() { reader.close() }

    private func take(_ message: Message, _ onResult: (NotificationResult) -> Void) {
        guard let result = result(in: message) else { return }
        if message.offset >= starts[message.partition] ?? 0 { count.take(result, pushServiceCount: pushServiceCount) }
        onResult(result)
    }

    /// The campaign's result in a record; others are most of what lies there, and are not worth decoding.
    private func result(in message: Message) -> NotificationResult? {
        message.withValue { value in
            guard let value, mention.occurs(in: value) else { return nil }
            // What somebody else has written there is no result of these events.
            guard let result = try? NotificationResult(decoding: value), result.campaign == campaign else { return nil }
            return result
        }
    }
}
