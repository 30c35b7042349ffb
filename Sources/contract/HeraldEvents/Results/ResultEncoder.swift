import HeraldBytes
public import HeraldTime

/// What a result says beside what its event says.
public struct ResultFacts: Sendable {
    /// How it ended.
    public var outcome: Outcome
    /// How the event ended that it is a duplicate of, if known.
    public var firstOutcome: Outcome?
    /// The index of the push service; none for an event that does not decode.
    public var pushService: Int?
    /// The status of the last answer.
    public var status: Int?
    /// Why it is a dead letter.
    public var reason: DeadLetterReason?
    /// The calls that were made; none for an event that does not decode.
    public var attempts: Int?
    /// When the first call was made.
    public var firstAttemptAt: WallTime?
    /// When the outcome was known.
    public var completedAt: WallTime

    /// The facts of an outcome.
    public init(
        outcome: Outcome, firstOutcome: Outcome? = nil, pushService: Int? = nil, status: Int? = nil,
        reason: DeadLetterReason? = nil,
        attempts: Int? = nil, firstAttemptAt: WallTime? = nil, completedAt: WallTime
    ) {
        self.outcome = outcome
        self.firstOutcome = firstOutcome
        self.pushService = pushService
        self.status = status
        self.reason = reason
        self.attempts = attempts
        self.firstAttemptAt = firstAttemptAt
        self.completedAt = completedAt
    }
}

/// Writes the values of the records in the results topic.
public enum ResultEncoder {
    /// The most bytes that a result's value has, whatever its event holds.
    public static let maximumByteCount = 16_384

    /// Appends a result as one line of JSON without the line's end; facts that are absent are left out.
    ///
    /// - Parameters:
    ///   - recordTopic: The topic that the event's record is in; it is the origin unless a header named another.
    ///   - detail: Why it is a dead letter; made one line of at most 1 KiB, and left out when it is empty.
    ///   - backendID: What the backend calls the message; left out when it breaks ``BackendID``'s rule.
    public static func append(
        _ facts: ResultFacts, of event: DecodedEvent, value: RawSpan, recordTopic: String,
        pushServices: PushServices, detail: RawSpan? = nil, backendID: RawSpan? = nil, to output: inout [UInt8]
    ) {
        var writer = JSONObjectWriter()
        if event.id.isPresent { writer.append("id", utf8: event.bytes(of: event.id, value: value), to: &output) }
        if let pushService = facts.pushService {
            writer.append("pns", utf8: pushServices.bytes(ofName: pushService), to: &output)
        }
        if event.user.isPresent {
            writer.append("user", utf8: event.bytes(of: event.user, value: value), to: &output)
        }
        writer.append("outcome", plain: facts.outcome.rawValue, to: &output)
        if let first = facts.firstOutcome { writer.append("firstOutcome", plain: first.rawValue, to: &output) }
        if let status = facts.status { writer.append("status", Int64(status), to: &output) }
        if let reason = facts.reason { writer.append("reason", plain: reason.rawValue, to: &output) }
        if let detail, detail.byteCount > 0 {
            var line: [UInt8] = []
            DetailText.append(detail, to: &line)
            writer.append("detail", utf8: line.span.bytes, to: &output)
        }
        if let backendID, BackendID.isValid(backendID) { writer.append("backendId", utf8: backendID, to: &output) }
        if let attempts = facts.attempts { writer.append("attempts", Int64(attempts), to: &output) }
        if let time = facts.firstAttemptAt { writer.append("firstAttemptAt", time, to: &output) }
        writer.append("completedAt", facts.completedAt, to: &output)
        if event.source.isPresent {
            writer.append("source", utf8: event.bytes(of: event.source, value: value), to: &output)
        }
        if event.campaign.isPresent {
            writer.append("campaign", utf8: event.bytes(of: event.campaign, value: value), to: &output)
        }
        if event.replays > 0 { writer.append("replays", Int64(event.replays), to: &output) }
        writer.key("origin", &output)
        appendOrigin(of: event, value: value, recordTopic: recordTopic, to: &output)
        writer.end(&output)
    }

    private static func appendOrigin(
        of event: DecodedEvent, value: RawSpan, recordTopic: String, to output: inout [UInt8]
    ) {
        var writer = JSONObjectWriter()
        if event.originTopic.isPresent {
            writer.append("topic", utf8: event.bytes(of: event.originTopic, value: value), to: &output)
        } else {
            writer.append("topic", recordTopic, to: &output)
        }
        writer.append("partition", Int64(event.originPartition), to: &output)
        writer.append("offset", event.originOffset, to: &output)
        writer.end(&output)
    }
}
