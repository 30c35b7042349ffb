import HeraldBytes

/// Reading and writing moments as RFC 3339 date-times, without Foundation and without strings.
public enum RFC3339 {
    /// The bytes of a written moment: `2026-11-21T08:40:26.123Z`.
    public static let formattedByteCount = 24

    /// The first moment that can be written, 0000-01-01T00:00:00.000Z.
    public static let earliest = WallTime(milliseconds: days(year: 0, month: 1, day: 1) * millisecondsPerDay)

    /// The last moment that can be written, 9999-12-31T23:59:59.999Z.
    public static let latest = WallTime(milliseconds: days(year: 10_000, month: 1, day: 1) * millisecondsPerDay - 1)

    private static let millisecondsPerDay: Int64 = 86_400_000

    /// The moment that the bytes name, or nothing when they are not exactly one RFC 3339 date-time.
    ///
    /// Digits after the milliseconds are cut off. A leap second counts as the second that follows it; it is
    /// accepted where leap seconds can be, at 23:59:60 UTC.
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

    /// Appends the moment in UTC with milliseconds, such as `2026-11-21T08:40:26.123Z`.
    ///
    /// A moment outside of the years 0 to 9999 is written as the nearest one inside.
    public static func append(_ time: WallTime, to output: inout [UInt8]) {
        let bounded = min(max(time, earliest), latest).milliseconds
        let day = floorDivide(bounded, by: millisecondsPerDay)
        let milliseconds = bounded - day * millisecondsPerDay
        let date = civil(daysSinceEpoch: day)
        append(date.year, digits: 4, then: "-", to: &output)
        append(date.month, digits: 2, then: "-", to: &output)
        append(date.day, digits: 2, then: "T", to: &output)
        append(milliseconds / 3_600_000, digits: 2, then: ":", to: &output)
        append(milliseconds / 60_000 % 60, digits: 2, then: ":", to: &output)
        append(milliseconds / 1_000 % 60, digits: 2, then: ".", to: &output)
        append(milliseconds % 1_000, digits: 3, then: "Z", to: &output)
    }

    private static func append(
        _ number: Int64, digits: Int, then separator: Unicode.Scalar, to output: inout [UInt8]
    ) {
        var divisor: Int64 = digits == 4 ? 1_000 : digits == 3 ? 100 : 10
        while divisor > 0 {
            output.append(UInt8(truncatingIfNeeded: number / divisor % 10) + 0x30)
            divisor /= 10
        }
        output.append(UInt8(ascii: separator))
    }

    private static func lastDay(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // Both conversions count in eras of 400 years that begin on the first of March, so that the leap day is the
    // last day of a year and every era has the same number of days.
    private static let daysPerEra: Int64 = 146_097
    private static let daysFromEraZeroToEpoch: Int64 = 719_468

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * daysPerEra + dayOfEra - daysFromEraZeroToEpoch
    }

    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let day = daysSinceEpoch + daysFromEraZeroToEpoch
        let era = floorDivide(day, by: daysPerEra)
        let dayOfEra = day - era * daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    private static func floorDivide(_ dividend: Int64, by divisor: Int64) -> Int64 {
        let quotient = dividend / divisor
        return dividend % divisor < 0 ? quotient - 1 : quotient
    }
}

/// Walks over a date-time's characters; the bytes come in with each call because a span cannot be stored.
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

    /// Milliseconds of an optional fraction; nothing when a point has no digits behind it.
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
