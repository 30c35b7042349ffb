package import HeraldBytes

/// Reads and writes moments as RFC 3339 date-times, without Foundation and without strings.
public enum RFC3339 {
    /// The length of a written moment in bytes: `2026-11-21T08:40:26.123Z`.
    public static let formattedByteCount = 24

    /// The first moment that can be written, 0000-01-01T00:00:00.000Z.
    public static let earliest = WallTime(milliseconds: -62_167_219_200_000)

    /// The last moment that can be written, 9999-12-31T23:59:59.999Z.
    public static let latest = WallTime(milliseconds: 253_402_300_799_999)

    private static let millisecondsPerDay: Int64 = 86_400_000

    /// The moment named by the bytes; nil unless they are exactly one RFC 3339 date-time.
    ///
    /// Digits after the milliseconds are dropped. A leap second counts as the following second; it is accepted only
    /// where leap seconds can occur, at 23:59:60 UTC.
    public static func parse(_ bytes: RawSpan) -> WallTime? {
        var reader = DigitReader()
        guard let year = reader.number(digits: 4, in: bytes), reader.skip("-", in: bytes),
            let month = reader.number(digits: 2, in: bytes), reader.skip("-", in: bytes),
            let day = reader.number(digits: 2, in: bytes), reader.skip("T", or: "t", in: bytes),
            let hour = reader.number(digits: 2, in: bytes), reader.skip(":", in: bytes),
            let minute = reader.number(digits: 2, in: bytes), reader.skip(":", in: bytes),
            let second = reader.number(digits: 2, in: bytes),
            let milliseconds = reader.fraction(in: bytes), let offset = reader.offsetMinutes(in: bytes),
            reader.offset == bytes.byteCount,
            (1...12).contains(month), day >= 1, day <= lastDay(ofMonth: month, year: year),
            hour <= 23, minute <= 59, second <= 60
        else { return nil }
        let minuteOfDay = hour * 60 + minute - offset
        if second == 60 {
            guard ((minuteOfDay % 1_440) + 1_440) % 1_440 == 1_439 else { return nil }
        }
        let dayStart = days(year: year, month: month, day: day) * millisecondsPerDay
        return WallTime(milliseconds: dayStart + minuteOfDay * 60_000 + second * 1_000 + milliseconds)
    }

    /// What a clock shows in a date-time that people have written, counted as if the clock were UTC's, and its offset in
    /// seconds east of UTC, where it names one; `nil` unless the bytes are exactly one.
    ///
    /// Seconds may be left out, and a space may stand in place of the `T`: `2026-12-24 09:00`.
    package static func clock(_ bytes: RawSpan) -> (shown: WallTime, offset: Int32?)? {
        var reader = DigitReader()
        guard let year = reader.number(digits: 4, in: bytes), reader.skip("-", in: bytes),
            let month = reader.number(digits: 2, in: bytes), reader.skip("-", in: bytes),
            let day = reader.number(digits: 2, in: bytes), reader.skip("T", or: " ", in: bytes),
            let hour = reader.number(digits: 2, in: bytes), reader.skip(":", in: bytes),
            let minute = reader.number(digits: 2, in: bytes),
            (1...12).contains(month), day >= 1, day <= lastDay(ofMonth: month, year: year), hour <= 23, minute <= 59
        else { return nil }
        var milliseconds = days(year: year, month: month, day: day) * millisecondsPerDay + (hour * 60 + minute) * 60_000
        if reader.skip(":", in: bytes) {
            guard let second = reader.number(digits: 2, in: bytes), second <= 59,
                let fraction = reader.fraction(in: bytes)
            else { return nil }
            milliseconds += second * 1_000 + fraction
        }
        let shown = WallTime(milliseconds: milliseconds)
        if reader.offset == bytes.byteCount { return (shown, nil) }
        guard let minutes = reader.offsetMinutes(in: bytes), reader.offset == bytes.byteCount else { return nil }
        return (shown, Int32(minutes * 60))
    }

