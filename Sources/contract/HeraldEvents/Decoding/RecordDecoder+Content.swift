import HeraldBytes

extension RecordDecoder {
    /// Checks the parts beside the message by their rules, and notes which there are.
    @inline(never)
    func readContent(tokens: inout EventTokens, value: RawSpan, into event: inout DecodedEvent) throws(DecodingFailure)
    {
        var fields: ContentFields = []
        for part in ContentField.allCases where !tokens[part.field].isAbsent {
            switch part {
            case .data:
                guard try readData(tokens[.appData], value: value, into: &event) else { continue }
            case .badge: try checkBadge(tokens[.badge], value: value)
            case .title, .link, .image, .sound, .category: try checkText(part, &tokens, value: value, into: &event)
            }
            fields.insert(ContentFields(part))
        }
        event.content = fields
        event.contentStart = tokens.contentStart
    }

    private func checkText(
        _ part: ContentField, _ tokens: inout EventTokens, value: RawSpan, into event: inout DecodedEvent
    ) throws(DecodingFailure) {
        let limit = Self.limit(of: part)
        try expectString(part.field, &tokens)
        try expectLength(part.field, &tokens, in: value, atMost: limit)
        let start = event.scratch.count
        defer { event.scratch.removeLast(event.scratch.count - start) }
        let field = event.field(tokens[part.field], in: value)
        guard field.count > 0 else { throw .invalid("\(part.rawValue) is empty") }
        if let problem = Self.problem(in: event.bytes(of: field, value: value), of: part) {
            throw .invalid("\(part.rawValue) \(problem)")
        }
    }

    private static func limit(of part: ContentField) -> Int {
        switch part {
        case .title: ContentRules.maximumTitleBytes
        case .link, .image: ContentRules.maximumURLBytes
        case .sound: ContentRules.maximumSoundBytes
        case .category: ContentRules.maximumCategoryBytes
        case .data, .badge: 0
        }
    }

    private static func problem(in text: RawSpan, of part: ContentField) -> String? {
        switch part {
        case .title, .data, .badge: return nil
        case .link: return problem(inLink: text)
        case .image: return problem(inAddress: text) ?? (isHTTPS(text) ? nil : "has to begin with https:// and a host")
        case .sound:
            for offset in 0..<text.byteCount {
                let byte = text[byteAt: offset]
                guard byte >= 0x20, byte != 0x7F, byte != UInt8(ascii: "/"), byte != UInt8(ascii: "\\") else {
                    return "has to be default, none, or the name of a file in the app, without a path"
                }
            }
            return nil
        case .category:
            return firstOffset(in: text) { !$0.isNameByte } == nil ? nil : "has to be 1 to 64 of A-Z a-z 0-9 _ . -"
        }
    }

    private static func problem(inLink text: RawSpan) -> String? {
        if let problem = problem(inAddress: text) { return problem }
        let colon = firstOffset(in: text) { $0 == UInt8(ascii: ":") } ?? 0
        let scheme = text.extracting(0..<colon)
        guard colon > 0, text.byteCount > colon + 1, text[byteAt: 0].isLetter,
            firstOffset(in: scheme, { !$0.isSchemeByte }) == nil
        else { return "is no URL such as https://shop.example/orders/17 or shop://orders/17" }
        let name = scheme.text.lowercased()
        guard !ContentRules.refusedSchemes.contains(name) else {
            return "begins with \(name):; it has to begin with https: or the app's own scheme"
        }
        return name != "https" || isHTTPS(text) ? nil : "begins with https: and names no host"
    }

    /// A URL is printable ASCII.
    private static func problem(inAddress text: RawSpan) -> String? {
        guard
            let offset = firstOffset(
                in: text, { !(0x21...0x7E).contains($0) || $0 == 0x22 || $0 == 0x3C || $0 == 0x3E })
        else { return nil }
        return "holds a character that no URL has, at its byte \(offset): percent-encode it"
    }

