import HeraldText
public import HeraldTime

/// How many promotional notifications a user gets within a time: a rule of `preferences.caps`.
public struct CapRule: Hashable, Sendable {
    /// The longest time that a rule may look back.
    package static let longest: Milliseconds = .days(31)
    /// The shortest.
    package static let shortest: Milliseconds = .minutes(1)
    /// What its limit may be.
    package static let limits = 1...100
    /// The most rules.
    package static let most = 8

    /// The source whose events it counts and stops; `nil`: those of all sources, and those without one.
    public var source: String?
    /// The most events that are delivered within the time.
    public var limit: Int
    /// The time, which slides: a delivery counts from its moment on until it is over.
    public var per: Milliseconds

    /// A rule.
    public init(source: String? = nil, limit: Int, per: Milliseconds) {
        self.source = source
        self.limit = limit
        self.per = per
    }

    /// Reads `3/24h`, a rule for all sources; `nil` for other text, or a rule that is not allowed.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let limit = Int(parts[0]), Self.limits.contains(limit),
            let per = DurationText.parse(parts[1]).map({ Milliseconds($0) }),
            (Self.shortest...Self.longest).contains(per)
        else { return nil }
        self.init(limit: limit, per: per)
    }

    /// `3/24h`: how many within which time.
    package var text: String { "\(limit)/\(DurationText.format(per.duration))" }

    /// The words about an event that it stopped, for its result.
    ///
    /// - Parameter next: When the next one may come.
    package func words(next: WallTime) -> String {
        let source = source.map { " of \($0)" } ?? ""
        return "\(limit) of \(limit) promotional notifications\(source) within "
            + "\(DurationText.format(per.duration)); the next may come at \(RFC3339.text(next))"
    }
}
