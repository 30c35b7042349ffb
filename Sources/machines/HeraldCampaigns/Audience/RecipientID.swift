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

    /// The mark of two audiences together that have nobody in common; `nil` where one is no mark.
    static func joined(_ first: String, _ second: String) -> String? {
        func halves(_ text: String) -> (high: UInt64, low: UInt64)? {
            guard text.utf8.count == RecipientID.characterCount, let high = UInt64(text.prefix(16), radix: 16),
                let low = UInt64(text.suffix(16), radix: 16)
            else { return nil }
            return (high, low)
        }
        guard let first = halves(first), let second = halves(second) else { return nil }
        return RecipientID(high: first.high &+ second.high, low: first.low &+ second.low).text
    }
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
