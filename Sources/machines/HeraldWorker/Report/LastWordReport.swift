package import HeraldEvents
public import HeraldTime

/// What a worker knows of users' opt-outs and of recalls.
public struct LastWordReport: Sendable, Equatable {
    /// The users who have opted out of something.
    public var users: Int
    /// The events and campaigns that are recalled.
    public var recalls: Int
    /// The bytes of the table.
    public var bytes: Int
    /// The broken records since the start.
    public var broken: Int
    /// The topics that are not there.
    public var missing: [String]
    /// The moment as of which everything is applied; `nil` before the topics are read.
    public var currentAsOf: MonotonicTime?
    /// When the worker began to read.
    public var began: MonotonicTime
    /// The age beyond which promotional events wait.
    public var maxLag: Milliseconds
    /// Whether there are caps.
    public var hasCaps = false
    /// Those that are being read, if some are.
    public var caps: CapReport?

    /// How old what is known may be; since the start before anything is.
    public func age(now: MonotonicTime) -> Milliseconds { max(.zero, now.time(since: currentAsOf ?? began)) }

    /// That promotional events wait.
    package func finding(now: MonotonicTime) -> Finding? {
        let age = age(now: now)
        let numbers = ["seconds": Int(age.wholeSeconds)]
        guard missing.isEmpty else {
            var finding = Finding(
                .preferencesBehind,
                "there is no topic \(missing.joined(separator: ", ")), so promotional events wait",
                place: missing, step: "run `herald topics apply`", numbers: numbers)
            finding.command = ["herald", "topics", "apply"]
            return finding
        }
        guard age > maxLag else { return caps?.finding(after: maxLag, now: now) }
        let what =
            currentAsOf == nil
            ? "the opt-outs and recalls are not read yet, after \(age.wholeSeconds) s"
            : "what is known of opt-outs and recalls is \(age.wholeSeconds) s old"
        return Finding(.preferencesBehind, "\(what), so promotional events wait", numbers: numbers)
    }
}
