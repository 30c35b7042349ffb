import HeraldBytes
import HeraldTime

/// A JSON value as a tree, for records that people and services read; events on their way are never made into one.
enum JSONTree {
    case null
    case boolean
    /// A number as it is written.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// The value that the bytes are.
    init(_ bytes: RawSpan) throws(JSONError) {
        var reader = JSONReader(bytes)
        let token = try reader.readValue()
        try reader.expectEnd()
        self = try Self.make(token, bytes)
    }

    /// The member of an object.
    subscript(_ key: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text)
    }

    var time: WallTime? {
        guard let string else { return nil }
        return RFC3339.parse(string.utf8.span.bytes)
    }

    /// The reader bounds how deep this goes.
    private static func make(_ token: JSONToken, _ bytes: RawSpan) throws(JSONError) -> JSONTree {
        switch token.kind {
        case .none, .null: return .null
        case .boolean: return .boolean
        case .number: return .number(bytes.extracting(token.range).text)
        case .string: return .string(text(token, bytes))
        case .array:
            var reader = JSONReader(bytes, offset: token.range.lowerBound)
            try reader.enterContainer()
            var elements: [JSONTree] = []
            var isFirst = true
            while let element = try reader.nextElement(isFirst: &isFirst) { elements.append(try make(element, bytes)) }
            return .array(elements)
        case .object:
            var reader = JSONReader(bytes, offset: token.range.lowerBound)
            try reader.enterContainer()
            var members: [String: JSONTree] = [:]
            var isFirst = true
            while let key = try reader.nextKey(isFirst: &isFirst) {
                members[text(key, bytes)] = try make(try reader.readValue(), bytes)
            }
            return .object(members)
        }
    }

    private static func text(_ token: JSONToken, _ bytes: RawSpan) -> String {
        guard token.hasEscapes else { return bytes.extracting(token.range).text }
        var output: [UInt8] = []
        JSONEscapes.append(bytes.extracting(token.range), to: &output)
        return output.span.bytes.text
    }
}