    /// The moment in UTC with milliseconds, in the format of ``append(_:to:)``.
    package static func text(_ time: WallTime) -> String {
        var bytes: [UInt8] = []
        append(time, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the moment in UTC with milliseconds, such as `2026-11-21T08:40:26.123Z`.
    ///
    /// A moment outside of the years 0 to 9999 is written as the nearest one inside.
    public static func append(_ time: WallTime, to output: inout [UInt8]) {
        output.append(room: formattedByteCount) { write(time, to: &$0) }
    }

    /// Writes the moment in the format of ``append(_:to:)``; it has ``formattedByteCount`` bytes.
    package static func write(_ time: WallTime, to writer: inout ByteWriter) {
        let bounded = min(max(time, earliest), latest).milliseconds
        // Unsigned 32-bit numbers, which divide fast.
        let sinceEarliest = bounded &- earliest.milliseconds
        let day = sinceEarliest / millisecondsPerDay
        let ofDay = UInt32(truncatingIfNeeded: sinceEarliest &- day &* millisecondsPerDay)
        let date = civil(daysSinceYearZero: UInt32(truncatingIfNeeded: day))
        let (hours, minutes, seconds) = (ofDay / 3_600_000, ofDay / 60_000, ofDay / 1_000)
        let fraction = ofDay &- seconds &* 1_000
        // Eight characters at once, the first in the lowest byte.
        writer.write(
            word: digits(date.year / 100) | digits(date.year % 100) &<< 16 | 0x2D &<< 32
                | digits(date.month) &<< 40 | 0x2D &<< 56)
        writer.write(
            word: digits(date.day) | 0x54 &<< 16 | digits(hours) &<< 24 | 0x3A &<< 40
                | digits(minutes &- hours &* 60) &<< 48)
        writer.write(
            word: 0x3A | digits(seconds &- minutes &* 60) &<< 8 | 0x2E &<< 24
                | UInt64(fraction / 100 &+ 0x30) &<< 32 | digits(fraction % 100) &<< 40 | 0x5A &<< 56)
    }

    /// The two digits of a number below 100, the first in the lower byte.
    @inline(__always)
    private static func digits(_ number: UInt32) -> UInt64 {
        let tens = number / 10
        return UInt64((tens &+ 0x30) | (number &- tens &* 10 &+ 0x30) &<< 8)
    }

    static func lastDay(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // Both conversions count in eras of 400 years that begin on the first of March, so that the leap day is the last
    // day of a year and every era has the same number of days.
    private static let daysPerEra: Int64 = 146_097
    private static let daysFromEraZeroToEpoch: Int64 = 719_468

    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * daysPerEra + dayOfEra - daysFromEraZeroToEpoch
    }

    /// The year of a day, counted from 1970-01-01 on; one outside of the years 0 to 9999 is taken for the nearest inside.
    static func year(ofDay day: Int64) -> Int64 {
        let (first, last) = (days(year: 0, month: 1, day: 1), days(year: 9_999, month: 12, day: 31))
        return Int64(civil(daysSinceYearZero: UInt32(min(max(day, first), last) - first)).year)
    }

    /// The date this many days after the first of January of the year 0.
    private static func civil(daysSinceYearZero: UInt32) -> (year: UInt32, month: UInt32, day: UInt32) {
        // Counts from the first of March 400 years before, so that the era is not negative; that year's January and
        // February, a leap year's 60 days, belong to the year before.
        let day = daysSinceYearZero &+ UInt32(daysPerEra) &- 60
        let era = day / UInt32(daysPerEra)
        let dayOfEra = day % UInt32(daysPerEra)
        let yearOfEra = (dayOfEra &- dayOfEra / 1_460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100)
        let monthFromMarch = (5 &* dayOfYear &+ 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch &+ 3 : monthFromMarch &- 9
        return (
            era &* 400 &+ yearOfEra &+ (month <= 2 ? 1 : 0) &- 400, month,
            dayOfYear &- (153 &* monthFromMarch &+ 2) / 5 &+ 1
        )
    }

    /// The largest whole number that is not greater than the quotient.
    static func floorDivide(_ dividend: Int64, by divisor: Int64) -> Int64 {
        let quotient = dividend / divisor
        return dividend % divisor < 0 ? quotient - 1 : quotient
    }
}

/// Walks over a date-time's characters; each call gets the bytes, because a span cannot be stored.
private struct DigitReader {
    var offset = 0

    mutating func number(digits: Int, in bytes: RawSpan) -> Int64? {
        guard offset + digits <= bytes.byteCount else { return nil }
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit(in: bytes) else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    mutating func skip(_ character: Unicode.Scalar, or other: Unicode.Scalar? = nil, in bytes: RawSpan) -> Bool {
        guard offset < bytes.byteCount else { return false }
        let scalar = Unicode.Scalar(bytes[byteAt: offset])
        guard scalar == character || scalar == other else { return false }
        offset += 1
        return true
    }

    /// Milliseconds of an optional fraction; nil when no digit follows the point.
    mutating func fraction(in bytes: RawSpan) -> Int64? {
        guard skip(".", in: bytes) else { return 0 }
        var milliseconds: Int64 = 0
        var weight: Int64 = 100
        guard let first = digit(in: bytes) else { return nil }
        milliseconds = first * weight
        while let next = digit(in: bytes) {
            weight /= 10
            milliseconds += next * weight
        }
        return milliseconds
    }

    /// Minutes east of UTC.
    mutating func offsetMinutes(in bytes: RawSpan) -> Int64? {
        if skip("Z", or: "z", in: bytes) { return 0 }
        let isEast = skip("+", in: bytes)
        guard isEast || skip("-", in: bytes), let hours = number(digits: 2, in: bytes), skip(":", in: bytes),
            let minutes = number(digits: 2, in: bytes), hours <= 23, minutes <= 59
        else { return nil }
        return (hours * 60 + minutes) * (isEast ? 1 : -1)
    }

    private mutating func digit(in bytes: RawSpan) -> Int64? {
        guard offset < bytes.byteCount, case let byte = bytes[byteAt: offset], byte >= 0x30, byte <= 0x39
        else { return nil }
        offset += 1
        return Int64(byte - 0x30)
    }
}
