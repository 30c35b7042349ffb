import HeraldBytes

/// What a campaign's event for a user is called: the first 16 bytes of SHA-256 of both, the event's id in hexadecimal.
///
/// A campaign that is started again, from any machine, gives each user the same id: so what was published can be told
/// from what was not, and a worker calls the backend with the same idempotency key.
package struct RecipientID: Hashable, Sendable {
    /// The first eight bytes.
    package var high: UInt64
    /// The last eight bytes.
    package var low: UInt64

    package static let characterCount = 32

    /// Appends its 32 lower-case hexadecimal characters.
    func append(to output: inout [UInt8]) {
        output.append(hexadecimal: high)
        output.append(hexadecimal: low)
    }

    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// By what one audience of a campaign is told from another, in whatever order it is: the sums of its recipients' ids.
package struct AudienceMark: Sendable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0

    /// The mark of nobody.
    package init() {}

    /// Adds a recipient, each once.
    package mutating func add(_ id: RecipientID) {
        high &+= id.high
        low &+= id.low
    }

    package var text: String { RecipientID(high: high, low: low).text }
}

/// Makes the ids of one campaign's recipients.
///
/// One thread.
package final class RecipientIDs {
    private let hash = SHA256()
    private let prefixCount: Int
    private var buffer: [UInt8]

    package init(campaign: String) {
        buffer = Array("herald-campaign\0\(campaign)\0".utf8)
        prefixCount = buffer.count
    }

    /// The id for a user, as bytes of UTF-8.
    package func id(of user: RawSpan) -> RecipientID {
        buffer.removeLast(buffer.count - prefixCount)
        user.withUnsafeBytes { buffer.append(contentsOf: $0) }
        let half = hash.half(of: buffer)
        return RecipientID(high: half.high, low: half.low)
    }
}
