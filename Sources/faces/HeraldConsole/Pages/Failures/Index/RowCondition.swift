internal import HeraldEvents
internal import HeraldReplay
import HeraldTime

/// A condition as the index can answer it: what follows from a dead letter's traits and campaign is decided once for all
/// that have them.
///
/// What the index does not remember is unknown, and an answer that hangs on it is `nil`.
indirect enum RowCondition: Sendable, Equatable {
    case known(Bool)
    case unknown
    case all([RowCondition])
    case any([RowCondition])
    case not(RowCondition)
    /// Its user's or id's hash is one of these.
    case user(Set<UInt64>)
    case id(Set<UInt64>)
    case number(Condition.NumberSource, Condition.NumberTest)

    /// What is known of a dead letter beside its row; `nil` is what is not kept.
    struct Common {
        var traits: LetterTraits?
        var campaign: String??
    }

    /// What is left of a condition for dead letters with these traits and this campaign.
    init(_ condition: Condition, _ common: Common) {
        switch condition {
        case .always: self = .known(true)
        case .and(let parts): self = Self.joined(parts.map { Self($0, common) }, isAnd: true)
        case .or(let parts): self = Self.joined(parts.map { Self($0, common) }, isAnd: false)
        case .not(let part):
            switch Self(part, common) {
            case .known(let holds): self = .known(!holds)
            case .unknown: self = .unknown
            case let part: self = .not(part)
            }
        case .text(let field, let test): self = Self.text(field, test, common)
        case .service(let test):
            guard let traits = common.traits else {
                self = .unknown
                return
            }
            let names = traits.pushServicesText?.split(separator: ",", omittingEmptySubsequences: false)
            self = .known(names?.contains { test.holds(String($0)) } ?? (test == .absent))
        case .number(let source, let test): self = Self.number(source, test, common.traits)
        }
    }

    private static func joined(_ parts: [RowCondition], isAnd: Bool) -> RowCondition {
        let rest = parts.filter { $0 != .known(isAnd) }
        if rest.contains(.known(!isAnd)) { return .known(!isAnd) }
        guard let first = rest.first else { return .known(isAnd) }
        return rest.count == 1 ? first : isAnd ? .all(rest) : .any(rest)
    }

    private static func text(
        _ field: WhereField, _ test: Condition.TextTest, _ common: Common
    ) -> RowCondition {
        let traits = common.traits
        switch field {
        case .user: return hashed(test).map { .user($0) } ?? .unknown
        case .id: return hashed(test).map { .id($0) } ?? .unknown
        case .reason: return traits.map { .known(test.holds($0.reasonText)) } ?? .unknown
        case .campaign: return common.campaign.map { .known(test.holds($0)) } ?? .unknown
        case .source: return traits.map { .known(test.holds($0.source)) } ?? .unknown
        case .topic: return traits.map { .known(test.holds($0.topic)) } ?? .unknown
        default: return .unknown
        }
    }

    private static func hashed(_ test: Condition.TextTest) -> Set<UInt64>? {
        switch test {
        case .absent: [0]
        case .oneOf(let texts): Set(texts.map { LetterRow.hash($0) })
        case .glob: nil
        }
    }

    private static func number(
        _ source: Condition.NumberSource, _ test: Condition.NumberTest, _ traits: LetterTraits?
    ) -> RowCondition {
        switch source {
        case .hourOfDay, .hourSinceEpoch, .field(.partition), .field(.offset), .field(.deadLetteredAt),
            .field(.attempts):
            return .number(source, test)
        case .field(.status): return traits.map { .known(test.holds($0.statusNumber)) } ?? .unknown
        case .field(.replays): return traits.map { .known(test.holds(Int64($0.replays))) } ?? .unknown
        case .field: return .unknown
        }
    }

    /// Whether it holds for a row; `nil` when the index cannot tell.
    func holds(for row: borrowing LetterRow, partition: Int32) -> Bool? {
        switch self {
        case .known(let holds): return holds
        case .unknown: return nil
        case .all(let parts): return Self.decided(parts, row, partition, by: false)
        case .any(let parts): return Self.decided(parts, row, partition, by: true)
        case .not(let part): return part.holds(for: row, partition: partition).map { !$0 }
        case .user(let hashes): return hashes.contains(row.userHash)
        case .id(let hashes): return hashes.contains(row.idHash)
        case .number(.field(.attempts), _) where row.attempts == LetterRow.otherNumber: return nil
        case .number(let source, let test): return test.holds(Self.value(of: source, row, partition))
        }
    }

    /// What one part decides that is so, whatever the others are; else the opposite, unless one of them is unknown.
    private static func decided(
        _ parts: [RowCondition], _ row: borrowing LetterRow, _ partition: Int32, by decisive: Bool
    ) -> Bool? {
        var isUnknown = false
        for part in parts {
            guard let holds = part.holds(for: row, partition: partition) else {
                isUnknown = true
                continue
            }
            if holds == decisive { return decisive }
        }
        return isUnknown ? nil : !decisive
    }

    private static func value(
        of source: Condition.NumberSource, _ row: borrowing LetterRow, _ partition: Int32
    ) -> Int64? {
        switch source {
        case .hourSinceEpoch: row.moment / Milliseconds.hours(1).count
        case .hourOfDay: row.moment / Milliseconds.hours(1).count % 24
        case .field(.partition): Int64(partition)
        case .field(.offset): row.offset
        case .field(.attempts): row.attempts == LetterRow.noNumber ? nil : Int64(row.attempts)
        case .field: row.moment
        }
    }
}

extension Condition.TextTest {
    fileprivate func holds(_ text: String?) -> Bool {
        guard let text else { return holds(nil as RawSpan?) }
        let bytes = Array(text.utf8)
        return holds(bytes.span.bytes)
    }
}
