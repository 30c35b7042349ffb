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
        case oneOf([[UInt8]])
        case glob(Glob)
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
    package func holds(for entry: inout DeadLetterEntry) -> Bool {
        switch self {
        case .always: true
        case .and(let parts): parts.allSatisfy { $0.holds(for: &entry) }
        case .or(let parts): parts.contains { $0.holds(for: &entry) }
        case .not(let part): !part.holds(for: &entry)
        case .text(let field, let test): test.holds(field, of: &entry)
        case .service(let test): test.holdsForService(of: entry)
        case .number(let source, let test): test.holds(source.value(of: entry))
        }
    }

    /// Both, without needless nesting.
    package func and(_ other: Condition) -> Condition {
        if self == .always { return other }
        return other == .always ? self : .and([self, other])
    }
}

extension Condition.TextTest {
    fileprivate func holds(_ field: WhereField, of entry: inout DeadLetterEntry) -> Bool {
        entry.withText(of: field) { holds($0) }
    }

    package func holds(_ text: RawSpan?) -> Bool {
        guard let text else { return self == .absent }
        switch self {
        case .absent: return false
        case .oneOf(let values): return values.contains { text.hasSameBytes(as: $0.span.bytes) }
        case .glob(let glob): return glob.matches(text)
        }
    }

    fileprivate func holdsForService(of entry: DeadLetterEntry) -> Bool {
        guard !entry.isForeign, let list = entry.headers.lastValue(named: HeaderName.pushServices.literal) else {
            return self == .absent
        }
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
    fileprivate func value(of entry: DeadLetterEntry) -> Int64? {
        switch self {
        case .field(let field): entry.number(field)
        case .hourSinceEpoch: entry.number(.deadLetteredAt).map { $0 / Milliseconds.hours(1).count }
        case .hourOfDay: entry.number(.deadLetteredAt).map { $0 / Milliseconds.hours(1).count % 24 }
        }
    }
}
