import HeraldBytes

extension RecordDecoder {
    /// Checks the parts beside the message by their rules, and notes which there are.
    @inline(never)
    func readContent(tokens: inout EventTokens, value: RawSpan, into event: inout DecodedEvent) throws(DecodingFailure)
    {
        var fields: ContentFields = []
        if try checkText(.title, tokens[.title], value, &event, atMost: ContentRules.maximumTitleBytes, { _ in nil }) {
            fields.insert(ContentFields(.title))
        }
        if try checkText(
            .link, tokens[.link], value, &event, atMost: ContentRules.maximumURLBytes, Self.problem(inLink:))
        {
            fields.insert(ContentFields(.link))
        }
        if try checkText(
            .image, tokens[.image], value, &event, atMost: ContentRules.maximumURLBytes, Self.problem(inImage:))
        {
            fields.insert(ContentFields(.image))
        }
        if try readData(tokens[.appData], value: value) { fields.insert(ContentFields(.data)) }
        if try checkBadge(tokens[.badge], value: value) { fields.insert(ContentFields(.badge)) }
        if try checkText(
            .sound, tokens[.sound], value, &event, atMost: ContentRules.maximumSoundBytes, Self.problem(inSound:))
        {
            fields.insert(ContentFields(.sound))
        }
        if try checkText(
            .category, tokens[.category], value, &event, atMost: ContentRules.maximumCategoryBytes,
            Self.problem(inCategory:))
        {
            fields.insert(ContentFields(.category))
        }
        event.content = fields
        event.contentStart = tokens.contentStart
    }

    /// Whether the event has the text.
    @inline(__always)
    private func checkText(
        _ field: EventField, _ token: JSONToken, _ value: RawSpan, _ event: inout DecodedEvent, atMost limit: Int,
        _ problem: (RawSpan) -> String?
    ) throws(DecodingFailure) -> Bool {
        if token.isAbsent { return false }
        guard token.kind == .string else {
            throw .invalid("\(field.name) is \(token.kindName); it has to be a string")
        }
        if token.range.count > limit {
            try expectLength(of: field.name, token.textByteCount(in: value, upTo: limit), atMost: limit)
        }
        guard !token.range.isEmpty else { throw .invalid("\(field.name) is empty") }
        let found: String?
        if token.hasEscapes {
            let start = event.scratch.count
            JSONEscapes.append(value.extracting(token.range), to: &event.scratch)
            found = problem(event.scratch.span.bytes.extracting(start..<event.scratch.count))
            event.scratch.removeLast(event.scratch.count - start)
        } else {
            found = problem(value.extracting(token.range))
        }
        if let found { throw .invalid("\(field.name) \(found)") }
        return true
    }

    private static func problem(inSound text: RawSpan) -> String? {
        text.holdsNone { chunk in
            (chunk .< ByteChunk(repeating: 0x20)) .| (chunk .== ByteChunk(repeating: 0x7F))
                .| (chunk .== ByteChunk(repeating: UInt8(ascii: "/")))
                .| (chunk .== ByteChunk(repeating: UInt8(ascii: "\\")))
        } ? nil : "has to be default, none, or the name of a file in the app, without a path"
    }

    private static func problem(inCategory text: RawSpan) -> String? {
        isName(text) ? nil : "has to be 1 to 64 of A-Z a-z 0-9 _ . -"
    }

    private static func problem(inImage text: RawSpan) -> String? {
        if let problem = problem(inAddress: text) { return problem }
        return isHTTPS(text) ? nil : "has to begin with https:// and a host"
    }

    private static func problem(inLink text: RawSpan) -> String? {
        if let problem = problem(inAddress: text) { return problem }
        if isHTTPS(text) { return nil }
        var colon = 0
        while colon < text.byteCount, text[byteAt: colon].isSchemeByte { colon += 1 }
        guard colon > 0, text.byteCount > colon + 1, text[byteAt: colon] == UInt8(ascii: ":"), text[byteAt: 0].isLetter
        else { return "is no URL such as https://shop.example/orders/17 or shop://orders/17" }
        let scheme = text.extracting(0..<colon)
        if scheme.hasSameBytes(inAnyCaseAs: "https") { return "begins with https: and names no host" }
        for refused in ContentRules.refusedSchemes where scheme.hasSameBytes(inAnyCaseAs: refused) {
            return "begins with \(refused):; it has to begin with https: or the app's own scheme"
        }
        return nil
    }

    /// A URL is printable ASCII without quotes and angle brackets.
    private static func problem(inAddress text: RawSpan) -> String? {
        let isStrange = { (chunk: ByteChunk) -> ByteChunk.Mask in
            // With a sign, what is not ASCII is less than 0x21 too.
            (unsafeBitCast(chunk, to: SIMD16<Int8>.self) .< SIMD16<Int8>(repeating: 0x21))
                .| (chunk .== ByteChunk(repeating: 0x22)) .| (chunk .== ByteChunk(repeating: 0x3C))
                .| (chunk .== ByteChunk(repeating: 0x3E)) .| (chunk .== ByteChunk(repeating: 0x7F))
        }
        if text.holdsNone(isStrange) { return nil }
        let offset = (0..<text.byteCount).first { isStrange(ByteChunk(repeating: text[byteAt: $0]))[0] }
        return "holds a character that no URL has, at its byte \(offset ?? 0): percent-encode it"
    }

