import HeraldEvents
import HeraldReplay

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
