package import HeraldText
package import HeraldTime

/// Reads a condition: comparisons, `in`, `~` (a pattern), `and`, `or`, `not` and parentheses.
///
///     status = 503 and age < 2h and pns in (apns, wns) and user ~ 'test-*'
///
/// `and` binds tighter than `or`. `none` stands for a value that is not there. What is negated (`!=`, `!~`, `not in`) holds
/// for a value that is not there, too.
package struct WhereParser {
    private static let deepest = 64

    private let now: WallTime
    private let reasons: WhereReasons
    private var tokens: [WhereToken]
    private var index = 0
    private var depth = 0

    /// The condition that the text writes.
    ///
    /// - Parameters:
    ///   - now: what ages are counted from.
    ///   - reasons: which reasons there are.
    package static func parse(
        _ text: String, now: WallTime, reasons: WhereReasons = .heralds
    ) throws(InputError) -> Condition {
        var lexer = try WhereLexer(text)
        var parser = WhereParser(now: now, reasons: reasons, tokens: try lexer.tokens())
        let condition = try parser.alternatives()
        guard parser.current.kind == .end else {
            throw parser.current.mistake("\(parser.current.name) is too much; and or or is missing before it")
        }
        return condition
    }

    private init(now: WallTime, reasons: WhereReasons, tokens: [WhereToken]) {
        self.now = now
        self.reasons = reasons
        self.tokens = tokens
    }

    private var current: WhereToken { tokens[index] }

    private mutating func advance() -> WhereToken {
        defer { if index < tokens.count - 1 { index += 1 } }
        return tokens[index]
    }

    private mutating func accept(_ word: String) -> Bool {
        guard current.isWord(word) else { return false }
        _ = advance()
        return true
    }

    // MARK: - Structure

    private mutating func alternatives() throws(InputError) -> Condition {
        var parts = [try conjunction()]
        while accept("or") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(InputError) -> Condition {
        var parts = [try negation()]
        while accept("and") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(InputError) -> Condition {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw current.mistake("nested too deeply") }
        if accept("not") { return .not(try negation()) }
        guard current.kind == .openParenthesis else { return try comparison() }
        _ = advance()
        let inner = try alternatives()
        guard current.kind == .closeParenthesis else {
            throw current.mistake("\(current.name) stands where \")\" is needed")
        }
        _ = advance()
        return inner
    }

    private mutating func comparison() throws(InputError) -> Condition {
        let name = advance()
        guard case .word(let word) = name.kind else {
            throw name.mistake("\(name.name) stands where a field is needed")
        }
        guard let field = WhereField(named: word) else {
            let fields = WhereField.allCases.map(\.rawValue).joined(separator: ", ")
            throw name.mistake("there is no field \(name.name); fields are \(fields)")
        }
        var reader = ValueReader(field: field, now: now, reasons: reasons)
        let isNegated = accept("not")
        if accept("in") {
            let condition = try reader.condition(anyOf: try list())
            return isNegated ? .not(condition) : condition
        }
        guard !isNegated else { throw current.mistake("in has to follow not") }
        let sign = advance()
        guard case .comparison(let relation) = sign.kind else {
            throw sign.mistake("\(sign.name) stands where =, !=, <, <=, >, >=, ~, !~ or in is needed")
        }
        let value = try value()
        return try reader.condition(relation, sign, value)
    }

    private mutating func list() throws(InputError) -> [WhereToken] {
        guard current.kind == .openParenthesis else {
            throw current.mistake("in needs values in parentheses: in (a, b)")
        }
        _ = advance()
        var values: [WhereToken] = []
        repeat {
            if !values.isEmpty { _ = advance() }
            values.append(try value())
        } while current.kind == .comma
        guard current.kind == .closeParenthesis else {
            throw current.mistake("\(current.name) stands where \",\" or \")\" is needed")
        }
        _ = advance()
        return values
    }

    private mutating func value() throws(InputError) -> WhereToken {
        let token = advance()
        switch token.kind {
        case .word, .quoted: return token
        default: throw token.mistake("\(token.name) stands where a value is needed")
        }
    }
}
