internal import HeraldText
public import HeraldTime

/// What a hub's answer to a question about one of its messages means.
public enum MessageAnswer: Sendable, Hashable {
    /// It knows the message.
    case details(MessageDetails)
    /// It does not know the message: not yet, or no longer.
    case notKnown
    /// It says nothing of the message, and would not say anything of another: it is busy, away, or refuses our
    /// credentials.
    case unavailable(reason: String, retryAfter: Milliseconds?)

    /// So long a hub is left alone at most, whatever it says.
    static let longestPause: Milliseconds = .minutes(10)

    /// Classifies an answer.
    ///
    /// 404 comes before a message is known and for an id that is none (documents disagree), and so do other refusals of one
    /// message: all are asked again until they are too old. 403 says that the right is missing, the quota is used up or, in
    /// older versions, that too much was asked: all of that is so for every message.
    ///
    /// - Parameters:
    ///   - retryAfter: the header as it came, seconds or a date.
    ///   - now: epoch milliseconds, for a date.
    public init(status: Int, retryAfter: String?, body: [UInt8], now: Int64) {
        switch status {
        case 200..<300:
            do throws(InvalidArgument) {
                self = .details(try MessageDetails(document: body))
            } catch {
                self = .unavailable(reason: error.description, retryAfter: nil)
            }
        case 401, 403, 408, 429, 500...:
            self = .unavailable(
                reason: "HTTP \(status)",
                retryAfter: retryAfter.flatMap {
                    RetryAfter.wait($0, now: WallTime(milliseconds: now), limit: Self.longestPause)
                })
        default: self = .notKnown
        }
    }
}
