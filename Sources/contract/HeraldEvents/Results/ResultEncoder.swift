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
    /// Why it was suppressed.
    public var suppression: SuppressionReason?
    /// Why its user's quiet hours held nothing.
    public var quietIgnored: QuietIgnored?
    /// The calls that were made; none for an event that does not decode.
    public var attempts: Int?
    /// When the first call was made.
    public var firstAttemptAt: WallTime?
    /// When the last call was made; none when it was the first one, and when none was made since the event came back from a
    /// retry topic.
    public var lastAttemptAt: WallTime?
    /// The offset before which all preferences were applied when the last call began, or when it was suppressed.
    public var preferencesOffset: Int64?
    /// When the outcome was known.
    public var completedAt: WallTime
    /// The parts of the notification that were not handed on, because the backend takes none or the push service has no
    /// place for them.
    public var omitted: ContentFields

    /// The facts of an outcome.
    public init(
        outcome: Outcome, firstOutcome: Outcome? = nil, pushService: Int? = nil, status: Int? = nil,
        reason: DeadLetterReason? = nil, suppression: SuppressionReason? = nil,
        quietIgnored: QuietIgnored? = nil, attempts: Int? = nil, firstAttemptAt: WallTime? = nil,
        lastAttemptAt: WallTime? = nil, preferencesOffset: Int64? = nil, completedAt: WallTime,
        omitted: ContentFields = []
    ) {
        self.outcome = outcome
        self.firstOutcome = firstOutcome
        self.pushService = pushService
        self.status = status
        self.reason = reason
        self.suppression = suppression
        self.quietIgnored = quietIgnored
        self.attempts = attempts
        self.firstAttemptAt = firstAttemptAt
        self.lastAttemptAt = lastAttemptAt
        self.preferencesOffset = preferencesOffset
        self.completedAt = completedAt
        self.omitted = omitted
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
    ///   - detail: Why it is a dead letter, expired or suppressed; made one line of at most 1 KiB, and left out when it is empty.
    ///   - backendID: What the backend calls the message; left out when it breaks ``BackendID``'s rule.
    public static func append(
        _ facts: ResultFacts, of event: DecodedEvent, value: RawSpan, recordTopic: String,
        pushServices: PushServices, detail: RawSpan? = nil, backendID: RawSpan? = nil, to output: inout [UInt8]
    ) {
        var line: [UInt8] = []
        if let detail, detail.byteCount > 0 { DetailText.append(detail, to: &line) }
        let requested =
            facts.pushService.map { event.requestedNames(of: $0, value: value, pushServices) } ?? []
        // Once for all of it: making room for each piece would cost more than writing it.
        let ofEvent = Int(
            event.id.count &+ event.user.count &+ event.source.count &+ event.campaign.count &+ event.originTopic.count)
        let ofOthers =
            PushServices.maximumNameCount + line.count + (backendID == nil ? 0 : BackendID.maximumCount)
            + recordTopic.utf8.count + requested.reduce(0) { $0 + $1.count + 3 }
        output.append(room: roomBesideTexts + 6 * (ofEvent + ofOthers)) { output in
            write(
                facts, of: event, requested, value: value, recordTopic: recordTopic, pushServices: pushServices,
                detail: line.span.bytes, backendID: backendID, to: &output)
        }
    }

    /// What a result takes beside its texts: at most 24 keys of 291 bytes together, four words of 62, three moments of 78, six
    /// numbers of 120, the omitted parts' names of 58, the texts' quotes and two braces are 611.
    private static let roomBesideTexts = 640

    private static func write(
        _ facts: ResultFacts, of event: DecodedEvent, _ requested: [[UInt8]], value: RawSpan, recordTopic: String,
        pushServices: PushServices, detail: RawSpan, backendID: RawSpan?, to output: inout ByteWriter
    ) {
        var writer = JSONObjectWriter()
        if event.id.isPresent { writer.write("id", utf8: event.bytes(of: event.id, value: value), to: &output) }
        if let pushService = facts.pushService {
            writer.write("pns", utf8: pushServices.bytes(ofName: pushService), to: &output)
        }
        if !requested.isEmpty { writer.write("requestedPns", texts: requested, to: &output) }
        if event.user.isPresent {
            writer.write("user", utf8: event.bytes(of: event.user, value: value), to: &output)
        }
        writer.write("outcome", plain: facts.outcome.rawValue, to: &output)
        if let first = facts.firstOutcome { writer.write("firstOutcome", plain: first.rawValue, to: &output) }
        if let status = facts.status { writer.write("status", Int64(status), to: &output) }
        if let reason = facts.reason { writer.write("reason", plain: reason.rawValue, to: &output) }
        if let suppression = facts.suppression { writer.write("reason", plain: suppression.rawValue, to: &output) }
        if let ignored = facts.quietIgnored { writer.write("quietIgnored", plain: ignored.rawValue, to: &output) }
        if detail.byteCount > 0 { writer.write("detail", utf8: detail, to: &output) }
        if !facts.omitted.isEmpty { writer.write("omitted", facts.omitted, to: &output) }
        if let backendID, BackendID.isValid(backendID) { writer.write("backendId", utf8: backendID, to: &output) }
        if let attempts = facts.attempts { writer.write("attempts", Int64(attempts), to: &output) }
        if let time = facts.firstAttemptAt { writer.write("firstAttemptAt", time, to: &output) }
        if let time = facts.lastAttemptAt { writer.write("lastAttemptAt", time, to: &output) }
        if let offset = facts.preferencesOffset { writer.write("preferencesOffset", offset, to: &output) }
        writer.write("completedAt", facts.completedAt, to: &output)
        if event.source.isPresent {
            writer.write("source", utf8: event.bytes(of: event.source, value: value), to: &output)
        }
        if event.campaign.isPresent {
            writer.write("campaign", utf8: event.bytes(of: event.campaign, value: value), to: &output)
        }
        if event.replays > 0 { writer.write("replays", Int64(event.replays), to: &output) }
        writer.key("origin", &output)
        var origin = JSONObjectWriter()
        if event.originTopic.isPresent {
            origin.write("topic", utf8: event.bytes(of: event.originTopic, value: value), to: &output)
        } else {
            origin.write("topic", utf8: recordTopic.utf8.span.bytes, to: &output)
        }
        origin.write("partition", Int64(event.originPartition), to: &output)
        origin.write("offset", event.originOffset, to: &output)
        origin.end(&output)
        writer.end(&output)
    }
}
