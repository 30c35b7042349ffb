import HeraldHTTP
import HeraldTime

/// The limits of a hub's sends: per minute, of test sends, and of pushes per month.
struct SendLimits: Sendable {
    static let testLimit = 10
    private static let minute: Milliseconds = .minutes(1)

    /// Sends per minute; `nil` is unlimited.
    let perMinute: Int?
    /// The status of a send beyond that limit: 429, or 403 in older versions of the interface.
    let throttleStatus: Int
    /// Pushes, one per device, until the hub refuses more.
    let pushQuota: Int?
    private var sends = MinuteWindow()
    private var tests = MinuteWindow()
    private var pushCount = 0

    init(perMinute: Int?, throttleStatus: Int, pushQuota: Int?) {
        self.perMinute = perMinute
        self.throttleStatus = throttleStatus
        self.pushQuota = pushQuota
    }

    mutating func count(pushes: Int) { pushCount += pushes }

    /// Counts a send; returns the refusal when it is one too many.
    mutating func refusal(isTest: Bool, at now: MonotonicTime) -> Reply? {
        if let pushQuota, pushCount >= pushQuota {
            return .failure(403, "The quota of \(pushQuota) pushes is used up")
        }
        if isTest, let wait = tests.count(within: Self.testLimit, at: now) { return throttled(wait) }
        if let perMinute, let wait = sends.count(within: perMinute, at: now) { return throttled(wait) }
        return nil
    }

    private func throttled(_ wait: Milliseconds) -> Reply {
        var reply = Reply.failure(throttleStatus, "The request is throttled: too many sends in a minute")
        reply.headers.append(name: "Retry-After", value: "\((wait + .milliseconds(999)).wholeSeconds)")
        return reply
    }

    /// Counts the sends within a minute that starts with the first.
    private struct MinuteWindow: Sendable {
        private var start: MonotonicTime?
        private var number = 0

        /// Counts one more; beyond the limit it returns the time until the next minute and does not count.
        mutating func count(within limit: Int, at now: MonotonicTime) -> Milliseconds? {
            if let start, now.time(since: start) < minute {
                guard number < limit else { return minute - now.time(since: start) }
            } else {
                start = now
                number = 0
            }
            number += 1
            return nil
        }
    }
}
