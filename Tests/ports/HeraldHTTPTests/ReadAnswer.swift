// The fuzzer compiles the reader's sources together with this file.
#if !FUZZING
    @testable import HeraldHTTP
#endif

/// The end of an answer, for comparisons in tests.
enum ReadAnswer: Equatable {
    case complete(status: Int32, body: String, isReusable: Bool)
    case broken(AnswerReader.Fault)
    /// More bytes have to come, and an end of the connection here would be too early.
    case unfinished

    /// Feeds an answer to a reader in parts; `sizes` gives the size of each.
    static func reading(_ bytes: [UInt8], sizes: (Int) -> Int, keepsBody: Bool = true) -> ReadAnswer {
        let reader = AnswerReader()
        reader.begin(keepsBody: keepsBody)
        var offset = 0
        var piece = 0
        while offset < bytes.count {
            let count = min(max(1, sizes(piece)), bytes.count - offset)
            let progress = bytes[offset..<offset + count].withUnsafeBytes { reader.feed($0) }
            offset += count
            piece += 1
            switch progress {
            case .incomplete: continue
            case .broken(let fault): return .broken(fault)
            case .complete(let isReusable):
                // The rest of the bytes comes after the end.
                return .complete(
                    status: reader.status, body: String(decoding: reader.body, as: UTF8.self),
                    isReusable: isReusable && offset == bytes.count)
            }
        }
        guard case .complete(let isReusable) = reader.end() else { return .unfinished }
        return .complete(
            status: reader.status, body: String(decoding: reader.body, as: UTF8.self), isReusable: isReusable)
    }

    /// Feeds an answer to a reader whole, which may recognise it.
    static func reading(
        _ bytes: [UInt8], keepsBody: Bool = false, memo: inout ResponseMemo
    ) -> ReadAnswer {
        let reader = AnswerReader()
        reader.begin(keepsBody: keepsBody)
        var progress = bytes.withUnsafeBytes { reader.feed($0, memo: &memo) }
        if progress == .incomplete, let end = reader.end() { progress = end }
        switch progress {
        case .incomplete: return .unfinished
        case .broken(let fault): return .broken(fault)
        case .complete(let isReusable):
            return .complete(
                status: reader.status, body: String(decoding: reader.body, as: UTF8.self), isReusable: isReusable)
        }
    }
}

extension ReadAnswer {
    /// Checks the properties for any bytes; the first one chooses how the others are split.
    ///
    /// Returns the broken property.
    static func brokenProperty(_ input: [UInt8]) -> String? {
        guard let seed = input.first else { return nil }
        let bytes = Array(input.dropFirst())
        let whole = reading(bytes) { _ in bytes.count }
        if reading(bytes, sizes: { _ in 1 }) != whole { return "byte by byte it is another answer" }
        let isSame = reading(bytes) { ($0 * 7_919 + Int(seed) * 104_729) % 61 } == whole
        if !isSame { return "in pieces it is another answer" }
        if !meansTheSameAgain(bytes) { return "when it comes again it is another answer" }
        // A similar answer is not the same.
        var other = bytes
        if !other.isEmpty { other[Int(seed) * 7 % other.count] ^= 1 << (seed & 7) }
        if !meansTheSameAgain(other, after: bytes) { return "it is taken for another answer" }
        guard case .complete(let status, let body, _) = whole else { return nil }
        if status < 200 || status > 599 { return "its status is \(status)" }
        // Bytes that are not UTF-8 become up to three times as many in the string.
        if body.unicodeScalars.count > AnswerReader.bodyLimit { return "its body is too long" }
        return nil
    }

    /// Whether an answer means the same to a reader that has read it, or another one, before.
    static func meansTheSameAgain(_ bytes: [UInt8], after other: [UInt8]? = nil) -> Bool {
        var memo = ResponseMemo()
        _ = reading(other ?? bytes, memo: &memo)
        return [false, true].allSatisfy { keepsBody in
            reading(bytes, keepsBody: keepsBody, memo: &memo)
                == reading(bytes, sizes: { _ in bytes.count }, keepsBody: keepsBody)
        }
    }
}
