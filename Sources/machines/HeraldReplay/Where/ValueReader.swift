internal import HeraldBytes
internal import HeraldEvents
internal import HeraldText
internal import HeraldTime

/// Makes a comparison's condition of a field and its values, each read as the field's kind wants it.
struct ValueReader {
    let field: WhereField
    let now: WallTime
    let reasons: WhereReasons

    /// The field is one of these.
    mutating func condition(anyOf tokens: [WhereToken]) throws(InputError) -> Condition {
        var parts: [Condition] = []
        for token in tokens { parts.append(try equal(token)) }
        return parts.count == 1 ? parts[0] : Self.joined(parts)
    }

    /// The field stands so to this value.
    mutating func condition(
        _ relation: String, _ sign: WhereToken, _ token: WhereToken
    ) throws(InputError) -> Condition {
        switch relation {
        case "=": return try equal(token)
        case "!=": return .not(try equal(token))
        case "~": return try glob(sign, token)
        case "!~": return .not(try glob(sign, token))
        case "<": return try ordered(.less, sign, token)
        case "<=": return try ordered(.atMost, sign, token)
        case ">": return try ordered(.greater, sign, token)
        default: return try ordered(.atLeast, sign, token)
        }
    }

    /// Values of the same source become one list, which is quicker to ask.
    private static func joined(_ parts: [Condition]) -> Condition {
        var texts: [[UInt8]] = []
        var numbers: [Int64] = []
        for part in parts {
            switch part {
            case .text(_, .oneOf(let values)), .service(.oneOf(let values)): texts += values.texts
            case .number(_, .oneOf(let values)): numbers += values
            default: return .or(parts)
            }
        }
        switch parts[0] {
        case .text(let field, _): return .text(field, .oneOf(.init(texts)))
        case .service: return .service(.oneOf(.init(texts)))
        case .number(let source, _) where parts.allSatisfy({ $0.source == source }):
            return .number(source, .oneOf(numbers))
        default: return .or(parts)
        }
    }

    private func equal(_ token: WhereToken) throws(InputError) -> Condition {
        if token.isWord("none") { return absent }
        switch field.kind {
        case .text: return .text(field, .oneOf([Array(token.text.utf8)]))
        case .reason:
            guard reasons == .anyException || DeadLetterReason(rawValue: token.text) != nil else {
                let reasons = DeadLetterReason.allCases.map(\.rawValue).joined(separator: ", ")
                throw token.mistake("there is no reason \(token.name); reasons are \(reasons)")
            }
            return .text(field, .oneOf([Array(token.text.utf8)]))
        case .services: return .service(.oneOf([Array(token.text.lowercased().utf8)]))
        case .number, .moment, .duration, .hour:
            let (source, value) = try number(token)
            return .number(source, .oneOf([value]))
        }
    }

    private var absent: Condition {
        switch field.kind {
        case .text, .reason: .text(field, .absent)
        case .services: .service(.absent)
        case .number, .moment: .number(.field(field), .absent)
        case .duration, .hour: .number(.field(.deadLetteredAt), .absent)
        }
    }

    private func glob(_ sign: WhereToken, _ token: WhereToken) throws(InputError) -> Condition {
        switch field.kind {
        case .text, .reason: return .text(field, .glob(Glob(token.text)))
        case .services: return .service(.glob(Glob(token.text.lowercased())))
        case .number, .moment, .duration, .hour:
            throw sign.mistake("\(field.rawValue) is no text; ~ compares texts with patterns")
        }
    }

    private func ordered(
        _ relation: Condition.Relation, _ sign: WhereToken, _ token: WhereToken
    ) throws(InputError) -> Condition {
        switch field.kind {
        case .text, .reason, .services:
            throw sign.mistake("\(field.rawValue) is a text; it can be compared with =, !=, ~, !~ and in")
        case .number, .moment, .duration, .hour: break
        }
        guard !token.isWord("none") else { throw token.mistake("none is neither smaller nor larger") }
        let (source, value) = try number(token)
        // The older a dead letter, the earlier it came.
        return .number(source, .compared(field == .age ? relation.mirrored : relation, value))
    }

    private func number(
        _ token: WhereToken
    ) throws(InputError) -> (Condition.NumberSource, Int64) {
        switch field.kind {
        case .number:
            guard let number = Int64(token.text), number >= 0 else {
                throw token.mistake("\(field.rawValue) needs a whole number, not \(token.name)")
            }
            return (.field(field), number)
        case .moment:
            guard let moment = RFC3339.parse(Array(token.text.utf8).span.bytes) else {
                throw token.mistake("\(field.rawValue) needs a moment such as 2026-11-21T08:40:26Z, not \(token.name)")
            }
            return (.field(field), moment.milliseconds)
        case .duration:
            guard let age = DurationText.parse(token.text) else {
                throw token.mistake("age needs a duration such as 30s, 10m, 2h or 1d, not \(token.name)")
            }
            return (.field(.deadLetteredAt), now.advanced(by: -Milliseconds(age)).milliseconds)
        case .hour:
            if let hour = Int64(token.text), (0...23).contains(hour) { return (.hourOfDay, hour) }
            guard let moment = RFC3339.parse(Array("\(token.text):00:00Z".utf8).span.bytes) else {
                throw token.mistake("hour needs 0 to 23, or an hour such as 2026-11-21T08 (UTC), not \(token.name)")
            }
            return (.hourSinceEpoch, moment.milliseconds / Milliseconds.hours(1).count)
        case .text, .reason, .services:
            throw token.mistake("\(field.rawValue) is no number")
        }
    }
}

extension WhereToken {
    fileprivate var text: String {
        switch kind {
        case .word(let text), .quoted(let text): text
        default: ""
        }
    }
}

extension Condition {
    fileprivate var source: NumberSource? {
        if case .number(let source, _) = self { source } else { nil }
    }
}

extension Condition.Relation {
    fileprivate var mirrored: Self {
        switch self {
        case .less: .greater
        case .atMost: .atLeast
        case .greater: .less
        case .atLeast: .atMost
        }
    }
}
