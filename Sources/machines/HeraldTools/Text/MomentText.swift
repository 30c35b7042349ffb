internal import Glibc
internal import HeraldBytes
package import HeraldText
package import HeraldTime

/// Moments as people write them.
package enum MomentText {
    /// The moment that a text names (`2026-11-21T08:40:26Z`), at which the clock here last showed it (`22:00`), or that
    /// lies so long before `now` (`2d`); `nil` when it is none of these.
    package static func parse(_ text: String, now: WallTime) -> WallTime? {
        if let moment = RFC3339.parse(Array(text.utf8).span.bytes) { return moment }
        if let moment = timeOfDay(text, now) { return moment }
        return DurationText.parse(text).map { now.advanced(by: -Milliseconds($0)) }
    }

    /// A time of the last 24 hours in this machine's zone, `HH:MM`.
    private static func timeOfDay(_ text: String, _ now: WallTime) -> WallTime? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int32(parts[0]),
            let minute = Int32(parts[1]), 0..<24 ~= hour, 0..<60 ~= minute
        else { return nil }
        var seconds = time_t(now.milliseconds / 1_000)
        var day = tm()
        guard localtime_r(&seconds, &day) != nil else { return nil }
        func moment(daysBack: Int32) -> WallTime {
            var time = day
            (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, 0)
            time.tm_mday -= daysBack
            // Unknown: the library finds out whether summer time applies.
            time.tm_isdst = -1
            return WallTime(milliseconds: Int64(mktime(&time)) * 1_000)
        }
        let today = moment(daysBack: 0)
        return today <= now ? today : moment(daysBack: 1)
    }

    /// The same of a parameter that people name.
    package static func parse(_ text: String, name: String, now: WallTime) throws(InvalidArgument) -> WallTime {
        guard let moment = parse(text, now: now) else {
            throw InvalidArgument(
                "\(name): \(SafeText.quoted(text)) is neither a moment such as 2026-11-21T08:40:26Z nor a duration such as 2h"
            )
        }
        return moment
    }
}

extension WallTime {
    /// RFC 3339 in UTC, with milliseconds.
    package var text: String { RFC3339.text(self) }
}
