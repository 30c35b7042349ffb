internal import Glibc

/// HTTP dates: reads the three formats, writes the first (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The moment named by `text`; `nil` for other formats or impossible days.
    package static func parse(_ text: String) -> WallTime? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "," }).map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT":  // Sun, 06 Nov 1994 08:49:37 GMT
            return time(day: words[1], month: words[2], year: fourDigits(words[3]), clock: words[4])
        case 4 where words[3] == "GMT":  // Sunday, 06-Nov-94 08:49:37 GMT
            let date = words[1].split(separator: "-").map(String.init)
            guard date.count == 3, date[2].count == 2, let short = number(date[2]) else { return nil }
            // A two-digit year means the one at most 50 years ahead; here, this century's first half.
            return time(day: date[0], month: date[1], year: short < 70 ? 2_000 + short : 1_900 + short, clock: words[2])
        case 5:  // Sun Nov  6 08:49:37 1994
            return time(day: words[2], month: words[1], year: fourDigits(words[4]), clock: words[3])
        default:
            return nil
        }
    }

    /// The moment as `Sat, 21 Nov 2026 08:40:26 GMT`.
    package static func text(_ time: WallTime) -> String {
        var seconds = time_t(time.milliseconds / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        return "\(day), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1_900) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func number(_ text: some StringProtocol) -> Int? {
        text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int(text) : nil
    }

    private static func fourDigits(_ text: String) -> Int? {
        text.utf8.count == 4 ? number(text) : nil
    }

    private static func time(day: String, month: String, year: Int?, clock: String) -> WallTime? {
        guard let year, let day = number(day), let month = months.firstIndex(of: month) else { return nil }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }),
            let hour = number(parts[0]), let minute = number(parts[1]), let second = number(parts[2]),
            hour < 24, minute < 60, second <= 60, day >= 1, day <= length(ofMonth: month + 1, year: year)
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month + 1, day: day)
        return WallTime(milliseconds: (((days * 24 + Int64(hour)) * 60 + Int64(minute)) * 60 + Int64(second)) * 1_000)
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Days from 1970-01-01 in the proleptic Gregorian calendar; years begin in March, so that the leap day is last.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return Int64(365 * marchYear + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468)
    }
}
