import HeraldHub
import HeraldText

/// The recipients of a send: tags with `||`, `&&`, `!` and parentheses; `&&` binds tighter than `||`.
indirect enum TagExpression: Sendable, Equatable {
    case tag(String)
    case any([TagExpression])
    case all([TagExpression])
    case not(TagExpression)

    /// The maximum number of tags joined with `||` alone, and otherwise.
    static let limits = (withOrAlone: 20, otherwise: 6)
    private static let depthLimit = 64

    /// Reads an expression; throws a description of its fault.
    init(parsing text: String) throws(InvalidArgument) {
        var parser = Parser(rest: Array(text.utf8)[...])
        self = try parser.expression(depth: 0)
        parser.skipSpace()
        guard parser.rest.isEmpty else { throw InvalidArgument("the tag expression does not end where it should") }
        let limit = isOrAlone ? Self.limits.withOrAlone : Self.limits.otherwise
        guard tagCount <= limit else {
            throw InvalidArgument("the tag expression has \(tagCount) tags, \(limit) are allowed")
        }
    }

    func matches(_ tags: Set<String>) -> Bool {
        switch self {
        case .tag(let tag): tags.contains(tag)
        case .any(let parts): parts.contains { $0.matches(tags) }
        case .all(let parts): parts.allSatisfy { $0.matches(tags) }
        case .not(let part): !part.matches(tags)
        }
    }

    func mapping(_ change: (String) -> String) -> Self {
        switch self {
        case .tag(let tag): .tag(change(tag))
        case .any(let parts): .any(parts.map { $0.mapping(change) })
        case .all(let parts): .all(parts.map { $0.mapping(change) })
        case .not(let part): .not(part.mapping(change))
        }
    }

    /// The first tag in reading order.
    var firstTag: String {
        switch self {
        case .tag(let tag): tag
        case .any(let parts), .all(let parts): parts[0].firstTag
        case .not(let part): part.firstTag
        }
    }

    private var tagCount: Int {
        switch self {
        case .tag: 1
        case .any(let parts), .all(let parts): parts.reduce(0) { $0 + $1.tagCount }
        case .not(let part): part.tagCount
        }
    }

    private var isOrAlone: Bool {
        switch self {
        case .tag: true
        case .any(let parts): parts.allSatisfy(\.isOrAlone)
        case .all, .not: false
        }
    }

    private struct Parser {
        var rest: ArraySlice<UInt8>

        mutating func expression(depth: Int) throws(InvalidArgument) -> TagExpression {
            var parts = [try conjunction(depth)]
            while skip("||") { parts.append(try conjunction(depth)) }
            return parts.count == 1 ? parts[0] : .any(parts)
        }

        private mutating func conjunction(_ depth: Int) throws(InvalidArgument) -> TagExpression {
            var parts = [try operand(depth)]
            while skip("&&") { parts.append(try operand(depth)) }
            return parts.count == 1 ? parts[0] : .all(parts)
        }

        private mutating func operand(_ depth: Int) throws(InvalidArgument) -> TagExpression {
            guard depth < depthLimit else { throw InvalidArgument("the tag expression is nested too deep") }
            if skip("!") { return .not(try operand(depth + 1)) }
            if skip("(") {
                let inner = try expression(depth: depth + 1)
                guard skip(")") else { throw InvalidArgument("the tag expression has a '(' without ')'") }
                return inner
            }
            let tag = String(decoding: rest.prefix { !" \t|&!()".utf8.contains($0) }, as: UTF8.self)
            rest = rest.dropFirst(tag.utf8.count)
            // System tags can be sent to, but not set.
            let isOfSystem = ["$InstallationId:{", "$UserId:{"].contains { tag.hasPrefix($0) } && tag.hasSuffix("}")
            if !isOfSystem || tag.utf8.count > HubTags.lengthLimit { try HubTags.check(tag) }
            return .tag(tag)
        }

        private mutating func skip(_ word: String) -> Bool {
            skipSpace()
            guard rest.starts(with: word.utf8) else { return false }
            rest = rest.dropFirst(word.utf8.count)
            return true
        }

        mutating func skipSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }
    }
}
