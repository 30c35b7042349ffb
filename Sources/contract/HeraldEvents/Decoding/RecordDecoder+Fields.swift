import HeraldBytes
import HeraldTime

extension RecordDecoder {
    /// Keeps id, user, source and campaign before any rule is checked, so that the dead letter and the result can name
    /// them.
    func readIdentity(form: RecordForm, tokens: inout EventTokens, value: RawSpan, into event: inout DecodedEvent) {
        if let id = text(.id, &tokens, in: value, atMost: Self.maximumIDCharacters * 4, &event),
            isIDLength(event.bytes(of: id, value: value))
        {
            event.id = id
        }
        if let user = text(.user, &tokens, in: value, atMost: Self.maximumKnownUserBytes, &event) { event.user = user }
        if let source = text(.source, &tokens, in: value, atMost: Self.maximumSourceBytes, &event) {
            event.source = source
        }
        if let campaign = text(.campaign, &tokens, in: value, atMost: Self.maximumCampaignBytes, &event) {
            event.campaign = campaign
        }
    }

    private func text(
        _ field: EventField, _ tokens: inout EventTokens, in value: RawSpan, atMost limit: Int,
        _ event: inout DecodedEvent
    ) -> ByteField? {
        tokens[field].kind == .string ? event.field(tokens[field], in: value, atMost: limit) : nil
    }

    /// Rejects an id that was not kept, unless the event has none.
    func checkID(form: RecordForm, token: JSONToken) throws(DecodingFailure) {
        guard form == .binary || !token.isAbsent else { return }
        guard form == .binary || token.kind == .string else {
            throw .invalid("id is \(token.kindName); it has to be a string")
        }
        let allowed = "it has to have 1 to \(Self.maximumIDCharacters) characters"
        // An empty ce_id is reported as missing.
        if form == .binary { throw .invalid("the header \(HeaderName.cloudEventsID) is too long; \(allowed)") }
        throw .invalid("id is \(token.range.isEmpty ? "empty" : "too long"); \(allowed)")
    }

    /// Checks every field but the id by its rule and keeps what the event needs.
    func readFields(tokens: inout EventTokens, value: RawSpan, into event: inout DecodedEvent) throws(DecodingFailure) {
        try expectString(.user, &tokens)
        guard event.user.isPresent else { throw .invalid(problem(ofLongUser: tokens[.user], in: value)) }
        if let problem = users.problem(in: event.bytes(of: event.user, value: value)) { throw .invalid(problem) }

        try expectString(.message, &tokens)
        try expectLength(.message, &tokens, in: value, atMost: Self.maximumMessageBytes)
        event.message = event.field(tokens[.message], in: value)
        guard event.message.count > 0 else { throw .invalid("message is empty") }

        event.pushServices = try readPushServices(tokens[.pns], value: value, into: &event)
        if !tokens[.source].isAbsent { try expectString(.source, &tokens) }
        if !tokens[.campaign].isAbsent { try expectString(.campaign, &tokens) }
        try expectLength(.source, &tokens, in: value, atMost: Self.maximumSourceBytes)
        try expectLength(.campaign, &tokens, in: value, atMost: Self.maximumCampaignBytes)
        if !tokens[.time].isAbsent { _ = try readTime(.time, &tokens, value: value, scratch: &event.scratch) }
        if !tokens[.expiresAt].isAbsent {
            event.expiresAt = try readTime(.expiresAt, &tokens, value: value, scratch: &event.scratch)
        }
        if !tokens[.notBefore].isAbsent {
            event.notBefore = try readTime(.notBefore, &tokens, value: value, scratch: &event.scratch)
        }
        if !tokens[.eventClass].isAbsent { event.eventClass = try readClass(&tokens, value: value) }
        if !tokens[.zone].isAbsent {
            try expectString(.zone, &tokens)
            try expectLength(.zone, &tokens, in: value, atMost: QuietHours.longestZone)
            event.zone = event.field(tokens[.zone], in: value)
        }
        if !tokens[.options].isAbsent { try readOptions(tokens[.options], value: value, into: &event) }
        if tokens.contentStart >= 0 { try readContent(tokens: &tokens, value: value, into: &event) }
    }

    private func readClass(_ tokens: inout EventTokens, value: RawSpan) throws(DecodingFailure) -> EventClass {
        try expectString(.eventClass, &tokens)
        let token = tokens[.eventClass]
        let isKnownLength = token.textByteCount(in: value, upTo: Self.longestToken) <= Self.longestToken
        guard isKnownLength, let known = EventClass(rawValue: token.text(in: value)) else {
            let allowed = EventClass.allCases.map(\.rawValue).joined(separator: " or ")
            throw .invalid("class is no class of events; it has to be \(allowed)")
        }
        return known
    }

    private func problem(ofLongUser token: JSONToken, in value: RawSpan) -> String {
        var text: [UInt8] = []
        token.append(in: value, to: &text)
        return users.problem(in: text.span.bytes) ?? "user is too long"
    }

    func expectLength(
        _ field: EventField, _ tokens: inout EventTokens, in value: RawSpan, atMost limit: Int
    ) throws(DecodingFailure) {
        guard tokens[field].range.count > limit else { return }
        try expectLength(of: field.name, tokens[field].textByteCount(in: value, upTo: limit), atMost: limit)
    }

