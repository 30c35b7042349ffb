import HeraldBytes
public import HeraldTime

/// A retry delay as written in the settings and in its topic's name: `500ms`, `5s`, `30m`, `2h`, `1d`.
public struct DelayName: Hashable, Sendable, CustomStringConvertible {
    /// The longest delay, a year.
    public static let maximum: Milliseconds = .days(365)

    /// The delay as written.
    public let description: String

    /// The delay's length.
    public let length: Milliseconds

    /// The delay of this text: a whole number from 1 on without leading zeros, and `ms`, `s`, `m`, `h` or `d`.
    public init?(_ text: String) {
        let digits = text.utf8.prefix { $0 >= 0x30 && $0 <= 0x39 }
        let unit: Milliseconds
        switch String(text.dropFirst(digits.count)) {
        case "ms": unit = .milliseconds(1)
        case "s": unit = .seconds(1)
        case "m": unit = .minutes(1)
        case "h": unit = .hours(1)
        case "d": unit = .days(1)
        default: return nil
        }
        guard digits.first != 0x30, let number = Array(digits).span.bytes.decimal,
            number <= Self.maximum.count / unit.count
        else { return nil }
        description = text
        length = number * unit
    }
}
