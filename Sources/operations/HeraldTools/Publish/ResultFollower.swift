internal import HeraldEvents
internal import HeraldKafka

/// Reads the results topic from the end that it had when this was made.
///
/// One thread.
public final class ResultFollower {
    private static let longestWaitMilliseconds = 1_000

    private let tail: ResultsTail

    /// Notes the topic's ends and begins to read behind them; make it before anything is published.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's, `group.id` and `isolation.level` among them; nothing is committed, no group joined.
    ///   - partitions: the topic's partitions.
    public init(properties: [(String, String)], topic: String, partitions: [Int32]) throws(ToolFailure) {
        tail = try ResultsTail(properties: properties, topic: topic, partitions: partitions)
    }

    /// Hands over results until `board` is complete or the time is over.
    public func follow(
        _ board: inout OutcomeBoard, for time: Duration, _ onOutcome: (OutcomeBoard.Entry) -> Void
    ) throws(ToolFailure) {
        let end = ContinuousClock.now + time
        while !board.isComplete {
            let left = (end - .now) / .milliseconds(1)
            guard left > 0 else { return }
            let wait = Int32(min(left.rounded(.up), Double(Self.longestWaitMilliseconds)))
            guard case .record(let message) = try tail.next(waitMilliseconds: wait) else { continue }
            defer { message.release() }
            guard let result = Self.result(message) else { continue }
            for entry in board.take(result) { onOutcome(entry) }
        }
    }

    /// Ends the client.
    public func close() { tail.close() }

    private static func result(_ message: Message) -> NotificationResult? {
        message.withValue { value in
            guard let value else { return nil }
            // What somebody else has written there is no result of these events.
            return try? NotificationResult(decoding: value)
        }
    }
}
