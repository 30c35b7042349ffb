internal import HeraldText
public import HeraldTime

/// The meaning of a hub's answer to a question about one of its messages.
public enum MessageAnswer: Sendable, Hashable {
    /// It knows the message.
    case details(MessageDetails)
    /// It does not know the message: not yet, or no longer.
    case notKnown
    /// It has no information about any message: it is busy, away, or refuses our credentials.
    case unavailable(reason: String, retryAfter: Milliseconds?)

    /// The longest pause of a hub, whatever it requests.
    static let longestPause: Milliseconds = .minutes(10)

    /// Classifies an answer.
    ///
    /// 404 is the answer before a message is known and for an invalid id (documents disagree), as are other refusals of
    /// one message: all are asked again until they are too old. 403 means that the right is missing, the quota is used
    /// up or, in older versions, that there were too many requests: all of that holds for every message.
    ///
    /// - Parameters:
    ///   - retryAfter: the header as received, seconds or a date.
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
