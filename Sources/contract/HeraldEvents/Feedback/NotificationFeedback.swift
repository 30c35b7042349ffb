import HeraldBytes
import HeraldText
public import HeraldTime

/// A record of the feedback topic about a notification: its outcomes at the push service's own devices, as the hub
/// counts them.
public struct NotificationFeedback: Equatable, Sendable {
    /// The reason why a notification is not asked about again.
    public enum Conclusion: String, Sendable, CaseIterable {
        /// The hub's answer is final.
        case final
        /// The hub knows the notification and had not finished with it when it was 30 minutes old.
        case tooOld = "too-old"
        /// The hub does not know the notification, or no longer.
        case unknown
    }

    /// The name of the outcome for a device whose push service accepted the notification.
    public static let success = "Success"
    /// The name of the outcome without a device.
    public static let noTargets = "NoTargets"
    /// The most outcomes that are kept of one notification.
    public static let outcomeLimit = 64

    /// The event's id; absent when its result has none.
    public var id: String?
    /// The push service.
    public var pushService: String?
    /// The event's user.
    public var user: String?
    /// The event's campaign.
    public var campaign: String?
    /// The event's source.
    public var source: String?
    /// How often the event was replayed.
    public var replays: Int
    /// The hub's id of the notification.
    public var backendID: String
    /// The reason why it is not asked about again.
    public var conclusion: Conclusion
    /// The hub's own word for the notification's state (`Completed`, `NoTargetFound`); absent when unknown.
    public var state: String?
    /// The devices by the hub's outcome (`Success`, `BadChannel` …), over all platforms.
    public var outcomes: [String: Int]
    /// The time at which the hub accepted the notification: its result's `completedAt`.
    public var sentAt: WallTime
    /// The time of the last question to the hub.
    public var checkedAt: WallTime
    /// The request record.
    public var origin: Origin

    /// Feedback on the delivery in this result.
    public init(
        on result: NotificationResult, backendID: String, conclusion: Conclusion, state: String?,
        outcomes: [String: Int], checkedAt: WallTime
    ) {
        id = result.id
        pushService = result.pushService
        user = result.user
        campaign = result.campaign
        source = result.source
        replays = result.replays
        self.backendID = backendID
        self.conclusion = conclusion
        self.state = state
        self.outcomes = outcomes
        sentAt = result.completedAt
        self.checkedAt = checkedAt
        origin = result.origin
    }

    /// The number of devices whose push service accepted the notification.
    public var reached: Int { outcomes[Self.success] ?? 0 }

    /// The key of its record: the user, as a result's; absent when its result has none.
    public var recordKey: [UInt8]? { user.map { Array($0.utf8) } }

    init(_ fields: RecordFields) throws(InvalidArgument) {
        id = try fields.string("id")
        pushService = try fields.string("pns")
        user = try fields.string("user")
        campaign = try fields.string("campaign")
        source = try fields.string("source")
        replays = try fields.integer("replays", 1...Int(Int32.max)) ?? 0
        guard let backendID = try fields.backendID() else { throw InvalidArgument("the feedback has no backendId") }
        self.backendID = backendID
        conclusion = try fields.required("conclusion", Conclusion.init(rawValue:))
        state = try fields.string("state")
        outcomes = try fields.counts("outcomes")
        sentAt = try fields.requiredTime("sentAt")
        checkedAt = try fields.requiredTime("checkedAt")
        origin = try fields.origin()
    }

    /// The value of its record: one line of JSON.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        var writer = JSONObjectWriter()
        writer.append("type", plain: FeedbackRecord.Kind.notification.rawValue, to: &output)
        writer.append("id", present: id, to: &output)
        writer.append("pns", present: pushService, to: &output)
        writer.append("user", present: user, to: &output)
        writer.append("campaign", present: campaign, to: &output)
        writer.append("source", present: source, to: &output)
        if replays > 0 { writer.append("replays", Int64(replays), to: &output) }
        writer.append("backendId", backendID, to: &output)
        writer.append("conclusion", plain: conclusion.rawValue, to: &output)
        writer.append("state", present: state, to: &output)
        writer.key("outcomes", &output)
        Self.append(outcomes, to: &output)
        writer.append("reached", Int64(reached), to: &output)
        writer.append("sentAt", sentAt, to: &output)
        writer.append("checkedAt", checkedAt, to: &output)
        writer.key("origin", &output)
        var place = JSONObjectWriter()
        place.append("topic", origin.topic, to: &output)
        place.append("partition", Int64(origin.partition), to: &output)
        place.append("offset", origin.offset, to: &output)
        place.end(&output)
        writer.end(&output)
        return output
    }

    private static func append(_ counts: [String: Int], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (index, entry) in counts.sorted(by: { $0.key < $1.key }).prefix(outcomeLimit).enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            JSONText.appendString(entry.key.utf8.span.bytes, to: &output)
            output.append(UInt8(ascii: ":"))
            output.append(decimal: Int64(entry.value))
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension JSONObjectWriter {
    /// Writes a member unless its text is absent.
    mutating func append(_ name: StaticString, present text: String?, to output: inout [UInt8]) {
        if let text { append(name, text, to: &output) }
    }
}
