import HeraldBytes

/// The requests of an event to its push services besides being shown.
///
/// Both texts are ASCII that may be a header's value unescaped.
public struct EventOptions: Sendable {
    /// Whether it is urgent; absent when unspecified.
    public internal(set) var isUrgent: Bool?
    /// APNs' kind of notification: 1 to 32 lower-case letters.
    public internal(set) var pushType = ByteField.absent
    /// The id shared with later notifications that replace this one: 1 to 64 printable characters without spaces, as
    /// APNs requires.
    public internal(set) var collapseID = ByteField.absent

    /// The most bytes of each.
    static let maximumPushTypeBytes = 32
    static let maximumCollapseIDBytes = 64
}

/// The values found for the members of an event's `options`; other members are unknown and ignored.
private struct OptionTokens {
    var pushType = JSONToken()
    var priority = JSONToken()
    var collapseID = JSONToken()
    /// Whether parts of the notification stand here, where they are ignored.
    var hasContent = false

    /// Keeps the value of a member; returns the name of a repeated one.
    mutating func keep(_ token: JSONToken, named name: RawSpan) -> StaticString? {
        if name.hasSameBytes(as: "pushType") { return Self.keep(token, in: &pushType) ? nil : "pushType" }
        if name.hasSameBytes(as: "priority") { return Self.keep(token, in: &priority) ? nil : "priority" }
        if name.hasSameBytes(as: "collapseId") { return Self.keep(token, in: &collapseID) ? nil : "collapseId" }
        if let field = EventField(named: name), field.isContent || field == .data { hasContent = true }
        return nil
    }

    private static func keep(_ token: JSONToken, in place: inout JSONToken) -> Bool {
        guard place.kind == .none else { return false }
        place = token
        return true
    }
}

extension RecordDecoder {
    /// Reads the options; the object was checked as a part of the whole value before.
    @inline(never)
    func readOptions(_ token: JSONToken, value: RawSpan, into event: inout DecodedEvent) throws(DecodingFailure) {
        guard token.kind == .object else {
            throw .invalid("options is \(token.kindName); it has to be an object")
        }
        var tokens = OptionTokens()
        do throws(JSONError) {
            try Self.readOptionTokens(token, value: value, into: &tokens)
        } catch {
            throw .malformed("the value \(error)")
        }
        if tokens.hasContent { event.hasForeignFields = true }
        event.options.pushType = try optionText(
            tokens.pushType, "pushType", "1 to 32 lower-case letters", in: value,
            atMost: EventOptions.maximumPushTypeBytes,
            &event
        ) { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        event.options.collapseID = try optionText(
            tokens.collapseID, "collapseId", "1 to 64 printable ASCII characters without spaces", in: value,
            atMost: EventOptions.maximumCollapseIDBytes, &event
        ) { (0x21...0x7E).contains($0) }
        event.options.isUrgent = try isUrgent(tokens.priority, value: value, &event)
    }

    private static func readOptionTokens(
        _ token: JSONToken, value: RawSpan, into tokens: inout OptionTokens
    ) throws(JSONError) {
        var reader = JSONReader(value, offset: token.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let member = try reader.readValue()
            var name: [UInt8] = []
            if key.hasEscapes || key.range.count <= 16 { key.append(in: value, to: &name) }
            if let repeated = tokens.keep(member, named: name.span.bytes) {
                throw JSONError(problem: .repeatedKey(repeated), offset: Int(key.start))
            }
        }
    }

    private func isUrgent(
        _ token: JSONToken, value: RawSpan, _ event: inout DecodedEvent
    ) throws(DecodingFailure) -> Bool? {
        let start = event.scratch.count
        defer { event.scratch.removeLast(event.scratch.count - start) }
        let text = try optionText(token, "priority", "high or normal", in: value, atMost: 8, &event) { _ in true }
        guard text.isPresent else { return nil }
        let bytes = event.bytes(of: text, value: value)
        if bytes.hasSameBytes(as: "high") { return true }
        if bytes.hasSameBytes(as: "normal") { return false }
        throw .invalid("options.priority has to be high or normal")
    }

    private func optionText(
        _ token: JSONToken, _ name: StaticString, _ allowed: StaticString, in value: RawSpan, atMost limit: Int,
        _ event: inout DecodedEvent, _ accepts: (UInt8) -> Bool
    ) throws(DecodingFailure) -> ByteField {
        if token.isAbsent { return .absent }
        guard token.kind == .string else {
            throw .invalid("options.\(name) is \(token.kindName); it has to be a string")
        }
        guard let field = event.field(token, in: value, atMost: limit), field.count > 0, field.count <= limit,
            isAccepted(event.bytes(of: field, value: value), accepts)
        else { throw .invalid("options.\(name) has to be \(allowed)") }
        return field
    }

    private func isAccepted(_ bytes: RawSpan, _ accepts: (UInt8) -> Bool) -> Bool {
        for offset in 0..<bytes.byteCount where !accepts(bytes[byteAt: offset]) { return false }
        return true
    }
}
