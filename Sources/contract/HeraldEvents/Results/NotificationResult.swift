import HeraldBytes
public import HeraldText
public import HeraldTime

/// A record of the results topic: how an event ended for a push service.
public struct NotificationResult: Equatable, Sendable {
    /// The event's id; absent when it could not be read.
    public var id: String?
    /// The push service; absent when the event does not decode or breaks a rule.
    public var pushService: String?
    /// The event's user; absent when it could not be read.
    public var user: String?
    /// How it ended.
    public var outcome: Outcome
    /// How the event ended that it is a duplicate of; absent when the worker did not know.
    public var firstOutcome: Outcome?
    /// The status of the last answer.
    public var status: Int?
    /// Why it is a dead letter.
    public var reason: DeadLetterReason?
    /// What was wrong with the event, or what the backend said of it, when it is a dead letter: one line for people.
    public var detail: String?
    /// The calls that were made.
    public var attempts: Int?
    /// When the first call was made.
    public var firstAttemptAt: WallTime?
    /// When the outcome was known.
    public var completedAt: WallTime
    /// The event's source.
    public var source: String?
    /// The event's campaign.
    public var campaign: String?
    /// How often the event was replayed.
    public var replays: Int
    /// The request record.
    public var origin: Origin

    /// Reads the value of a record of the results topic; fields that are not known are ignored.
    public init(decoding value: RawSpan) throws(InvalidArgument) {
        let fields = try ResultFields(value)
        id = try fields.string("id")
        pushService = try fields.string("pns")
        user = try fields.string("user")
        outcome = try fields.required("outcome", Outcome.init(rawValue:))
        firstOutcome = try fields.named("firstOutcome", Outcome.init(rawValue:))
        status = try fields.integer("status", 100...599)
        reason = try fields.named("reason", DeadLetterReason.init(rawValue:))
        detail = try fields.string("detail")
        attempts = try fields.integer("attempts", 0...Int(Int32.max))
        firstAttemptAt = try fields.time("firstAttemptAt")
        guard let completedAt = try fields.time("completedAt") else {
            throw InvalidArgument("the result has no completedAt")
        }
        self.completedAt = completedAt
        source = try fields.string("source")
        campaign = try fields.string("campaign")
        replays = try fields.integer("replays", 1...Int(Int32.max)) ?? 0
        origin = try fields.origin()
    }

    /// Reads the value of a record of the results topic; fields that are not known are ignored.
    public init(decoding value: [UInt8]) throws(InvalidArgument) {
        try self.init(decoding: value.span.bytes)
    }
}

/// The members of a result, each with its rule; a member that is there and wrong is an error.
private struct ResultFields {
    private let object: JSONValue

    init(_ value: RawSpan) throws(InvalidArgument) {
        do throws(JSONError) {
            object = try JSONValue(value)
        } catch {
            throw InvalidArgument("the result \(error)")
        }
        guard case .object = object else { throw InvalidArgument("the result is not a JSON object") }
    }

    func string(_ name: String) throws(InvalidArgument) -> String? {
        guard let member = object[name] else { return nil }
        guard let text = member.string else { throw wrong(name, "a string") }
        return text
    }

    func integer(_ name: String, _ range: ClosedRange<Int>) throws(InvalidArgument) -> Int? {
        guard let member = object[name] else { return nil }
        guard let number = member.integer, range.contains(Int(number)) else {
            throw wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(number)
    }

    func time(_ name: String) throws(InvalidArgument) -> WallTime? {
        guard let member = object[name] else { return nil }
        guard let time = member.time else { throw wrong(name, "an RFC 3339 date-time") }
        return time
    }

    func named<Name>(_ name: String, _ make: (String) -> Name?) throws(InvalidArgument) -> Name? {
        guard let text = try string(name) else { return nil }
        guard let value = make(text) else { throw wrong(name, "one of the contract's names") }
        return value
    }

    func required<Name>(_ name: String, _ make: (String) -> Name?) throws(InvalidArgument) -> Name {
        guard let value = try named(name, make) else { throw InvalidArgument("the result has no \(name)") }
        return value
    }

    func origin() throws(InvalidArgument) -> Origin {
        guard let origin = object["origin"], let topic = origin["topic"]?.string,
            let partition = origin["partition"]?.integer, let narrow = Int32(exactly: partition), narrow >= 0,
            let offset = origin["offset"]?.integer, offset >= 0, Topics.isName(topic)
        else { throw wrong("origin", "topic, partition and offset") }
        return Origin(topic: topic, partition: narrow, offset: offset)
    }

    private func wrong(_ name: String, _ rule: String) -> InvalidArgument {
        InvalidArgument("the result's \(name) is wrong; it has to be \(rule)")
    }
}
