import HeraldBytes

/// The form in which a record carries its event.
enum RecordForm {
    /// The value is the event.
    case plain
    /// The value is a CloudEvent in JSON with the event in its `data`.
    case structured
    /// The headers are a CloudEvent's attributes, the value is its data.
    case binary

    /// The possible fields of the JSON object in the value.
    var fields: EventFieldSet {
        switch self {
        case .plain: .plain
        case .structured: .envelope
        case .binary: .data
        }
    }

    /// The form shown by the headers.
    init(headers: HeaderList) throws(DecodingFailure) {
        self = .plain
        guard headers.count > 0 else { return }
        if let index = headers.lastIndex(namedInAnyCase: HeaderName.contentType.literal),
            let contentType = headers.value(at: index)
        {
            let mediaType = Self.mediaType(of: contentType)
            if Self.begins(mediaType, with: "application/cloudevents") {
                guard Self.begins(mediaType, with: "application/cloudevents+json"), mediaType.byteCount == 28 else {
                    throw .malformed(
                        "the content-type is a form of CloudEvents that is not supported; "
                            + "use application/cloudevents+json, one event per record")
                }
                self = .structured
                return
            }
        }
        if headers.lastIndex(named: HeaderName.cloudEventsSpecversion.literal) != nil
            || headers.lastIndex(named: HeaderName.cloudEventsID.literal) != nil
        {
            self = .binary
        }
    }

    /// The content type without its parameters and the white space around.
    @_lifetime(copy contentType)
    static func mediaType(of contentType: RawSpan) -> RawSpan {
        var start = 0
        while start < contentType.byteCount, isSpace(contentType[byteAt: start]) { start += 1 }
        var end = start
        while end < contentType.byteCount, contentType[byteAt: end] != UInt8(ascii: ";") { end += 1 }
        while end > start, isSpace(contentType[byteAt: end - 1]) { end -= 1 }
        return contentType.extracting(start..<end)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether the text begins with a literal of lower-case letters, in whatever case it is written.
    fileprivate static func begins(_ text: RawSpan, with prefix: StaticString) -> Bool {
        guard text.byteCount >= prefix.utf8CodeUnitCount else { return false }
        return prefix.withUTF8Buffer { prefix in
            for offset in 0..<prefix.count {
                guard text[byteAt: offset].lowerCased == prefix[offset] else { return false }
            }
            return true
        }
    }
}

extension UInt8 {
    /// A letter of ASCII in lower case, any other byte as it is.
    fileprivate var lowerCased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

extension RawSpan {
    /// Whether the span holds this text of lower-case letters, in whatever case it is written.
    func hasSameBytes(inAnyCaseAs text: StaticString) -> Bool {
        guard byteCount == text.utf8CodeUnitCount else { return false }
        return RecordForm.begins(self, with: text)
    }
}
