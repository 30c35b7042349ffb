import HeraldBytes

/// The probable kind of a value that is no event, and the remedy for its publisher.
package enum ForeignValue {
    /// Whether the value is text in UTF-16, whose ASCII has a zero beside each byte.
    package static func isUTF16(_ value: RawSpan) -> Bool {
        guard value.byteCount >= 4, value.byteCount.isMultiple(of: 2) || value.byteCount > 8 else { return false }
        let bytes = (0..<4).map { value[byteAt: $0] }
        switch (bytes[0], bytes[1]) {
        case (0xFF, 0xFE), (0xFE, 0xFF): return true
        case (0, 1...): return bytes[2] == 0 && bytes[3] != 0
        case (1..., 0): return bytes[2] != 0 && bytes[3] == 0
        default: return false
        }
    }

    /// A hint that continues a mistake's sentence; `nil` without one.
    package static func hint(on value: RawSpan, from start: Int) -> String? {
        var first = start
        while first < value.byteCount, [0x20, 0x09, 0x0A, 0x0D].contains(value[byteAt: first]) { first += 1 }
        guard first < value.byteCount else { return nil }
        switch value[byteAt: first] {
        case UInt8(ascii: "["): return "it is an array, and a record holds one event"
        case UInt8(ascii: "\""): return isSerializedTwice(value, from: first) ? twice : nil
        case UInt8(ascii: "{"): return envelope(in: value.extracting(first..<value.byteCount))
        default: return nil
        }
    }

    static let twice = "it is a string that holds an object: was it serialized twice?"

    private static func isSerializedTwice(_ value: RawSpan, from start: Int) -> Bool {
        var reader = JSONReader(value, offset: start)
        guard let token = try? reader.readValue(), (try? reader.expectEnd()) != nil else { return false }
        return token.holdsObject(in: value)
    }

    /// The envelope that another program put around a row or message.
    private static func envelope(in value: RawSpan) -> String? {
        var members = JSONFields(names: ["user", "schema", "payload", "op", "before", "after"])
        guard (try? members.read(value)) != nil, !members.fields[0].isPresent else { return nil }
        var hints: [String] = []
        if members.fields[1].isPresent, members.fields[2].isPresent {
            hints.append(
                "it looks like the envelope of Kafka Connect's JsonConverter (schema and payload): set "
                    + "value.converter.schemas.enable=false")
            var payload: [UInt8] = []
            members.append(2, of: value, to: &payload)
            guard (try? members.read(payload.span.bytes)) != nil else { return hints[0] }
        }
        if members.fields[3].isPresent, members.fields[4...].contains(where: \.isPresent) {
            hints.append(
                "it looks like a change event of Debezium (op, before and after): have its outbox event router publish "
                    + "the event alone")
        }
        return hints.isEmpty ? nil : hints.joined(separator: "; ")
    }
}

extension JSONToken {
    /// Whether it is a string whose text is an object, or one in base64.
    func holdsObject(in value: RawSpan) -> Bool {
        guard kind == .string else { return false }
        let text = text(in: value).drop(while: \.isWhitespace)
        return text.hasPrefix("{") || text.hasPrefix("eyJ")
    }
}
