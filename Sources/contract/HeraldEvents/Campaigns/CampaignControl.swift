import HeraldBytes
public import HeraldText
public import HeraldTime

/// What a campaign is to do: a record of the campaigns topic, for workers and tools.
///
/// Its key is the campaign's name, and the last one counts. That a campaign is cancelled stands under a key of its own
/// (``cancellationKey(of:)``): nothing that is written later, or was on its way, can undo it.
public struct CampaignControl: Equatable, Sendable {
    /// What a campaign does.
    public enum State: String, CaseIterable, Sendable {
        /// Its events are delivered.
        case running
        /// Its events are suspended in the retry topics.
        case paused
        /// Its events end as `cancelled` results.
        case cancelled
    }

    /// What it is to do.
    public var state: State
    /// Since when.
    public var at: WallTime
    /// Who wrote it: a user and a machine, or a worker.
    public var by: String
    /// Why, for people.
    public var reason: String?
    /// The share of failed outcomes, above 0 and at most 1, at which the worker or publisher that sees it writes that
    /// the campaign is paused.
    public var pauseIfFailures: Double?
    /// Whether no operator has decided it: it was written because of ``pauseIfFailures``.
    public var isByFailures: Bool

    /// A record.
    public init(
        state: State, at: WallTime, by: String, reason: String? = nil, pauseIfFailures: Double? = nil,
        isByFailures: Bool = false
    ) {
        self.isByFailures = isByFailures
        self.state = state
        self.at = at
        self.by = by
        self.reason = reason
        self.pauseIfFailures = pauseIfFailures
    }

    /// The record's `cause` when no operator has decided it.
    private static let failures = "failures"

    /// How many outcomes have to be known before ``pauseIfFailures`` counts.
    public static let outcomesToJudge = 200

    /// The key of a campaign's control record.
    public static func key(of campaign: String) -> [UInt8] { Array(campaign.utf8) }

    /// The key of the record that says that a campaign is cancelled.
    public static func cancellationKey(of campaign: String) -> [UInt8] { Array("\(campaign)/cancelled".utf8) }

    /// The campaign that a control record is about, or nothing when the key is that of another kind of record.
    public static func campaign(ofKey key: RawSpan) -> String? {
        let text = key.text
        let name = text.hasSuffix("/cancelled") ? String(text.dropLast("/cancelled".utf8.count)) : text
        return isName(name) ? name : nil
    }

    /// Whether a campaign of `herald campaign` can have this name: 1 to 64 of `[A-Za-z0-9._-]`.
    public static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && Topics.isName(name)
    }

    /// The record's value.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        var writer = JSONObjectWriter()
        writer.append("state", plain: state.rawValue, to: &output)
        writer.append("at", at, to: &output)
        writer.append("by", by, to: &output)
        if let reason { writer.append("reason", reason, to: &output) }
        if let pauseIfFailures {
            writer.key("pauseIfFailures", &output)
            output.append(contentsOf: "\(pauseIfFailures)".utf8)
        }
        if isByFailures {
            writer.append("cause", plain: Self.failures, to: &output)
        }
        writer.end(&output)
        return output
    }

    /// Reads the value of a control record; members that are not known are ignored.
    public init(decoding value: RawSpan) throws(InvalidArgument) {
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONValue(value)
        } catch {
            throw InvalidArgument("the campaign's record \(error)")
        }
        guard let state = object["state"]?.string.flatMap(State.init(rawValue:)) else {
            throw InvalidArgument("the campaign's state has to be running, paused or cancelled")
        }
        guard let at = object["at"]?.time else {
            throw InvalidArgument("the campaign's record has no at, an RFC 3339 date-time")
        }
        self.init(state: state, at: at, by: object["by"]?.string ?? "", reason: object["reason"]?.string)
        isByFailures = object["cause"]?.string == Self.failures
        if let member = object["pauseIfFailures"] {
            guard let share = member.double, share > 0, share <= 1 else {
                throw InvalidArgument("the campaign's pauseIfFailures is not above 0 and at most 1")
            }
            pauseIfFailures = share
        }
    }
}
