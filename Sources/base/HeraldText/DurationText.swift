/// Durations as people write them: a whole number and one unit, `100ms`, `10s`, `5m`, `24h`, `1d`, or plain `0`.
public enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", day), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]
    private static let day: Int64 = 86_400_000
    /// Ten digits of days still fit into `Int64` milliseconds.
    private static let longestNumber = 10

    /// The duration written in `text`; nil for other text.
    ///
    /// Leading zeros are refused, so that a duration has one spelling in each unit.
    public static func parse(_ text: some StringProtocol) -> Duration? {
        if text == "0" { return .zero }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.count <= longestNumber, digits.first != "0", let number = Int64(digits) else {
            return nil
        }
        let rest = text.dropFirst(digits.count)
        guard let unit = units.first(where: { rest == $0.name }) else { return nil }
        return .milliseconds(number * unit.milliseconds)
    }

    /// A short spelling that ``parse(_:)`` reads back: whole days from two days on, so that `24h` stays `24h`.
    ///
    /// Fractions of a millisecond are dropped.
    public static func format(_ duration: Duration) -> String {
        let parts = duration.components
        let milliseconds = parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
        guard milliseconds != 0 else { return "0" }
        for unit in units where milliseconds % unit.milliseconds == 0 && (unit.name != "d" || milliseconds != day) {
            return "\(milliseconds / unit.milliseconds)\(unit.name)"
        }
        return "\(milliseconds)ms"
    }
}
