package import HeraldBytes
internal import HeraldEvents
import HeraldTime

/// Which dead letters are meant: compiled once, asked for each of them without making strings.
package indirect enum Condition: Equatable, Sendable {
    case always
    case and([Condition])
    case or([Condition])
    case not(Condition)
    case text(WhereField, TextTest)
    /// Those of which one push service is so.
    case service(TextTest)
    /// Those whose number, moment (epoch milliseconds) or hour is so.
    case number(NumberSource, NumberTest)

    package enum Relation: Equatable, Sendable {
        case less
        case atMost
        case greater
        case atLeast
    }

    /// What a text has to be; an absent one is only ``absent``.
    package enum TextTest: Equatable, Sendable {
        case absent
        case oneOf(TextSet)
        case glob(Glob)
    }

    /// Texts, and a keyed hash of each, which an index has in their place.
    package struct TextSet: Equatable, Sendable, ExpressibleByArrayLiteral {
        package let texts: [[UInt8]]
        package let hashes: Set<UInt64>

        package init(_ texts: [[UInt8]]) {
            self.texts = texts
            hashes = Set(texts.map { Self.hash($0.span.bytes) })
        }

        package init(arrayLiteral texts: [UInt8]...) { self.init(texts) }

        /// Keyed for this process: no publisher can make texts that collide; never 0.
        package static func hash(_ text: RawSpan) -> UInt64 {
            var hasher = Hasher()
            text.withUnsafeBytes { hasher.combine(bytes: $0) }
            return max(1, UInt64(bitPattern: Int64(hasher.finalize())))
        }
    }

    /// What a number has to be; an absent one is only ``absent``.
    package enum NumberTest: Equatable, Sendable {
        case absent
        case oneOf([Int64])
        case compared(Relation, Int64)
    }

    package enum NumberSource: Equatable, Sendable {
        /// A header or a place.
        case field(WhereField)
        /// The hour of the day, from 0 to 23.
        case hourOfDay
        case hourSinceEpoch
    }

    /// Whether this dead letter is meant.
    package func holds(for entry: inout DeadLetterEntry) -> Bool { evaluate(&entry) ?? false }

    /// Whether it holds for what has these facts; `nil` when that hangs on one that is not known.
    package func evaluate(_ facts: inout some ConditionFacts) -> Bool? {
        switch self {
        case .always: true
        case .and(let parts): Self.decision(parts, &facts, by: false)
        case .or(let parts): Self.decision(parts, &facts, by: true)
        case .not(let part): part.evaluate(&facts).map { !$0 }
        case .text(let field, let test): facts.holds(test, for: field)
        case .service(let test): facts.holdsForService(test)
        case .number(let source, let test): facts.holds(test, for: source)
        }
    }

    /// What one part decides that is so, whatever the others are; else the opposite, unless one of them is unknown.
    private static func decision(
        _ parts: [Condition], _ facts: inout some ConditionFacts, by decisive: Bool
    ) -> Bool? {
        var isUnknown = false
        for part in parts {
            guard let holds = part.evaluate(&facts) else {
                isUnknown = true
                continue
            }
            if holds == decisive { return decisive }
        }
        return isUnknown ? nil : !decisive
    }

    /// Both, without needless nesting.
    package func and(_ other: Condition) -> Condition {
        if self == .always { return other }
        return other == .always ? self : .and([self, other])
    }
}

/// What a condition asks: each answer is `nil` when it is not known.
package protocol ConditionFacts {
    mutating func holds(_ test: Condition.TextTest, for field: WhereField) -> Bool?
    func holdsForService(_ test: Condition.TextTest) -> Bool?
    func holds(_ test: Condition.NumberTest, for source: Condition.NumberSource) -> Bool?
}

/// Of a dead letter that was read all is known.
extension DeadLetterEntry: ConditionFacts {
    package mutating func holds(_ test: Condition.TextTest, for field: WhereField) -> Bool? {
        withText(of: field) { test.holds($0) }
    }

    package func holdsForService(_ test: Condition.TextTest) -> Bool? {
        guard !isForeign, let list = headers.lastValue(named: HeaderName.pushServices.literal) else {
            return test == .absent
        }
        return test.holdsForOne(of: list)
    }

    package func holds(_ test: Condition.NumberTest, for source: Condition.NumberSource) -> Bool? {
        switch source {
        case .field(let field): test.holds(number(field))
        case .hourSinceEpoch, .hourOfDay: test.holds(source.hour(of: number(.deadLetteredAt)))
        }
    }
}

extension Condition.TextTest {
    package func holds(_ text: RawSpan?) -> Bool {
        guard let text else { return self == .absent }
        switch self {
        case .absent: return false
        case .oneOf(let set): return set.texts.contains { text.hasSameBytes(as: $0.span.bytes) }
        case .glob(let glob): return glob.matches(text)
        }
    }

    /// Whether it holds for one of the names in a list.
    package func holdsForOne(of list: RawSpan) -> Bool {
        var start = 0
        for offset in 0...list.byteCount where offset == list.byteCount || list[byteAt: offset] == 0x2C {
            if holds(list.extracting(start..<offset)) { return true }
            start = offset + 1
        }
        return false
    }
}

extension Condition.NumberTest {
    package func holds(_ number: Int64?) -> Bool {
        guard let number else { return self == .absent }
        switch self {
        case .absent: return false
        case .oneOf(let values): return values.contains(number)
        case .compared(.less, let other): return number < other
        case .compared(.atMost, let other): return number <= other
        case .compared(.greater, let other): return number > other
        case .compared(.atLeast, let other): return number >= other
        }
    }
}

extension Condition.NumberSource {
    /// The hour of a moment (epoch milliseconds) as this asks for it.
    package func hour(of moment: Int64?) -> Int64? {
        let hour = moment.map { $0 / Milliseconds.hours(1).count }
        return self == .hourOfDay ? hour.map { $0 % 24 } : hour
    }
}