    private static func isHTTPS(_ text: RawSpan) -> Bool {
        guard text.byteCount > 8, text.extracting(0..<8).hasSameBytes(inAnyCaseAs: "https://") else { return false }
        switch text[byteAt: 8] {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":"): return false
        default: return true
        }
    }

    private func checkBadge(_ token: JSONToken, value: RawSpan) throws(DecodingFailure) -> Bool {
        if token.isAbsent { return false }
        guard token.kind == .number else { throw Self.wrongBadge(token.kindName) }
        guard let number = value.extracting(token.range).decimal, number <= ContentRules.maximumBadge else {
            throw Self.wrongBadge("out of range")
        }
        return true
    }

    private static func wrongBadge(_ what: String) -> DecodingFailure {
        .invalid("badge is \(what); it has to be a whole number from 0 to \(ContentRules.maximumBadge)")
    }

    // MARK: - data

    /// Whether the event has data with members; the object was checked as a part of the whole value before.
    private func readData(_ object: JSONToken, value: RawSpan) throws(DecodingFailure) -> Bool {
        if object.isAbsent { return false }
        guard object.kind == .object else {
            throw .invalid("data is \(object.kindName); it has to be an object of strings")
        }
        // Where each name begins.
        var names = InlineArray<64, Int32>(repeating: 0)
        var (count, byteCount) = (0, 0)
        var reader = JSONReader(value, offset: object.range.lowerBound)
        var isFirst = true
        while let (key, text) = try nextMember(of: &reader, isFirst: &isFirst) {
            let name = value.extracting(key.range)
            guard !key.hasEscapes, name.byteCount <= ContentRules.maximumDataNameBytes, Self.isName(name) else {
                throw Self.wrongName(name)
            }
            for earlier in 0..<count where Self.isName(name, at: Int(names[earlier]), in: value) {
                throw .malformed("data holds the name \(name.text) twice")
            }
            if let problem = Self.reservation(of: name) { throw .invalid("data.\(name.text) \(problem)") }
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
            names[count] = key.start
            count &+= 1
            byteCount &+= name.byteCount &+ length
        }
        guard byteCount <= ContentRules.maximumDataBytes else {
            throw .oversized(
                "data has \(byteCount) bytes of names and texts; at most \(ContentRules.maximumDataBytes) are allowed")
        }
        return count > 0
    }

    @inline(__always)
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

    /// Whether the name that begins there, which has no escapes, is this one.
    private static func isName(_ name: RawSpan, at start: Int, in value: RawSpan) -> Bool {
        let end = start + name.byteCount
        return end < value.byteCount && value[byteAt: end] == UInt8(ascii: "\"")
            && value.extracting(start..<end).hasSameBytes(as: name)
    }

    private static func wrongName(_ name: RawSpan) -> DecodingFailure {
        let shown = name.extracting(0..<min(name.byteCount, ContentRules.maximumDataNameBytes)).text
        return .invalid("data holds the name \"\(shown)\"; a name has 1 to 64 of A-Z a-z 0-9 _ . -")
    }

    /// Why a name means something to others.
    private static func reservation(of name: RawSpan) -> StaticString? {
        switch name[byteAt: 0] {
        case UInt8(ascii: "a")...UInt8(ascii: "g"), UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "m"),
            UInt8(ascii: "s"), UInt8(ascii: "t"):
            break
        // No reserved name begins otherwise.
        default: return nil
        }
        let text = name.text
        if text == "message" || ContentField(rawValue: text) != nil {
            return "is a field of the event itself: put it beside data"
        }
        let isReserved =
            ContentRules.reservedDataNames.contains(text) || text.hasPrefix("gcm.") || text.hasPrefix("google.")
        return isReserved ? "is a name that push services reserve; choose another one" : nil
    }

    /// Whether it has one character or more, and those of a name or category alone.
    private static func isName(_ text: RawSpan) -> Bool {
        text.byteCount > 0
            && text.holdsNone { chunk in
                let letters = (chunk | ByteChunk(repeating: 0x20)) &- ByteChunk(repeating: UInt8(ascii: "a"))
                let digits = chunk &- ByteChunk(repeating: UInt8(ascii: "0"))
                return
                    (letters .>= ByteChunk(repeating: 26)) .& (digits .>= ByteChunk(repeating: 10))
                    .& (chunk .!= ByteChunk(repeating: UInt8(ascii: "_")))
                    .& (chunk .!= ByteChunk(repeating: UInt8(ascii: "-")))
                    .& (chunk .!= ByteChunk(repeating: UInt8(ascii: ".")))
            }
    }
}

extension UInt8 {
    @inline(__always)
    fileprivate var isLetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }
    @inline(__always)
    fileprivate var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
    /// Whether a URL's scheme may hold it.
    @inline(__always)
    fileprivate var isSchemeByte: Bool {
        isLetter || isDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}
