import HeraldBytes

/// The names of Herald's topics.
public struct Topics: Hashable, Sendable {
    /// Where events come from.
    public var requests: [String] = ["notifications", "notifications.bulk"]
    /// Where results go.
    public var results = "notifications.results"
    /// Where it stands what became of notifications that a hub took.
    public var feedback = "notifications.feedback"
    /// What the names of the retry topics begin with, without the dot that the delay follows.
    public var retry = "notifications.retry"
    /// Where dead letters go.
    public var deadLetter = "notifications.dead-letter"
    /// Where campaigns stand.
    public var campaigns = "notifications.campaigns"
    /// Where audiences of campaigns are kept that begin later.
    public var audiences = "notifications.audiences"
    /// Where it stands which dead letters were replayed.
    public var state = "notifications.dead-letter.state"
    /// The audit: which operator did what to dead letters.
    public var audit = "notifications.audit"
    /// What users do not want.
    public var preferences = "notifications.preferences"
    /// Which events and campaigns are recalled.
    public var recalls = "notifications.recalls"
    /// What was delivered to users, as far as caps count it.
    public var caps = "notifications.caps"

    /// The names that Herald has unless told otherwise.
    public init() {}

    /// The topic in which events wait for this long.
    public func retryTopic(_ delay: DelayName) -> String { "\(retry).\(delay)" }

    /// The delay of the retry topic with this name, or nothing when it is not the name of a retry topic.
    public func delay(ofTopic name: String) -> DelayName? {
        guard name.utf8.count > retry.utf8.count, name.hasPrefix(retry + ".") else { return nil }
        return DelayName(String(name.dropFirst(retry.count + 1)))
    }

    /// The delays whose topics workers read, the shortest first: those of the settings, and those of other retry topics that
    /// there are, which workers read until they are empty.
    ///
    /// - Parameter existing: the names of the cluster's topics.
    package func delays(_ configured: [DelayName], among existing: some Sequence<String>) -> [DelayName] {
        Set(configured).union(existing.compactMap(delay(ofTopic:)))
            .sorted { ($0.length, $0.description) < ($1.length, $1.description) }
    }

    /// Whether a Kafka topic can have this name: 1 to 249 of `[A-Za-z0-9._-]`, but not `.` or `..`.
    public static func isName(_ name: String) -> Bool {
        isName(Array(name.utf8).span.bytes)
    }

    static func isName(_ name: RawSpan) -> Bool {
        guard (1...249).contains(name.byteCount), !name.hasSameBytes(as: "."), !name.hasSameBytes(as: "..")
        else { return false }
        for offset in 0..<name.byteCount where !alphabet.contains(name[byteAt: offset]) { return false }
        return true
    }

    private static let alphabet = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
}
