import CNGHTTP2
import HeraldTime

/// The header fields of an answer, as nghttp2 takes them.
struct AnswerFields {
    /// Fields of the connection, which HTTP/2 does not have (RFC 9113, 8.2.2).
    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ]

    private var bytes: [UInt8] = []
    private var counts: [(name: Int, value: Int)] = []

    /// The fields of an interim answer.
    static var goOn: Self {
        var fields = Self()
        fields.append(":status", "100")
        return fields
    }

    /// - Parameter length: of the body, when it is known.
    /// - Returns: `nil` when a field of the answer cannot be sent.
    init?(_ response: HTTPResponse, length: Int?) {
        append(":status", "\(response.status)")
        append("date", HTTPDate.text(SystemClock.wall()))
        if let length { append("content-length", "\(length)") }
        for field in response.headers.fields {
            let name = field.name.lowercased()
            if Self.ofConnection.contains(name) { continue }
            guard Self.isSendable(name, field.value) else { return nil }
            append(name, field.value)
        }
    }

    private init() {}

    private static func isSendable(_ name: String, _ value: String) -> Bool {
        let (name, value) = (Array(name.utf8), Array(value.utf8))
        return nghttp2_check_header_name(name, name.count) != 0 && nghttp2_check_header_value(value, value.count) != 0
    }

    private mutating func append(_ name: String, _ value: String) {
        bytes += name.utf8
        bytes += value.utf8
        counts.append((name.utf8.count, value.utf8.count))
    }

    /// Hands the fields to nghttp2, which copies them.
    func withFields<Result>(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { bytes in
            var fields: [nghttp2_nv] = []
            var place = UnsafeMutablePointer(mutating: bytes.baseAddress)
            for count in counts {
                let value = place.map { $0 + count.name }
                fields.append(
                    nghttp2_nv(
                        name: place, value: value, namelen: count.name, valuelen: count.value,
                        flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
                place = value.map { $0 + count.value }
            }
            return fields.withUnsafeBufferPointer(body)
        }
    }
}
