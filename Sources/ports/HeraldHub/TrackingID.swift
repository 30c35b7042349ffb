internal import HeraldBytes

/// The name that a client gives to a request, by which Microsoft's support finds it: the header `TrackingId`.
///
/// Newer versions of the service repeat it in the text of an error.
package enum TrackingID {
    package static let header = "TrackingId"

    package static func random() -> String { text(.random(in: 0...(.max)), .random(in: 0...(.max))) }

    /// The one of two numbers, in the form of a UUID.
    package static func text(_ first: UInt64, _ second: UInt64) -> String {
        var output = start(first)
        appendEnd(second, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// What the number makes the id begin with.
    static func start(_ number: UInt64) -> [UInt8] {
        var output: [UInt8] = []
        output.append(hexadecimal: UInt32(truncatingIfNeeded: number >> 32))
        output.append(text: "-")
        output.append(hexadecimal: UInt16(truncatingIfNeeded: number >> 16))
        output.append(text: "-")
        output.append(hexadecimal: UInt16(truncatingIfNeeded: number))
        output.append(text: "-")
        return output
    }

    /// Appends what the number makes the id end with.
    static func appendEnd(_ number: UInt64, to output: inout [UInt8]) {
        output.append(hexadecimal: UInt16(truncatingIfNeeded: number >> 48))
        output.append(text: "-")
        output.append(hexadecimal: UInt16(truncatingIfNeeded: number >> 32))
        output.append(hexadecimal: UInt32(truncatingIfNeeded: number))
    }

    /// An error's text with the id, unless the service has put one there itself.
    package static func adding(_ id: String, to detail: String?) -> String {
        guard let detail, !detail.isEmpty else { return "\(header):\(id)" }
        return detail.contains("\(header):") ? detail : "\(detail) \(header):\(id)"
    }
}
