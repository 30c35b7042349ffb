import HeraldBytes
import HeraldText
import HeraldTime

// For records that people and services read; an event on its way never becomes a tree.
extension JSONValue {
    /// The value that the bytes are.
    package init(_ bytes: RawSpan) throws(JSONError) {
        var reader = JSONReader(bytes)
        let token = try reader.readValue()
        try reader.expectEnd()
        try self.init(token, bytes)
    }

    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var integer: Int64? {
        if case .integer(let number) = self { Int64(number) } else { nil }
    }

    var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    var time: WallTime? { string.flatMap { RFC3339.parse($0.utf8.span.bytes) } }

    /// The reader bounds how deep this goes.
    private init(_ token: JSONToken, _ bytes: RawSpan) throws(JSONError) {
        var reader = JSONReader(bytes, offset: token.range.lowerBound)
        var isFirst = true
        switch token.kind {
        case .none, .null: self = .null
        case .boolean: self = .bool(bytes[byteAt: token.range.lowerBound] == UInt8(ascii: "t"))
        case .number:
            let text = bytes.extracting(token.range).text
            self = Int(text).map { .integer($0) } ?? .number(Double(text) ?? .nan)
        case .string: self = .string(token.text(in: bytes))
        case .array:
            var elements: [JSONValue] = []
            for element in try token.elements(in: bytes) { elements.append(try Self(element, bytes)) }
            self = .array(elements)
        case .object:
            try reader.enterContainer()
            var members: [Member] = []
            while let key = try reader.nextKey(isFirst: &isFirst) {
                members.append(Member(key.text(in: bytes), try Self(try reader.readValue(), bytes)))
            }
            self = .object(members)
        }
    }
}

extension JSONToken {
    /// The text of a string that lies in these bytes.
    func text(in bytes: RawSpan) -> String {
        guard hasEscapes else { return bytes.extracting(range).text }
        var output: [UInt8] = []
        append(in: bytes, to: &output)
        return output.span.bytes.text
    }

    /// Appends that text, or a number as it is written.
    func append(in bytes: RawSpan, to output: inout [UInt8]) {
        if hasEscapes {
            JSONEscapes.append(bytes.extracting(range), to: &output)
        } else {
            output.append(copying: bytes.extracting(range))
        }
    }

    /// The elements of an array that lies in these bytes.
    func elements(in bytes: RawSpan) throws(JSONError) -> [JSONToken] {
        var reader = JSONReader(bytes, offset: range.lowerBound)
        try reader.enterContainer()
        var elements: [JSONToken] = []
        var isFirst = true
        while let element = try reader.nextElement(isFirst: &isFirst) { elements.append(element) }
        return elements
    }
}
