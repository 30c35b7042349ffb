import HeraldBytes
import HeraldEvents
import HeraldTime

/// The headers of a record in a retry topic.
struct RetryNote: Equatable {
    var delay: String
    /// The push services still open.
    var pushServices: [String]
    /// Calls made so far for each of them.
    var attempts: Int
    var dueAt: WallTime
    var reason: RetryReason
    /// The status of the last answer, if there was one.
    var status: Int?
}

extension RetryNote {
    /// Reads a record's headers; nil when one is missing or wrong.
    init?(delay: String, headers: HeaderList) {
        guard let services = headers.lastValue(named: HeaderName.pushServices.literal)?.text,
            let due = headers.lastValue(named: HeaderName.notBefore.literal)?.decimal,
            let reason = headers.lastValue(named: HeaderName.reason.literal)?.text,
            let known = RetryReason(rawValue: reason)
        else { return nil }
        self.init(
            delay: delay, pushServices: services.split(separator: ",").map { String($0) },
            attempts: Int(headers.lastValue(named: HeaderName.attempts.literal)?.decimal ?? 0),
            dueAt: WallTime(milliseconds: due), reason: known,
            status: headers.lastValue(named: HeaderName.status.literal)?.decimal.map { Int($0) })
    }
}
