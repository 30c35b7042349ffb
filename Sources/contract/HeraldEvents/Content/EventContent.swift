import HeraldBytes
package import HeraldText

/// The parts of a notification beside its message, read again from its record where they are needed: for a call.
///
/// An event in memory only says which it has, so that events without them cost nothing.
public struct EventContent: Sendable {
    /// The parts that the event has.
    public private(set) var fields: ContentFields = []
    private var texts: [UInt8] = []
    private var places = InlineArray<7, Range<Int>>(repeating: 0..<0)
    private var pairs: [(name: Range<Int>, text: Range<Int>)] = []

    /// No part.
    public init() {}

    /// The parts in the object whose first member begins at `start`, which was decoded before.
    init(_ fields: ContentFields, in value: RawSpan, from start: Int) {
        // Nothing can be wrong with what was decoded.
        try? read(fields, in: value, from: start)
        self.fields = fields
    }

    /// A part's text, empty without one; the number's digits for `badge`, nothing for `data`.
    @_lifetime(borrow self)
    public func bytes(of field: ContentField) -> RawSpan { texts.span.bytes.extracting(places[field.place]) }

    /// A part's text; of `data` its JSON.
    public func text(of field: ContentField) -> String {
        guard field == .data else { return bytes(of: field).text }
        var json: [UInt8] = []
        appendData(to: &json)
        return String(decoding: json, as: UTF8.self)
    }

    /// The parts that the event has with their texts, as members of a page's JSON.
    package var members: [JSONValue.Member] {
        fields.fields.map { .init($0.rawValue, .string(text(of: $0))) }
    }

    /// The number of members of `data`.
    public var dataCount: Int { pairs.count }
    /// The name of a member of `data`.
    @_lifetime(borrow self)
    public func dataName(_ index: Int) -> RawSpan { texts.span.bytes.extracting(pairs[index].name) }
    /// The text of a member of `data`.
    @_lifetime(borrow self)
    public func dataText(_ index: Int) -> RawSpan { texts.span.bytes.extracting(pairs[index].text) }

    /// How many bytes of text a part has; of `data` all names and texts.
    public func byteCount(of field: ContentField) -> Int {
        field == .data ? pairs.reduce(0) { $0 + $1.name.count + $1.text.count } : places[field.place].count
    }

    /// Appends the members of `data` as those of a JSON object, each behind a comma.
    public func appendDataMembers(to output: inout [UInt8]) {
        for index in 0..<dataCount {
            output.append(text: ",")
            JSONText.appendString(dataName(index), to: &output)
            output.append(text: ":")
            JSONText.appendString(dataText(index), to: &output)
        }
    }

    /// Appends a part that the event has as a member of a JSON object, behind a comma.
    public func appendMember(_ field: ContentField, to output: inout [UInt8]) {
        guard fields.contains(field) else { return }
        output.append(text: ",\"")
        output.append(text: field.field.name)
        output.append(text: "\":")
        switch field {
        case .data: appendData(to: &output)
        case .badge: output.append(copying: bytes(of: .badge))
        case .title, .link, .image, .sound, .category: JSONText.appendString(bytes(of: field), to: &output)
        }
    }

    private func appendData(to output: inout [UInt8]) {
        let start = output.count
        appendDataMembers(to: &output)
        if output.count == start { return output.append(text: "{}") }
        output[start] = UInt8(ascii: "{")
        output.append(text: "}")
    }

    private mutating func read(_ fields: ContentFields, in value: RawSpan, from start: Int) throws(JSONError) {
        var reader = JSONReader(value, offset: start)
        var isFirst = true
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let token = try reader.readValue()
            var field = RecordDecoder.field(named: key, in: value, scratch: &texts)
            if field == .data { field = .appData }
            guard let part = field.flatMap(ContentField.init), fields.contains(part) else { continue }
            if part == .data { try readData(token, in: value) } else { places[part.place] = keep(token, in: value) }
        }
    }

    private mutating func readData(_ object: JSONToken, in value: RawSpan) throws(JSONError) {
        var reader = JSONReader(value, offset: object.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let token = try reader.readValue()
            pairs.append((keep(key, in: value), keep(token, in: value)))
        }
    }

    private mutating func keep(_ token: JSONToken, in value: RawSpan) -> Range<Int> {
        let start = texts.count
        token.append(in: value, to: &texts)
        return start..<texts.count
    }
}

extension DecodedEvent {
    /// The parts of the notification beside its message.
    ///
    /// - Parameter value: the value that this was decoded from.
    public func content(in value: RawSpan) -> EventContent {
        content.isEmpty ? EventContent() : EventContent(content, in: value, from: Int(contentStart))
    }
}
