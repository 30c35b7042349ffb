import HeraldBytes

/// The rule of a zone whose years are alike: the footer of a zone file, a `TZ` string of POSIX with the extensions of
/// RFC 8536 (section 3.3.1).
///
/// `CET-1CEST,M3.5.0,M10.5.0/3`: an hour east of UTC, and two from the last Sunday of March at 02:00 to the last Sunday of
/// October at 03:00.
struct YearlyZone: Equatable, Sendable {
    /// A day and time of each year.
    struct Change: Equatable, Sendable {
        enum Day: Equatable, Sendable {
            /// The day from 1 on, without counting the 29th of February.
            case withoutLeapDay(Int64)
            /// The days after the first of January.
            case ofYear(Int64)
            /// The weekday (0: Sunday) of a month for the n-th time; the fifth is the last one.
            case weekday(Int64, week: Int64, month: Int64)
        }

        var day: Day
        /// Seconds after the day's beginning, by the clock that is in force before the change.
        var time: Int64
    }

    struct Summer: Equatable, Sendable {
        var offset: Int32
        var begins: Change
        var ends: Change
    }

    /// In seconds east of UTC.
    var offset: Int32
    var summer: Summer?

    func offset(at second: Int64) -> Int32 {
        guard let summer else { return offset }
        let year = RFC3339.year(ofDay: RFC3339.floorDivide(second + Int64(offset), by: 86_400))
        let begins = summer.begins.second(in: year) - Int64(offset)
        let ends = summer.ends.second(in: year) - Int64(summer.offset)
        let isSummer = begins < ends ? begins <= second && second < ends : !(ends <= second && second < begins)
        return isSummer ? summer.offset : offset
    }
}

extension YearlyZone.Change {
    /// The local second of a year, counted as if the clock were UTC's.
    fileprivate func second(in year: Int64) -> Int64 { day.day(in: year) * 86_400 + time }
}

extension YearlyZone.Change.Day {
    /// The days from 1970-01-01 on.
    fileprivate func day(in year: Int64) -> Int64 {
        let first = RFC3339.days(year: year, month: 1, day: 1)
        switch self {
        case .ofYear(let days): return first + days
        case .withoutLeapDay(let number):
            let isBehindLeapDay = number > 59 && RFC3339.lastDay(ofMonth: 2, year: year) == 29
            return first + number - (isBehindLeapDay ? 0 : 1)
        case .weekday(let weekday, let week, let month):
            let begin = RFC3339.days(year: year, month: month, day: 1)
            // 1970-01-01 was a Thursday.
            let weekdayOfFirst = (begin % 7 + 11) % 7
            let day = begin + (weekday - weekdayOfFirst + 7) % 7 + (week - 1) * 7
            let last = begin + RFC3339.lastDay(ofMonth: month, year: year) - 1
            return day > last ? day - 7 : day
        }
    }
}

// MARK: - Reading

extension YearlyZone {
    /// Reads a rule; `nil` for anything else.
    init?(_ bytes: RawSpan) {
        var reader = Reader()
        guard reader.skipName(in: bytes), let west = reader.time(in: bytes, mostHours: 24) else { return nil }
        offset = Int32(-west)
        guard reader.offset < bytes.byteCount else { return }
        guard reader.skipName(in: bytes) else { return nil }
        var offsetOfSummer = offset + 3_600
        if reader.offset < bytes.byteCount, bytes[byteAt: reader.offset] != UInt8(ascii: ",") {
            guard let west = reader.time(in: bytes, mostHours: 24) else { return nil }
            offsetOfSummer = Int32(-west)
        }
        guard let begins = reader.change(in: bytes), let ends = reader.change(in: bytes),
            reader.offset == bytes.byteCount
        else { return nil }
        summer = Summer(offset: offsetOfSummer, begins: begins, ends: ends)
    }

    private struct Reader {
        var offset = 0

        private mutating func skip(_ character: Unicode.Scalar, in bytes: RawSpan) -> Bool {
            guard offset < bytes.byteCount, bytes[byteAt: offset] == UInt8(ascii: character) else { return false }
            offset += 1
            return true
        }

        /// `CET`, or `<+03>`.
        mutating func skipName(in bytes: RawSpan) -> Bool {
            let start = offset
            if skip("<", in: bytes) {
                while offset < bytes.byteCount, bytes[byteAt: offset] != UInt8(ascii: ">") { offset += 1 }
                return skip(">", in: bytes)
            }
            while offset < bytes.byteCount,
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[byteAt: offset] & 0xDF)
            {
                offset += 1
            }
            return offset > start
        }

        private mutating func number(most: Int64, in bytes: RawSpan) -> Int64? {
            var value: Int64?
            while offset < bytes.byteCount, (0x30...0x39).contains(bytes[byteAt: offset]) {
                let next = (value ?? 0) * 10 + Int64(bytes[byteAt: offset] - 0x30)
                guard next <= most else { return nil }
                value = next
                offset += 1
            }
            return value
        }

        /// `[+-]hh[:mm[:ss]]`, in seconds.
        mutating func time(in bytes: RawSpan, mostHours: Int64) -> Int64? {
            let isNegative = skip("-", in: bytes)
            if !isNegative { _ = skip("+", in: bytes) }
            guard var seconds = number(most: mostHours, in: bytes).map({ $0 * 3_600 }) else { return nil }
            for unit: Int64 in [60, 1] where skip(":", in: bytes) {
                guard let part = number(most: 59, in: bytes) else { return nil }
                seconds += part * unit
            }
            return isNegative ? -seconds : seconds
        }

        /// `,M3.5.0/2`, `,J60`, or `,59/-1`.
        mutating func change(in bytes: RawSpan) -> Change? {
            guard skip(",", in: bytes), let day = day(in: bytes) else { return nil }
            guard skip("/", in: bytes) else { return Change(day: day, time: 2 * 3_600) }
            return time(in: bytes, mostHours: 167).map { Change(day: day, time: $0) }
        }

        private mutating func day(in bytes: RawSpan) -> Change.Day? {
            if skip("M", in: bytes) {
                guard let month = number(most: 12, in: bytes), month > 0, skip(".", in: bytes),
                    let week = number(most: 5, in: bytes), week > 0, skip(".", in: bytes),
                    let weekday = number(most: 6, in: bytes)
                else { return nil }
                return .weekday(weekday, week: week, month: month)
            }
            if skip("J", in: bytes) {
                guard let number = number(most: 365, in: bytes), number > 0 else { return nil }
                return .withoutLeapDay(number)
            }
            return number(most: 365, in: bytes).map { .ofYear($0) }
        }
    }
}
