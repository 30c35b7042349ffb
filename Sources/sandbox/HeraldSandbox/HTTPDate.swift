import Glibc
import HeraldTime

/// Dates as HTTP writes them.
enum HTTPDate {
    /// The value of a header `Retry-After`: `date+30` becomes the date 30 seconds from now, the rest stays as it is.
    static func retryAfter(_ value: String, now: WallTime) -> String {
        guard value.hasPrefix("date+"), let seconds = Int64(value.dropFirst(5)) else { return value }
        return text(now.advanced(byMilliseconds: seconds.multipliedReportingOverflow(by: 1_000).partialValue))
    }

    /// The moment as `Sat, 21 Nov 2026 08:40:26 GMT`.
    static func text(_ time: WallTime) -> String {
        var seconds = time_t(time.milliseconds / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        return "\(day), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1_900) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
