internal import HeraldText

/// The words of a dead letter whose retry no delay's topic had room for.
///
/// Its reason is `oversized`, as of what a publisher made too large; only its detail says that a topic's limit is to blame.
public enum UnfitRetry {
    private static let phrase = "no delay's topic has room for its retry (max.message.bytes): "

    /// The end of its detail.
    public static func detail(topics: [String]) -> String { phrase + topics.joined(separator: ", ") }

    /// The topics that a detail names; `nil` when it says something else.
    public static func topics(in detail: String) -> String? {
        detail.firstRange(of: phrase).map { String(detail[$0.upperBound...]) }
    }
}
