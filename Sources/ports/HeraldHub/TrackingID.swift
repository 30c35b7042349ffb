internal import HeraldBytes

/// The name that a client gives to a request, by which Microsoft's support finds it: the header `TrackingId`.
///
/// Newer versions of the service repeat it in the text of an error.
package enum TrackingID {
    package static let header = "TrackingId"

    /// A new one, in the form of a UUID.
    package static func random() -> String { text(.random(in: 0...(.max)), .random(in: 0...(.max))) }

    /// The one of two numbers.
    package static func text(_ first: UInt64, _ second: UInt64) -> String {
        var output: [UInt8] = []
        append(first, second, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the one of two numbers: their digits with dashes where a UUID has them.
    package static func append(_ first: UInt64, _ second: UInt64, to output: inout [UInt8]) {
        for place in 0..<32 {
            if place == 8 || place == 12 || place == 16 || place == 20 { output.append(UInt8(ascii: "-")) }
            let digits = place < 16 ? first : second
            let digit = UInt8(truncatingIfNeeded: digits >> UInt64(60 - place % 16 * 4)) & 0xF
            output.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
        }
    }

    /// An error's text with the id, unless the service has put one there itself.
    package static func adding(_ id: String, to detail: String?) -> String {
        guard let detail, !detail.isEmpty else { return "\(header):\(id)" }
        return detail.contains("\(header):") ? detail : "\(detail) \(header):\(id)"
    }
}
