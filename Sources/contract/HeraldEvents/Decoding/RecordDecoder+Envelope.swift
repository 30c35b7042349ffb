import HeraldBytes
import HeraldTime

extension RecordDecoder {
    /// Finds the fields' values, and checks that the whole value is JSON.
    func readTokens(
        form: RecordForm, value: RawSpan, tokens: inout EventTokens, into event: inout DecodedEvent
    ) throws(DecodingFailure) {
        let start = Self.documentStart(in: value)
        do throws(JSONError) {
            var reader = JSONReader(value, offset: start)
            try reader.enterDocumentObject()
            try readMembers(of: form.fields, from: &reader, tokens: &tokens, into: &event)
            try reader.expectEnd()
            if form == .structured, tokens[.data].kind == .object {
                var reader = JSONReader(value, offset: tokens[.data].range.lowerBound)
                try reader.enterContainer()
                try readMembers(of: .data, from: &reader, tokens: &tokens, into: &event)
            }
        } catch {
            if ForeignValue.isUTF16(value) { throw .malformed("the value is UTF-16; Herald reads UTF-8") }
            if start > 0 { throw .malformed(Self.problem(behindFrameOf: value, error)) }
            throw .malformed(value.byteCount == 0 ? "the value is empty" : "the value \(error)")
        }
    }

    /// The start of the JSON: after the magic byte 0 and the schema's id in four bytes, if a schema registry's
    /// serializer put them there (Confluent's wire format).
    static func documentStart(in value: RawSpan) -> Int {
        value.byteCount > 5 && value[byteAt: 0] == 0 ? 5 : 0
    }

    private static func problem(behindFrameOf value: RawSpan, _ error: JSONError) -> String {
        let schema = (1...4).reduce(UInt32(0)) { $0 << 8 | UInt32(value[byteAt: $1]) }
        return "the value \(error), behind a schema registry's magic byte and schema id \(schema): "
            + "Herald reads JSON there (JSON Schema), not Avro or Protobuf"
    }

    /// Skips an object that was entered, and keeps the values of its known fields.
    private func readMembers(
        of fields: EventFieldSet, from reader: inout JSONReader, tokens: inout EventTokens,
        into event: inout DecodedEvent
    ) throws(JSONError) {
        var isFirst = true
        let start = reader.offset
        while let key = try reader.nextKey(isFirst: &isFirst) {
            var field = Self.field(named: key, in: reader.bytes, scratch: &event.scratch)
            let token = try reader.readValue()
            if let known = field, known.rawValue >= EventField.data.rawValue {
                // In the object with the event, `data` is the app's.
                if known == .data, !fields.contains(.data) { field = .appData }
                if field != .data, fields.contains(.appData) { tokens.keepContent(at: start) }
            }
            guard let field, fields.contains(field) else {
                if field == nil, fields.contains(.appData), ForeignNames.isCertain(reader.bytes.extracting(key.range)) {
                    event.hasForeignFields = true
                }
                continue
            }
            guard tokens[field].kind == .none else {
                throw JSONError(problem: .repeatedKey(field.name), offset: Int(key.start))
            }
            tokens[field] = token
        }
    }

    @inline(__always)
    static func field(named key: JSONToken, in bytes: RawSpan, scratch: inout [UInt8]) -> EventField? {
        key.hasEscapes
            ? field(namedWithEscapes: key, in: bytes, scratch: &scratch)
            : EventField(named: bytes.extracting(key.range))
    }

    private static func field(
        namedWithEscapes key: JSONToken, in bytes: RawSpan, scratch: inout [UInt8]
    ) -> EventField? {
        guard key.textByteCount(in: bytes, upTo: EventField.longestName) <= EventField.longestName else { return nil }
        let start = scratch.count
        JSONEscapes.append(bytes.extracting(key.range), to: &scratch)
        let field = EventField(named: scratch.span.bytes.extracting(start..<scratch.count))
        scratch.removeLast(scratch.count - start)
        return field
    }