    func expectString(_ field: EventField, _ tokens: inout EventTokens) throws(DecodingFailure) {
        guard tokens[field].kind == .string else {
            throw .invalid("\(field.name) is \(tokens[field].kindName); it has to be a string")
        }
    }

    private func readTime(
        _ field: EventField, _ tokens: inout EventTokens, value: RawSpan, scratch: inout [UInt8]
    ) throws(DecodingFailure) -> WallTime {
        try expectString(field, &tokens)
        let token = tokens[field]
        let start = scratch.count
        defer { scratch.removeLast(scratch.count - start) }
        let time: WallTime?
        if token.textByteCount(in: value, upTo: Self.longestToken) > Self.longestToken {
            time = nil
        } else if token.hasEscapes {
            JSONEscapes.append(value.extracting(token.range), to: &scratch)
            time = RFC3339.parse(scratch.span.bytes.extracting(start..<scratch.count))
        } else {
            time = RFC3339.parse(value.extracting(token.range))
        }
        guard let time else {
            throw .invalid("\(field.name) is no RFC 3339 date-time such as 2026-11-21T08:40:26Z")
        }
        return time
    }

    private func readPushServices(
        _ token: JSONToken, value: RawSpan, into event: inout DecodedEvent
    ) throws(DecodingFailure) -> PushServiceSet {
        switch token.kind {
        case .string:
            let index = try pushService(token, value: value, scratch: &event.scratch)
            if isOtherName(token, of: index, in: value) {
                // With its quotes.
                event.otherNames = ByteField(
                    start: Int(token.start) - 1, count: token.range.count + 2, isInScratch: false)
            }
            return PushServiceSet(index: index)
        case .array: break
        case .none, .null, .boolean, .number, .object:
            throw .invalid("pns is \(token.kindName); it has to be a push service or an array of them")
        }
        var set: PushServiceSet = []
        var reader = JSONReader(value, offset: token.range.lowerBound)
        var isFirst = true
        while let element = try nextElement(of: &reader, isFirst: &isFirst) {
            guard element.kind == .string else {
                throw .invalid("pns holds \(element.kindName); it has to hold only strings")
            }
            let index = try pushService(element, value: value, scratch: &event.scratch)
            set.insert(index)
            if isOtherName(element, of: index, in: value) {
                event.otherNames = ByteField(start: Int(token.start), count: token.range.count, isInScratch: false)
            }
        }
        guard !set.isEmpty else { throw .invalid("pns is empty; it has to name a push service") }
        return set
    }

    /// The array was checked as a part of the whole value before, so nothing can be wrong with it here.
    private func nextElement(of reader: inout JSONReader, isFirst: inout Bool) throws(DecodingFailure) -> JSONToken? {
        do throws(JSONError) {
            if isFirst { try reader.enterContainer() }
            return try reader.nextElement(isFirst: &isFirst)
        } catch {
            throw .malformed("pns \(error)")
        }
    }

    private func isOtherName(_ token: JSONToken, of index: Int, in value: RawSpan) -> Bool {
        !pushServices.bytes(ofName: index).hasSameBytes(as: value.extracting(token.range))
    }

    private func pushService(
        _ token: JSONToken, value: RawSpan, scratch: inout [UInt8]
    ) throws(DecodingFailure) -> Int {
        guard token.textByteCount(in: value, upTo: Self.longestToken) <= Self.longestToken else {
            throw .invalid("pns holds a name of \(token.range.count) bytes; allowed are \(allowedPushServices)")
        }
        let start = scratch.count
        defer { scratch.removeLast(scratch.count - start) }
        if token.hasEscapes { JSONEscapes.append(value.extracting(token.range), to: &scratch) }
        let index =
            token.hasEscapes
            ? pushServices.index(of: scratch.span.bytes.extracting(start..<scratch.count))
            : pushServices.index(of: value.extracting(token.range))
        guard let index else {
            let name = token.range.prefix(64)
            let text = value.extracting(name).text
            let hint =
                text.contains(",")
                ? "; several are an array, as [\"apns\", \"gcm\"]"
                : meant(by: text).map { "; did you mean \($0)?" } ?? ""
            throw .invalid("pns holds \"\(text)\"; allowed are \(allowedPushServices)\(hint)")
        }
        return index
    }

    /// The push service of a platform that is called otherwise, if there is one.
    private func meant(by name: String) -> String? {
        let candidates =
            switch name.lowercased() {
            case "ios", "iphone", "ipad", "apple", "apn", "macos": ["apns"]
            case "android", "firebase", "google", "fcmv1": ["fcm", "gcm"]
            case "windows", "microsoft": ["wns"]
            default: [name.lowercased()]
            }
        return candidates.first { pushServices.names.contains($0) || pushServices.aliases[$0] != nil }
    }

    private var allowedPushServices: String {
        (pushServices.names + pushServices.aliases.keys.sorted()).joined(separator: ", ")
    }

    /// The most bytes of a valid moment or push service's name.
    private static let longestToken = 512
}
