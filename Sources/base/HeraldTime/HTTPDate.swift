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

    package static func text(_ time: WallTime) -> String {
        var seconds = time_t(time.milliseconds / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        return "\(day), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1_900) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func number(_ text: some StringProtocol) -> Int64? {
        text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int64(text) : nil
    }

    private static func fourDigits(_ text: String) -> Int64? {
        text.utf8.count == 4 ? number(text) : nil
    }

    private static func time(day: String, month: String, year: Int64?, clock: String) -> WallTime? {
        guard let year, let day = number(day), let month = months.firstIndex(of: month).map({ Int64($0) + 1 }) else {
            return nil
        }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }),
            let hour = number(parts[0]), let minute = number(parts[1]), let second = number(parts[2]),
            hour < 24, minute < 60, second <= 60, day >= 1,
            day <= RFC3339.lastDay(ofMonth: month, year: year)
        else { return nil }
        let days = RFC3339.days(year: year, month: month, day: day)
        return WallTime(milliseconds: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
    }
}
