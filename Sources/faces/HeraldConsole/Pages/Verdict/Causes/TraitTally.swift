import HeraldEvents
import HeraldReplay
import HeraldTime

/// How often each value of each trait occurs among notifications, in bounded memory.
///
/// Values are counted as Misra and Gries do: one that more than a 129th of the notifications have is always among them, and is
/// counted by at most that share too low.
struct TraitTally: Sendable, Equatable {
    enum Field: String, CaseIterable, Sendable {
        case source, campaign
        case service = "pns"
        case reason, status, detail
    }

    private static let valueLimit = 128
    private static let userLimit = 50_000
    /// So many users' names are looked at for how they begin.
    private static let startLimit = 512

    private(set) var total = 0
    /// Notifications, one for each push service: by these a push service's share is told.
    private var serviceTotal = 0
    /// How many of them may have reached the person all the same.
    private(set) var mayHaveArrived = 0
    private(set) var first: WallTime?
    private(set) var last: WallTime?
    private var counts: [Field: [String: Int]] = [:]
    private var users: Set<UInt64> = []
    /// Whether there are more users than are told apart.
    private(set) var hasMoreUsers = false
    /// How the names of some users begin: any users.
    private(set) var starts: [UInt64] = []

    mutating func add(_ traits: NotificationTraits, at moment: WallTime) {
        add(traits, times: 1)
        add(user: traits.user)
        note(moment)
    }

    /// Counts so many that are alike, without their users and moments.
    mutating func add(_ traits: NotificationTraits, times: Int) {
        total += times
        func count(_ field: Field, _ value: String?) {
            if let value { counts[field, default: [:]].count(value, times, limit: Self.valueLimit) }
        }
        count(.source, traits.source)
        count(.campaign, traits.campaign)
        let services = Set(traits.services)
        for service in services { count(.service, service) }
        // One whose push service is not known is for no other's part.
        serviceTotal += max(1, services.count) * times
        count(.reason, traits.reason)
        count(.status, traits.status.map { "\($0)" })
        count(.detail, traits.detail)
    }

    mutating func add(user: UserMark?) {
        guard let user, !users.contains(user.hash) else { return }
        guard users.count < Self.userLimit else {
            hasMoreUsers = true
            return
        }
        users.insert(user.hash)
        if starts.count < Self.startLimit {
            starts.append(user.start)
        } else {
            // The hash is as good as chance: each user has the same one to be among them.
            let place = Int(user.hash % UInt64(users.count))
            if place < Self.startLimit { starts[place] = user.start }
        }
    }

    mutating func noteDoubt(times: Int) { mayHaveArrived += times }

    mutating func note(_ moment: WallTime) {
        first = min(first ?? moment, moment)
        last = max(last ?? moment, moment)
    }

    var userCount: Int { users.count }

    func mostCommon(_ field: Field) -> (value: String, share: Double)? {
        let total = whole(field)
        guard total > 0 else { return nil }
        // The name decides between equals, so that the answer does not jump.
        return counts[field]?.max { ($0.value, $1.key) < ($1.value, $0.key) }
            .map { ($0.key, min(1, Double($0.value) / Double(total))) }
    }

    func share(of value: String, _ field: Field) -> Double {
        let total = whole(field)
        return total > 0 ? min(1, Double(counts[field]?[value] ?? 0) / Double(total)) : 0
    }

    /// What a field's values are a part of: an event may be for several push services.
    func whole(_ field: Field) -> Int { field == .service ? serviceTotal : total }

    /// How large a part of the users has a name that begins so.
    func share(ofUsersBeginning bytes: [UInt8]) -> Double {
        guard !starts.isEmpty else { return 0 }
        return Double(starts.count { $0.begins(with: bytes) }) / Double(starts.count)
    }
}

extension UInt64 {
    /// The byte at a place of a name's start.
    func byte(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: self >> (56 - 8 * UInt64(place))) }

    fileprivate func begins(with bytes: [UInt8]) -> Bool {
        bytes.prefix(8).enumerated().allSatisfy { byte($0.offset) == $0.element }
    }
}

extension [String: Int] {
    /// Counts a value; where there is no room all make some.
    fileprivate mutating func count(_ value: String, _ times: Int, limit: Int) {
        if let known = self[value] {
            self[value] = known + times
            return
        }
        guard count >= limit else {
            self[value] = times
            return
        }
        let least = Swift.min(times, values.min() ?? 0)
        self = mapValues { $0 - least }.filter { $0.value > 0 }
        if times > least { self[value] = times - least }
    }
}

/// What notifications that failed are told apart by from those that were delivered.
struct NotificationTraits: Sendable, Equatable {
    /// Longer texts are cut: they come from events and backends.
    private static let textLimit = 200

    var services: [String] = []
    var reason: String?
    var status: Int64?
    var detail: String?
    var source: String?
    var campaign: String?
    var user: UserMark?

    init() {}

    init(_ result: NotificationResult) {
        services = result.pushService.map { [$0] } ?? []
        reason = result.reason?.rawValue
        status = result.status.map(Int64.init)
        detail = result.detail.map(Self.cut)
        source = result.source.map(Self.cut)
        campaign = result.campaign.map(Self.cut)
        user = result.user.map(UserMark.init)
    }

    /// Those of a record of a retry topic, whose headers are a dead letter's.
    init(retry entry: inout DeadLetterEntry) {
        services = entry.pushServices
        status = entry.number(.status)
        detail = entry.text(.detail).map(Self.cut)
        source = entry.source.map(Self.cut)
        campaign = entry.campaign.map(Self.cut)
        user = entry.text(of: .user).map(UserMark.init)
    }

    static func cut(_ text: String) -> String { String(text.prefix(textLimit)) }
}

/// As much of a user as tells users apart, and how the name begins.
struct UserMark: Hashable, Sendable {
    /// 64 bits of a keyed hash.
    var hash: UInt64
    /// The first eight bytes, the first one the highest; zeros behind a shorter name.
    var start: UInt64
}

extension UserMark {
    init(_ user: String) {
        let bytes = Array(user.utf8)
        hash = Condition.TextSet.hash(bytes.span.bytes)
        start = bytes.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.element) << (56 - 8 * UInt64($1.offset)) }
    }
}
