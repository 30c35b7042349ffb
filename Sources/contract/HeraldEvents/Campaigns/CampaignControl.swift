import HeraldBytes
public import HeraldText
public import HeraldTime

/// The control of a campaign: a record of the campaigns topic, for workers and tools.
///
/// Its key is the campaign's name, and the last one counts. A cancellation has a key of its own
/// (``cancellationKey(of:)``): no later or concurrent record can undo it.
public struct CampaignControl: Equatable, Sendable {
    /// The state of a campaign.
    public enum State: String, CaseIterable, Sendable {
        /// Its events are delivered.
        case running
        /// Its events are suspended in the retry topics.
        case paused
        /// Its events end as `cancelled` results.
        case cancelled
    }

    /// The campaign's state.
    public var state: State
    /// The time of the decision.
    public var at: WallTime
    /// The author: a user and a machine, or a worker.
    public var by: String
    /// The reason, for people.
    public var reason: String?
    /// The share of failed outcomes, above 0 and at most 1, at which a worker or publisher pauses the campaign.
    public var pauseIfFailures: Double?
    /// What it was written for, beyond its state; `nil` for an operator's order.
    public var cause: Cause?

    /// What a record was written for.
    public enum Cause: String, Sendable {
        /// Too many failed: no operator has decided it.
        case failures
        /// The campaign counts as finished: what is open is left to its retries.
        case finished
    }

    /// Whether it was written because of ``pauseIfFailures`` and not by an operator.
    public var isByFailures: Bool { cause == .failures }

    /// A record.
    public init(
        state: State, at: WallTime, by: String, reason: String? = nil, pauseIfFailures: Double? = nil,
        cause: Cause? = nil
    ) {
        self.cause = cause
        self.state = state
        self.at = at
        self.by = by
        self.reason = reason
        self.pauseIfFailures = pauseIfFailures
    }

    /// The number of known outcomes from which ``pauseIfFailures`` counts.
    public static let outcomesToJudge = 200

    /// The key of a campaign's control record.
    public static func key(of campaign: String) -> [UInt8] { Array(campaign.utf8) }

    /// The key of a campaign's cancellation.
    public static func cancellationKey(of campaign: String) -> [UInt8] { Array("\(campaign)/cancelled".utf8) }

    /// The campaign of a control record; nil when the key belongs to another kind of record.
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
        if let cause { writer.append("cause", plain: cause.rawValue, to: &output) }
        writer.end(&output)
        return output
    }

    /// Reads the value of a control record; unknown members are ignored.
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
        cause = object["cause"]?.string.flatMap(Cause.init(rawValue:))
        if let member = object["pauseIfFailures"] {
            guard let share = member.double, share > 0, share <= 1 else {
                throw InvalidArgument("the campaign's pauseIfFailures is not above 0 and at most 1")
            }
            pauseIfFailures = share
        }
    }
}
