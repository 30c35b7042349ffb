import HeraldBytes
public import HeraldText
public import HeraldTime

/// A record of the dead-letter topic: the event's original bytes, and its failure.
public struct DeadLetter: Equatable, Sendable {
    /// The original record's key.
    public var key: [UInt8]?
    /// The original record's value, untouched; empty when ``omissions`` says that it is not here.
    public var value: [UInt8]
    /// The event's id; absent when it could not be read.
    public var id: String?
    /// The push services that failed; none when the event does not decode.
    public var pushServices: [String]
    /// The calls that were made for each of them.
    public var attempts: Int
    /// The request record.
    public var origin: Origin
    /// The request record's timestamp, if it had one.
    public var originTimestamp: WallTime?
    /// When the first call was made.
    public var firstAttemptAt: WallTime?
    /// The reason why it is here.
    public var reason: DeadLetterReason
    /// The status of the last answer.
    public var status: Int?
    /// One line for people.
    public var detail: String?
    /// The calls, the oldest first; those that are damaged are left out.
    public var history: [AttemptEntry]
    /// The event's source.
    public var source: String?
    /// The event's campaign.
    public var campaign: String?
    /// When it came here.
    public var deadLetteredAt: WallTime
    /// How often it was replayed.
    public var replays: Int
    /// The replacement of the id in the idempotency key.
    public var replayKey: String?
    /// The parts omitted for lack of room: ``origin`` has them while its topic does.
    public var omissions: Omissions

    /// Reads a record of the dead-letter topic.
    public init(key: [UInt8]?, value: [UInt8], headers: HeaderList) throws(InvalidArgument) {
        self.key = key
        self.value = value
        id = try headers.text(.id)
        pushServices = try headers.text(.pushServices)?.split(separator: ",").map { String($0) } ?? []
        attempts = Int(try headers.number(.attempts, 0...Int64(Int32.max)) ?? 0)
        origin = try headers.required(.origin, Origin.init)
        originTimestamp = try headers.time(.originTimestamp)
        firstAttemptAt = try headers.time(.firstAttemptAt)
        reason = try headers.required(.reason, DeadLetterReason.init(rawValue:))
        status = try headers.number(.status, 100...599).map { Int($0) }
        detail = try headers.text(.detail)
        if let history = headers.lastValue(named: HeaderName.history.literal) {
            self.history = AttemptHistory.decode(history)
        } else {
            history = []
        }
        source = try headers.text(.source)
        campaign = try headers.text(.campaign)
        guard let deadLetteredAt = try headers.time(.deadLetteredAt) else {
            throw InvalidArgument("the dead letter has no \(HeaderName.deadLetteredAt)")
        }
        self.deadLetteredAt = deadLetteredAt
        replays = Int(try headers.number(.replays, 0...Int64(Int32.max)) ?? 0)
        replayKey = try headers.text(.key)
        if let list = headers.lastValue(named: HeaderName.omitted.literal) {
            omissions = Omissions(commaSeparated: list)
        } else {
            omissions = []
        }
    }
}

extension DeadLetter {
    /// The failed notifications, by the headers of a dead letter; `nil` when they don't name any.
    public static func failure(
        _ headers: HeaderList, _ names: PushServices
    ) -> (origin: Origin, services: PushServiceSet)? {
        guard let origin = try? headers.required(.origin, Origin.init),
            let list = headers.lastValue(named: HeaderName.pushServices.literal),
            let services = names.set(commaSeparated: list)
        else { return nil }
        return (origin, services)
    }
}

extension HeaderList {
    fileprivate func text(_ name: HeaderName) throws(InvalidArgument) -> String? {
        guard let value = lastValue(named: name.literal) else { return nil }
        guard UTF8Text.isValid(value) else { throw InvalidArgument("the dead letter's \(name) is not UTF-8") }
        return value.text
    }

    fileprivate func number(_ name: HeaderName, _ range: ClosedRange<Int64>) throws(InvalidArgument) -> Int64? {
        guard let value = lastValue(named: name.literal) else { return nil }
        guard let number = value.decimal, range.contains(number) else {
            throw InvalidArgument(
                "the dead letter's \(name) is no whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    fileprivate func time(_ name: HeaderName) throws(InvalidArgument) -> WallTime? {
        try number(name, 0...RFC3339.latest.milliseconds).map { WallTime(milliseconds: $0) }
    }

    fileprivate func required<Value>(
        _ name: HeaderName, _ make: (String) -> Value?
    ) throws(InvalidArgument) -> Value {
        guard let text = try text(name) else { throw InvalidArgument("the dead letter has no \(name)") }
        guard let value = make(text) else { throw InvalidArgument("the dead letter's \(name) is wrong: \(text)") }
        return value
    }
}