    private static func isHTTPS(_ text: RawSpan) -> Bool {
        let start: StaticString = "https://"
        let count = start.utf8CodeUnitCount
        guard text.byteCount > count, text.extracting(0..<count).hasSameBytes(inAnyCaseAs: start) else { return false }
        return ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":")].contains(
            text[byteAt: count])
    }

    private func checkBadge(_ token: JSONToken, value: RawSpan) throws(DecodingFailure) {
        let allowed = "it has to be a whole number from 0 to \(ContentRules.maximumBadge)"
        guard token.kind == .number else { throw .invalid("badge is \(token.kindName); \(allowed)") }
        guard let number = value.extracting(token.range).decimal, number <= ContentRules.maximumBadge else {
            throw .invalid("badge is out of range; \(allowed)")
        }
    }

    // MARK: - data

    /// Whether it has members; the object was checked as a part of the whole value before.
    private func readData(
        _ object: JSONToken, value: RawSpan, into event: inout DecodedEvent
    ) throws(DecodingFailure) -> Bool {
        guard object.kind == .object else {
            throw .invalid("data is \(object.kindName); it has to be an object of strings")
        }
        var names = InlineArray<64, JSONToken>(repeating: JSONToken())
        var (count, byteCount) = (0, 0)
        var reader = JSONReader(value, offset: object.range.lowerBound)
        var isFirst = true
        while let (key, text) = try nextMember(of: &reader, isFirst: &isFirst) {
            let name = value.extracting(key.range)
            try checkName(key, name)
            for earlier in 0..<count where value.extracting(names[earlier].range).hasSameBytes(as: name) {
                throw .malformed("data holds the name \(name.text) twice")
            }
            guard text.kind == .string else {
                throw .invalid("data.\(name.text) is \(text.kindName); it has to be a string")
            }
            let length = text.hasEscapes ? JSONEscapes.byteCount(of: value.extracting(text.range)) : text.range.count
            guard length <= ContentRules.maximumDataTextBytes else {
                throw .oversized(
                    "data.\(name.text) has \(length) bytes of UTF-8; at most \(ContentRules.maximumDataTextBytes) are "
                        + "allowed")
            }
            guard count < ContentRules.maximumDataCount else {
                throw .oversized("data has more than \(ContentRules.maximumDataCount) members")
            }
            names[count] = key
            count += 1
            byteCount += name.byteCount + length
        }
        guard byteCount <= ContentRules.maximumDataBytes else {
            throw .oversized(
                "data has \(byteCount) bytes of names and texts; at most \(ContentRules.maximumDataBytes) are allowed")
        }
        return count > 0
    }

    private func nextMember(
        of reader: inout JSONReader, isFirst: inout Bool
    ) throws(DecodingFailure) -> (key: JSONToken, value: JSONToken)? {
        do throws(JSONError) {
            if isFirst { try reader.enterContainer() }
            guard let key = try reader.nextKey(isFirst: &isFirst) else { return nil }
            return (key, try reader.readValue())
        } catch {
            throw .malformed("data \(error)")
        }
    }

    private func checkName(_ key: JSONToken, _ name: RawSpan) throws(DecodingFailure) {
        guard !key.hasEscapes, (1...ContentRules.maximumDataNameBytes).contains(name.byteCount),
            Self.firstOffset(in: name, { !$0.isNameByte }) == nil
        else {
            let shown = name.extracting(0..<min(name.byteCount, ContentRules.maximumDataNameBytes)).text
            throw .invalid("data holds the name \"\(shown)\"; a name has 1 to 64 of A-Z a-z 0-9 _ . -")
        }
        switch name[byteAt: 0] {
        // No reserved name begins otherwise.
        case UInt8(ascii: "a")...UInt8(ascii: "g"), UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "m"),
            UInt8(ascii: "s"), UInt8(ascii: "t"):
            break
        default: return
        }
        let text = name.text
        if text == "message" || ContentField(rawValue: text) != nil {
            throw .invalid("data.\(text) is a field of the event itself: put it beside data")
        }
        if ContentRules.reservedDataNames.contains(text) || text.hasPrefix("gcm.") || text.hasPrefix("google.") {
            throw .invalid("data.\(text) is a name that push services reserve; choose another one")
        }
    }

    private static func firstOffset(in bytes: RawSpan, _ matches: (UInt8) -> Bool) -> Int? {
        for offset in 0..<bytes.byteCount where matches(bytes[byteAt: offset]) { return offset }
        return nil
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    /// Whether a URL's scheme may hold it.
    fileprivate var isSchemeByte: Bool {
        isLetter || isDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
    /// Whether a name of `data` or a category may hold it.
    fileprivate var isNameByte: Bool {
        isLetter || isDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}
