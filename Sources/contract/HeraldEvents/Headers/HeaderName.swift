/// The names of the headers that records carry.
public struct HeaderName: Sendable, CustomStringConvertible {
    /// The name as a literal, which is compared and copied without making a string.
    public let literal: StaticString

    init(_ literal: StaticString) {
        self.literal = literal
    }

    /// The name as a string.
    public var description: String { literal.description }

    /// The event's id.
    public static var id: Self { Self("herald-id") }
    /// The push services still to do, or that failed, comma-separated.
    public static var pushServices: Self { Self("herald-pns") }
    /// The calls made so far for each of the push services.
    public static var attempts: Self { Self("herald-attempts") }
    /// The request record as `topic/partition/offset`.
    public static var origin: Self { Self("herald-origin") }
    /// The request record's timestamp in epoch milliseconds.
    public static var originTimestamp: Self { Self("herald-origin-timestamp") }
    /// When the first call was made, in epoch milliseconds.
    public static var firstAttemptAt: Self { Self("herald-first-attempt-at") }
    /// When the record is due, in epoch milliseconds; on retry topics.
    public static var notBefore: Self { Self("herald-not-before") }
    /// Why the record is where it is: a ``RetryReason`` or a ``DeadLetterReason``.
    public static var reason: Self { Self("herald-reason") }
    /// The last HTTP status.
    public static var status: Self { Self("herald-status") }
    /// One line for people.
    public static var detail: Self { Self("herald-detail") }
    /// The attempts as a JSON array.
    public static var history: Self { Self("herald-history") }
    /// The event's source.
    public static var source: Self { Self("herald-source") }
    /// The event's campaign.
    public static var campaign: Self { Self("herald-campaign") }
    /// When the record became a dead letter, in epoch milliseconds.
    public static var deadLetteredAt: Self { Self("herald-dead-lettered-at") }
    /// How often the event was replayed.
    public static var replays: Self { Self("herald-replays") }
    /// What stands in the id's place in the idempotency key, after a replay with a fresh key.
    public static var key: Self { Self("herald-key") }

    /// What the record leaves out because it would not have fit its topic, comma-separated: ``Omissions``.
    public static var omitted: Self { Self("herald-omitted") }

    /// The span that wrote the record, as a `traceparent`: the consumer's spans link to that one.
    public static var writtenBy: Self { Self("herald-traceparent") }

    /// Every header that Herald writes, and replaces on the records that it makes from others.
    public static let all: [HeaderName] = [
        .id, .pushServices, .attempts, .origin, .originTimestamp, .firstAttemptAt, .notBefore, .reason, .status,
        .detail, .history, .source, .campaign, .deadLetteredAt, .replays, .key, .omitted, .writtenBy,
    ]

    /// The trace context that crosses over to the backend.
    public static var traceparent: Self { Self("traceparent") }
    static var contentType: Self { Self("content-type") }
    static var cloudEventsSpecversion: Self { Self("ce_specversion") }
    static var cloudEventsID: Self { Self("ce_id") }
    static var cloudEventsSource: Self { Self("ce_source") }
    static var cloudEventsType: Self { Self("ce_type") }
    static var cloudEventsTime: Self { Self("ce_time") }
    static var cloudEventsTraceparent: Self { Self("ce_traceparent") }
}
