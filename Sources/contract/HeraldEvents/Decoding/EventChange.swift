import HeraldBytes
import HeraldText

/// The changes to an event; the rest of its bytes stays.
public struct EventChange: Equatable, Sendable {
    /// Another user.
    public var user: String?
    /// Another message.
    public var message: String?
    /// Other push services.
    public var pushServices: [String]?
    /// Other parts beside the message: a text, or the JSON of `data` and `badge`; an empty one takes the part away.
    public var content: [ContentField: String]

    /// No change.
    public init(
        user: String? = nil, message: String? = nil, pushServices: [String]? = nil,
        content: [ContentField: String] = [:]
    ) {
        self.user = user
        self.message = message
        self.pushServices = pushServices
        self.content = content
    }

    /// Whether there is no change.
    public var isEmpty: Bool { user == nil && message == nil && pushServices == nil && content.isEmpty }

    /// The record's value with the change; `nil` when it holds no JSON object that could be an event.
    ///
    /// Existing members are replaced in place, new ones come first in the object. In a structured CloudEvent that
    /// object is `data`.
    ///
    /// - Parameter headers: the record's headers, which show its form.
    public func applied(to value: [UInt8], headers: HeaderList) -> [UInt8]? {
        guard let form = try? RecordForm(headers: headers) else { return nil }
        var event = DecodedEvent()
        var tokens = EventTokens()
        let bytes = value.span.bytes
        guard (try? RecordDecoder().readTokens(form: form, value: bytes, tokens: &tokens, into: &event)) != nil else {
            return nil
        }
        var start = 0
        if form == .structured {
            guard tokens[.data].kind == .object else { return nil }
            start = tokens[.data].range.lowerBound
        }
        // After a schema registry's frame, too, the object begins with the first brace: the frame's five bytes are
        // skipped.
        if value.first == 0, value.count > 5, form != .structured { start = 5 }
        guard let brace = value[start...].firstIndex(of: UInt8(ascii: "{")) else { return nil }
        return spliced(value, &tokens, brace: brace)
    }

    private func spliced(_ value: [UInt8], _ tokens: inout EventTokens, brace: Int) -> [UInt8] {
        var replacements: [(range: Range<Int>, bytes: [UInt8])] = []
        var inserted: [UInt8] = []
        for (field, new) in members {
            let token = tokens[field]
            if token.kind == .none {
                inserted.append(contentsOf: "\"\(field.name)\":".utf8)
                inserted.append(contentsOf: new)
                inserted.append(UInt8(ascii: ","))
            } else {
                // A string's range lies within its quotes.
                let quotes = token.kind == .string ? 1 : 0
                replacements.append((token.range.lowerBound - quotes..<token.range.upperBound + quotes, new))
            }
        }
        if !inserted.isEmpty {
            let next = value[(brace + 1)...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            if next == UInt8(ascii: "}") { inserted.removeLast() }
            replacements.append((brace + 1..<brace + 1, inserted))
        }
        var result = value
        for replacement in replacements.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            result.replaceSubrange(replacement.range, with: replacement.bytes)
        }
        return result
    }

    private var members: [(field: EventField, json: [UInt8])] {
        var members: [(EventField, [UInt8])] = []
        if let user { members.append((.user, Self.json(user))) }
        if let message { members.append((.message, Self.json(message))) }
        if let pushServices {
            let list = pushServices.map(Self.json).joined(separator: [UInt8(ascii: ",")])
            members.append((.pns, [UInt8(ascii: "[")] + list + [UInt8(ascii: "]")]))
        }
        for field in ContentField.allCases {
            if let text = content[field] { members.append((field.field, Self.json(text, of: field))) }
        }
        return members
    }

    /// What is no JSON stays a text, so that the event's rules say what is wrong with it.
    private static func json(_ text: String, of field: ContentField) -> [UInt8] {
        if text.isEmpty { return Array("null".utf8) }
        switch field {
        case .title, .link, .image, .sound, .category: return json(text)
        case .data, .badge:
            let bytes = Array(text.utf8)
            return (try? JSONValue(bytes.span.bytes)) == nil ? json(text) : bytes
        }
    }

    private static func json(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONText.appendString(Array(text.utf8).span.bytes, to: &bytes)
        return bytes
    }
}
