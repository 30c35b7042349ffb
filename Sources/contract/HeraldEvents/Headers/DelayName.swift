import HeraldBytes

/// A retry delay as it is written in the settings and in its topic's name: `500ms`, `5s`, `30m`, `2h`, `1d`.
public struct DelayName: Hashable, Sendable, CustomStringConvertible {
    /// The longest delay, a year.
    public static let maximumMilliseconds: Int64 = 365 * 86_400_000

    /// The delay as it is written.
    public let description: String

    /// The delay's length in milliseconds.
    public let milliseconds: Int64

    /// The delay that the text writes: a whole number from 1 on without leading zeros, and `ms`, `s`, `m`, `h` or `d`.
    public init?(_ text: String) {
        let digits = text.utf8.prefix { $0 >= 0x30 && $0 <= 0x39 }
        let unit: Int64
        switch String(text.dropFirst(digits.count)) {
        case "ms": unit = 1
        case "s": unit = 1_000
        case "m": unit = 60_000
        case "h": unit = 3_600_000
        case "d": unit = 86_400_000
        default: return nil
        }
        guard digits.first != 0x30, let number = Array(digits).span.bytes.decimal,
            number <= Self.maximumMilliseconds / unit
        else { return nil }
        description = text
        milliseconds = number * unit
    }

    /// The delay's length.
    public var duration: Duration { .milliseconds(milliseconds) }
}
