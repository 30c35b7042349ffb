import HeraldBytes

extension JSONReader {
    /// Passes over a number, `true`, `false` or `null`.
    mutating func skipScalar() throws(JSONError) -> JSONToken.Kind {
        switch bytes[byteAt: offset] {
        case UInt8(ascii: "t"): return try skip("true", .boolean)
        case UInt8(ascii: "f"): return try skip("false", .boolean)
        case UInt8(ascii: "n"): return try skip("null", .null)
        default:
            try skipNumber()
            return .number
        }
    }

    private mutating func skip(_ literal: StaticString, _ kind: JSONToken.Kind) throws(JSONError) -> JSONToken.Kind {
        let end = offset + literal.utf8CodeUnitCount
        guard end <= bytes.byteCount, bytes.extracting(offset..<end).hasSameBytes(as: literal) else {
            throw JSONError(problem: .unexpectedByte, offset: offset)
        }
        advance(by: literal.utf8CodeUnitCount)
        return kind
    }

    private mutating func skipNumber() throws(JSONError) {
        if isAt(UInt8(ascii: "-")) { advance(by: 1) }
        if isAt(UInt8(ascii: "0")) {
            advance(by: 1)
        } else {
            try skipDigits()
        }
        if isAt(UInt8(ascii: ".")) {
            advance(by: 1)
            try skipDigits()
        }
        if isAt(UInt8(ascii: "e")) || isAt(UInt8(ascii: "E")) {
            advance(by: 1)
            if isAt(UInt8(ascii: "+")) || isAt(UInt8(ascii: "-")) { advance(by: 1) }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(JSONError) {
        let first = offset
        while offset < bytes.byteCount, case let byte = bytes[byteAt: offset], byte >= 0x30, byte <= 0x39 {
            advance(by: 1)
        }
        guard offset > first else {
            throw JSONError(
                problem: offset < bytes.byteCount ? .unexpectedByte : .unexpectedEnd, offset: offset)
        }
    }

    private func isAt(_ byte: UInt8) -> Bool { offset < bytes.byteCount && bytes[byteAt: offset] == byte }
}
