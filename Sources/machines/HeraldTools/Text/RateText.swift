internal import HeraldText

/// Rates as people write them: `200/s`, `30/m`, `1000/h`, or `200` for so many a second.
package enum RateText {
    /// The rates that can be written: from one an hour to a thousand million a second.
    ///
    /// A rate that a form or a record names as a number has to lie in it too.
    package static let range = 1.0 / 3_600...1_000_000_000

    private static let units = [("s", 1.0), ("m", 60.0), ("h", 3_600.0)]

    /// So many a second; `nil` when the text is no rate.
    package static func parse(_ text: String) -> Double? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let number = Int(parts[0]), number > 0,
            let (_, seconds) = units.first(where: { $0.0 == (parts.count == 2 ? parts[1] : "s") })
        else { return nil }
        let rate = Double(number) / seconds
        return range.contains(rate) ? rate : nil
    }

    /// The text that ``parse(_:)`` reads as this rate, or as the nearest that can be written.
    package static func text(_ rate: Double) -> String {
        for (unit, seconds) in units {
            let number = rate * seconds
            if number.rounded() >= 1, abs(number - number.rounded()) <= 1e-9 * number {
                return "\(Int(saturating: number))/\(unit)"
            }
        }
        return "\(max(1, Int(saturating: rate * 3_600)))/h"
    }
}

/// Shares as people write them: `5%`, from 0% to 100%.
package enum ShareText {
    /// The share as a number from 0 to 1; `nil` when the text is none.
    ///
    /// `5 %` is `5%`.
    package static func parse(_ text: String) -> Double? {
        let digits = text.hasSuffix(" %") ? text.dropLast(2) : text.dropLast()
        guard text.hasSuffix("%"), let number = Double(digits), (0...100).contains(number) else { return nil }
        return number / 100
    }

    /// The share as people write it, with six decimals at most.
    package static func text(_ share: Double) -> String {
        let percent = (share * 1e8).rounded() / 1e6
        return percent.rounded() == percent ? "\(Int(saturating: percent))%" : "\(percent)%"
    }
}
