import Glibc
import HeraldText
import HeraldTime
import HeraldTools

/// What failures have in common and deliveries have not: pure.
///
/// A value is told when at least half of the failures have it, at most half as large a part of the deliveries, and chance would
/// give it to so many in fewer than one of a thousand cases. Where too little was delivered to compare with, only what nearly
/// all of at least ten failures have is told, and nothing of users' names.
struct FailurePattern: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        var field: TraitTally.Field
        var value: String
        /// Rounded down: only all of them are 100.
        var percent: Int
    }

    struct UserStart: Sendable, Equatable {
        var text: String
        var percent: Int
    }

    private static let leastShare = 0.5
    private static let nearlyAll = 0.95
    private static let deliveredShare = 0.5
    /// Fewer deliveries are nothing to compare with.
    private static let leastDelivered = 10
    /// Without deliveries fewer failures are alike by chance.
    static let leastAlone = 10
    /// What so many of them have in common is all that is the matter.
    private static let solePercent = 95
    /// Chance is what happens in more than one of so many cases.
    private static let leastOdds = 1_000.0
    private static let leastUserShare = 0.9
    private static let shownLength = 120

    let total: Int
    let userCount: Int
    let hasMoreUsers: Bool
    let parts: [Part]
    /// How their users' names begin, and for how many percent of the users.
    let userStart: UserStart?
    var first: WallTime?
    /// The campaign that nearly all of them belong to: their trouble is that campaign's.
    private(set) var soleCampaign: String?

    /// `nil` when nothing failed.
    init?(failed: TraitTally, delivered: TraitTally) {
        guard failed.total > 0 else { return nil }
        total = failed.total
        (userCount, hasMoreUsers) = (failed.userCount, failed.hasMoreUsers)
        first = failed.first
        let isComparable = Self.isComparable(delivered)
        var parts = TraitTally.Field.allCases.compactMap { field -> Part? in
            guard let (value, share) = failed.mostCommon(field) else { return nil }
            switch field {
            // What deliveries never have.
            case .reason, .detail, .status:
                guard share >= Self.leastShare else { return nil }
            case .source, .campaign, .service:
                // Half for one of two push services says nothing.
                let isLarge = field == .service ? share > Self.leastShare : share >= Self.leastShare
                let usual = delivered.share(of: value, field)
                guard
                    isComparable
                        ? isLarge && !Self.isChance(share, of: failed.whole(field), usual, of: delivered.whole(field))
                        : share >= Self.nearlyAll && failed.total >= Self.leastAlone
                else { return nil }
            }
            if isComparable, delivered.share(of: value, field) > Self.deliveredShare * share { return nil }
            return Part(field: field, value: value, percent: Int(share * 100))
        }
        // The status says more.
        if parts.contains(where: { $0.field == .status }) { parts.removeAll { $0.field == .reason } }
        self.parts = parts
        soleCampaign = parts.first { $0.field == .campaign && $0.percent >= Self.solePercent }?.value
        userStart = isComparable ? Self.userStart(failed, delivered) : nil
    }

    /// Takes the word of the newest of them for whose trouble it is now, if they are enough.
    mutating func follow(newest: FailurePattern?) {
        if let newest, newest.total >= Self.leastAlone { soleCampaign = newest.soleCampaign }
    }

    /// Whether there are deliveries enough to compare with.
    static func isComparable(_ delivered: TraitTally) -> Bool { delivered.total >= leastDelivered }

    /// Whether so many may have a value only by chance, if each has it as often as deliveries have.
    ///
    /// By Chernoff's bound on a binomial distribution, with the share of deliveries as Laplace's rule of succession estimates it.
    private static func isChance(_ share: Double, of count: Int, _ usual: Double, of deliveries: Int) -> Bool {
        let expected = (usual * Double(deliveries) + 1) / Double(deliveries + 2)
        guard share > expected else { return true }
        let rest = share < 1 ? (1 - share) * log((1 - share) / (1 - expected)) : 0
        return Double(count) * (share * log(share / expected) + rest) < log(leastOdds)
    }

    /// The longest beginning that nearly all users' names share, unless others' names begin so, too.
    private static func userStart(_ failed: TraitTally, _ delivered: TraitTally) -> UserStart? {
        var bytes: [UInt8] = []
        var rest = failed.starts
        while bytes.count < 8 {
            var next: [UInt8: Int] = [:]
            for start in rest { next[start.byte(bytes.count), default: 0] += 1 }
            guard let (byte, count) = next.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), byte != 0,
                Double(count) >= leastUserShare * Double(failed.starts.count)
            else { break }
            rest = rest.filter { $0.byte(bytes.count) == byte }
            bytes.append(byte)
        }
        while !bytes.isEmpty, String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
        let share = failed.share(ofUsersBeginning: bytes)
        let usual = delivered.share(ofUsersBeginning: bytes)
        guard !bytes.isEmpty, usual <= deliveredShare * share,
            !isChance(share, of: failed.starts.count, usual, of: delivered.starts.count)
        else { return nil }
        return UserStart(text: String(decoding: bytes, as: UTF8.self), percent: Int(share * 100))
    }

    /// For people, in the middle of a sentence; `nil` without any.
    func words(without field: TraitTally.Field? = nil) -> String? {
        let phrases = phrases(without: field)
        return phrases.isEmpty ? nil : phrases.joined(separator: "; ")
    }

    /// What failures have in common, each in a few words; none when failures have nothing in common that deliveries have not.
    ///
    /// - Parameter field: what the sentence says already.
    func phrases(without field: TraitTally.Field? = nil) -> [String] {
        var words: [String] = parts.filter { [.source, .campaign, .service].contains($0.field) && $0.field != field }
            .map(\.words)
        if let userStart {
            let name = SafeText.escaped(userStart.text)
            words.append(
                userStart.percent == 100
                    ? "all are users \(name)…" : "\(userStart.percent) % of the users are \(name)…")
        }
        words += parts.filter { [.reason, .status, .detail].contains($0.field) && $0.field != field }.map(\.words)
        if !words.isEmpty, let users { words.append(users) }
        return words
    }

    /// How many users there are; `nil` when none is known.
    private var users: String? {
        guard userCount > 0 else { return nil }
        return (hasMoreUsers ? "more than " : "") + counted(Int64(userCount), "user", "users")
    }

    /// Whether one has all that these have in common, except for its detail; nothing in common means none.
    func isMeant(_ traits: NotificationTraits) -> Bool {
        let deciding = parts.filter { $0.field != .detail }
        return !deciding.isEmpty
            && deciding.allSatisfy { part in
                switch part.field {
                case .source: traits.source == part.value
                case .campaign: traits.campaign == part.value
                case .service: traits.services.contains(part.value)
                case .reason: traits.reason == part.value
                case .status: traits.status.map { "\($0)" } == part.value
                case .detail: true
                }
            }
    }

    /// A condition that all of them meet, as `--where` takes it; `nil` when there is none.
    var condition: String? {
        let terms = parts.filter { $0.percent == 100 && $0.field != .detail }.compactMap { part -> String? in
            guard part.field != .status else { return "status = \(part.value)" }
            guard SafeText.escaped(part.value) == part.value else { return nil }
            return "\(part.field.rawValue) = '\(part.value.replacing("'", with: "''"))'"
        }
        return terms.isEmpty ? nil : terms.joined(separator: " and ")
    }

    /// What to group dead letters by, to see them apart: what tells most of them.
    var groupField: String? {
        parts.map(\.field).first { $0 != .detail }?.rawValue
    }

    var json: JSONValue {
        .present([
            .init("words", .text(words())), .init("traits", .words(phrases())), .init("count", .integer(total)),
            .init("users", .integer(userCount)),
            .init("condition", .text(condition)),
        ])
    }

    fileprivate static func shown(_ text: String) -> String { SafeText.escaped(String(text.prefix(shownLength))) }
}

extension FailurePattern.Part {
    fileprivate var words: String {
        let share = percent == 100 ? "all" : "\(percent) %"
        let value = FailurePattern.shown(value)
        return switch field {
        case .source: "\(share) from source \(value)"
        case .campaign: "\(share) of campaign \(value)"
        case .service: "\(share) for \(value)"
        case .reason: "\(share) \(value)"
        case .status: "\(share) with status \(value)"
        case .detail: "\(share) '\(value)'"
        }
    }
}
