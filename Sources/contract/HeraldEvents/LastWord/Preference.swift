public import HeraldText
public import HeraldTime

/// A user's last word: a record of the preferences topic, whose key is the user as in the event's `user`.
///
/// The last one counts, and is the whole of it; a record without a value forgets the user.
public struct Preference: Equatable, Sendable {
    /// What the user does not want.
    public var optOut: OptOut
    /// When the user does not want to be disturbed; `nil`: never.
    public var quiet: QuietHours?
    /// When that was said.
    public var updatedAt: WallTime?
    /// Who wrote it: a service, or an operator and a machine.
    public var by: String?
    /// Members that Herald does not know, which stay when it changes the record.
    public var others: [JSONValue.Member] = []

    /// A record.
    public init(_ optOut: OptOut, quiet: QuietHours? = nil, updatedAt: WallTime? = nil, by: String? = nil) {
        self.optOut = optOut
        self.quiet = quiet
        self.updatedAt = updatedAt
        self.by = by
    }

    /// The record's value.
    public func encoded() -> [UInt8] {
        var members: [JSONValue.Member] = [.init("optOut", .array(optOut.entries.map { .string($0) }))]
        if let quiet { members.append(.init("quiet", quiet.json)) }
        if let updatedAt { members.append(.init("updatedAt", .string(RFC3339.text(updatedAt)))) }
        if let by { members.append(.init("by", .string(by))) }
        return Array(JSONValue.object(members + others).compact.utf8)
    }

    /// Reads a record's value: what of it was understood, and what is wrong with it.
    ///
    /// - Returns: the problem as a continuation of "the record"; `nil` for a sound one.
    public static func reading(
        _ value: RawSpan, pushServices: PushServices
    ) -> (preference: Preference, problem: String?) {
        var reader = PreferenceReader(pushServices: pushServices)
        let reading = reader.read(value)
        var preference = Preference(reading.optOut, quiet: reading.quiet)
        if let object = try? JSONValue(value), case .object(let members) = object {
            preference.updatedAt = object["updatedAt"]?.time
            preference.by = object["by"]?.string
            preference.others = members.filter { !["optOut", "quiet", "updatedAt", "by"].contains($0.name) }
        }
        return (preference, reading.problem)
    }
}
