import HeraldHTTP
import HeraldTime

/// How many sends a hub takes: in a minute, of test sends, and of pushes in a month.
struct SendLimits: Sendable {
    /// Test sends in a minute.
    static let testLimit = 10
    private static let minute: Milliseconds = .minutes(1)

    /// Sends in a minute; `nil` is any number.
    let perMinute: Int?
    /// The status of a send beyond that: 429, or 403 as older versions of the interface answer.
    let throttleStatus: Int
    /// Pushes, one for each device, until the hub takes no more.
    let pushQuota: Int?
    private var sends = MinuteWindow()
    private var tests = MinuteWindow()
    private var pushCount = 0

    init(perMinute: Int?, throttleStatus: Int, pushQuota: Int?) {
        self.perMinute = perMinute
        self.throttleStatus = throttleStatus
        self.pushQuota = pushQuota
    }

    /// Counts pushes, one for each device.
    mutating func count(pushes: Int) { pushCount += pushes }

    /// Counts a send; the answer when it is one too many.
    mutating func refusal(isTest: Bool, at now: MonotonicTime) -> HubReply? {
        if let pushQuota, pushCount >= pushQuota {
            return .failure(403, "The quota of \(pushQuota) pushes is used up")
        }
        if isTest, let wait = tests.count(within: Self.testLimit, at: now) { return throttled(wait) }
        if let perMinute, let wait = sends.count(within: perMinute, at: now) { return throttled(wait) }
        return nil
    }

    private func throttled(_ wait: Milliseconds) -> HubReply {
        var reply = HubReply.failure(throttleStatus, "The request is throttled: too many sends in a minute")
        reply.headers.append(name: "Retry-After", value: "\((wait + .milliseconds(999)).wholeSeconds)")
        return reply
    }

    /// Counts what happens within a minute that begins with the first.
    private struct MinuteWindow: Sendable {
        private var start: MonotonicTime?
        private var number = 0

        /// Counts one more; beyond the limit it is not counted, and the time is told until the next minute begins.
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