    /// Checks what CloudEvents 1.0 requires of a structured event.
    func checkEnvelope(tokens: inout EventTokens, value: RawSpan) throws(DecodingFailure) {
        for field in [EventField.specversion, .id, .source, .type] {
            let token = tokens[field]
            guard token.kind == .string, !token.range.isEmpty else {
                throw .malformed("the CloudEvent's \(field.name) is \(token.kindName); it has to be a string with text")
            }
        }
        guard value.extracting(tokens[.specversion].range).hasSameBytes(as: "1.0") else {
            throw .malformed("the CloudEvent's specversion is not 1.0")
        }
        guard tokens[.dataBase64].kind == .none else {
            throw .malformed("the CloudEvent's data_base64 is not supported; put the event into data as a JSON object")
        }
        guard tokens[.data].kind == .object else {
            let hint = tokens[.data].holdsObject(in: value) ? "; \(ForeignValue.twice)" : ""
            throw .malformed("the CloudEvent's data is \(tokens[.data].kindName); it has to be an object\(hint)")
        }
    }

    /// Reads and checks what CloudEvents 1.0 requires of a binary event.
    func readBinaryEnvelope(_ headers: HeaderList, into event: inout DecodedEvent) throws(DecodingFailure) {
        let id = try attribute(.cloudEventsID, in: headers)
        if isIDLength(id) { event.id = event.keep(id) }
        let source = try attribute(.cloudEventsSource, in: headers)
        try expectLength(of: HeaderName.cloudEventsSource.literal, source.byteCount, atMost: Self.maximumSourceBytes)
        event.source = event.keep(source)
        guard try attribute(.cloudEventsSpecversion, in: headers).hasSameBytes(as: "1.0") else {
            throw .malformed("the header \(HeaderName.cloudEventsSpecversion) is not 1.0")
        }
        let type = try attribute(.cloudEventsType, in: headers)
        try expectLength(of: HeaderName.cloudEventsType.literal, type.byteCount, atMost: Self.maximumTypeBytes)
        if headers.lastIndex(named: HeaderName.cloudEventsTime.literal) != nil {
            guard let value = headers.lastValue(named: HeaderName.cloudEventsTime.literal),
                value.byteCount <= HeaderList.longestNeededValue, RFC3339.parse(value) != nil
            else { throw .invalid("the header ce_time is no RFC 3339 date-time such as 2026-11-21T08:40:26Z") }
        }
    }

    /// Rejects a text longer than its limit, with the excess.
    func expectLength(of name: StaticString, _ count: Int, atMost limit: Int) throws(DecodingFailure) {
        guard count > limit else { return }
        throw .oversized("\(name) has \(count) bytes of UTF-8; at most \(limit) are allowed")
    }

    /// The value of a required header of a binary event.
    @_lifetime(borrow headers)
    private func attribute(_ name: HeaderName, in headers: HeaderList) throws(DecodingFailure) -> RawSpan {
        guard let value = headers.lastValue(named: name.literal), value.byteCount > 0, UTF8Text.isValid(value)
        else { throw .malformed("the header \(name) is missing, empty or not UTF-8; a CloudEvent has to have it") }
        return value
    }

    /// Whether an id's number of characters is allowed.
    func isIDLength(_ id: RawSpan) -> Bool {
        guard id.byteCount > 0, id.byteCount <= Self.maximumIDCharacters * 4,
            let count = UTF8Text.characterCount(id)
        else { return false }
        return count <= Self.maximumIDCharacters
    }
}

extension JSONToken {
    /// The number of bytes of a string's text; escapes are counted only when the written form is longer than `limit`.
    func textByteCount(in value: RawSpan, upTo limit: Int) -> Int {
        guard hasEscapes, range.count > limit else { return range.count }
        return JSONEscapes.byteCount(of: value.extracting(range))
    }

    /// The kind of the value, for a sentence: `user is a number`.
    var kindName: String {
        switch kind {
        case .none: "missing"
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: range.isEmpty ? "empty" : "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Whether an optional field is absent or null.
    @inline(__always)
    var isAbsent: Bool { kind == .none || kind == .null }
}
