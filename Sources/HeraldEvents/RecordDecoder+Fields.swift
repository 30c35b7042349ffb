import HeraldBytes
import HeraldTime

extension RecordDecoder {
    /// Keeps who it is about, before any rule is checked, so that the dead letter and the result can say it.
    func readIdentity(form: RecordForm, tokens: EventTokens, value: RawSpan, into event: inout DecodedEvent) {
        if tokens[.id].kind == .string {
            let id = event.field(tokens[.id], in: value)
            if isIDLength(event.bytes(of: id, value: value)) { event.id = id }
        }
        if tokens[.user].kind == .string { event.user = event.field(tokens[.user], in: value) }
        if tokens[.source].kind == .string { event.source = event.field(tokens[.source], in: value) }
        if tokens[.campaign].kind == .string { event.campaign = event.field(tokens[.campaign], in: value) }
    }

    /// Says what is wrong with an id that was not kept, unless the event has none.
    func checkID(form: RecordForm, token: JSONToken) throws(DecodingFailure) {
        guard form == .binary || !token.isAbsent else { return }
        guard form == .binary || token.kind == .string else {
            throw .invalid("id is \(token.kindName); it has to be a string")
        }
        throw .invalid("id is empty or too long; it has to have 1 to \(Self.maximumIDCharacters) characters")
    }

    /// Checks every field but the id by its rule and keeps what the event needs.
    func readFields(tokens: EventTokens, value: RawSpan, into event: inout DecodedEvent) throws(DecodingFailure) {
        try expectString(.user, tokens)
        if let problem = UserTag.problem(in: event.bytes(of: event.user, value: value)) { throw .invalid(problem) }

        try expectString(.message, tokens)
        event.message = event.field(tokens[.message], in: value)
        guard event.message.count > 0 else { throw .invalid("message is empty") }
        guard event.message.count <= Self.maximumMessageBytes else {
            throw .oversized(
                "message has \(event.message.count) bytes of UTF-8; at most \(Self.maximumMessageBytes) are allowed")
        }

        event.pushServices = try readPushServices(tokens[.pns], value: value, scratch: &event.scratch)
        for field in [EventField.source, .campaign] where !tokens[field].isAbsent { try expectString(field, tokens) }
        _ = try readTime(.time, tokens, value: value, scratch: &event.scratch)
        event.expiresAt = try readTime(.expiresAt, tokens, value: value, scratch: &event.scratch)
        event.notBefore = try readTime(.notBefore, tokens, value: value, scratch: &event.scratch)
    }

    private func expectString(_ field: EventField, _ tokens: EventTokens) throws(DecodingFailure) {
        guard tokens[field].kind == .string else {
            throw .invalid("\(field.name) is \(tokens[field].kindName); it has to be a string")
        }
    }

    private func readTime(
        _ field: EventField, _ tokens: EventTokens, value: RawSpan, scratch: inout [UInt8]
    ) throws(DecodingFailure) -> WallTime? {
        let token = tokens[field]
        guard !token.isAbsent else { return nil }
        try expectString(field, tokens)
        let start = scratch.count
        defer { scratch.removeLast(scratch.count - start) }
        let time: WallTime?
        if token.hasEscapes {
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
        _ token: JSONToken, value: RawSpan, scratch: inout [UInt8]
    ) throws(DecodingFailure) -> PushServiceSet {
        switch token.kind {
        case .string: return PushServiceSet(index: try pushService(token, value: value, scratch: &scratch))
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
            set.insert(try pushService(element, value: value, scratch: &scratch))
        }
        guard !set.isEmpty else { throw .invalid("pns is empty; it has to name a push service") }
        return set
    }

    /// The array was read as a part of the whole value before, so nothing can be wrong with it here.
    private func nextElement(of reader: inout JSONReader, isFirst: inout Bool) throws(DecodingFailure) -> JSONToken? {
        do throws(JSONError) {
            if isFirst { try reader.enterContainer() }
            return try reader.nextElement(isFirst: &isFirst)
        } catch {
            throw .malformed("pns \(error)")
        }
    }

    private func pushService(
        _ token: JSONToken, value: RawSpan, scratch: inout [UInt8]
    ) throws(DecodingFailure) -> Int {
        let start = scratch.count
        defer { scratch.removeLast(scratch.count - start) }
        if token.hasEscapes { JSONEscapes.append(value.extracting(token.range), to: &scratch) }
        let index =
            token.hasEscapes
            ? pushServices.index(of: scratch.span.bytes.extracting(start..<scratch.count))
            : pushServices.index(of: value.extracting(token.range))
        guard let index else {
            let allowed = (pushServices.names + pushServices.aliases.keys.sorted()).joined(separator: ", ")
            let name = token.range.prefix(64)
            throw .invalid("pns holds \"\(value.extracting(name).text)\"; allowed are \(allowed)")
        }
        return index
    }
}
