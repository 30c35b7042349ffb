internal import FoundationEssentials
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// A record of the audit topic.
struct AuditRecord: Sendable, Equatable {
    var partition: Int32
    var offset: Int64
    /// The time at which the broker received it.
    var at: WallTime
    /// Its content; `nil` when it is damaged, foreign, or of a later version.
    var entry: AuditEntry?

    init(partition: Int32, offset: Int64, at: WallTime, value: [UInt8]?) {
        self.partition = partition
        self.offset = offset
        self.at = at
        entry = value.flatMap { try? JSONDecoder().decode(AuditEntry.self, from: Data($0)) }
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("place", .string("\(partition):\(offset)"))]
        guard let entry else {
            return .object(members + [.init("at", .string(at.text)), .init("damaged", true)])
        }
        members += [
            .init("at", .string(entry.at)), .init("by", .string(entry.by)), .init("action", .string(entry.action)),
            .init("phase", .string(entry.phase)), .init("job", .text(entry.job)),
            .init("reason", .text(entry.reason)), .init("selection", .text(entry.selection)),
            .init("planned", entry.planned.map(JSONValue.integer) ?? .null),
            .init("ends", entry.ends.map { Self.object($0) { .integer(Int($0)) } } ?? .null),
            .init("options", entry.options.map { Self.object($0, JSONValue.string) } ?? .null),
            .init("end", .text(entry.end)),
            .init("counts", entry.counts.map { Self.object($0, JSONValue.integer) } ?? .null),
            .init("tookOverFrom", .text(entry.tookOverFrom)),
        ]
        return .present(members)
    }

    private static func object<Value>(_ values: [String: Value], _ json: (Value) -> JSONValue) -> JSONValue {
        .object(values.sorted { $0.key < $1.key }.map { .init($0.key, json($0.value)) })
    }
}

struct AuditFilter: Sendable, Equatable {
    /// A part of the name, case-insensitive.
    var who: String?
    /// The action, such as `campaign.start`, or its beginning, such as `campaign`.
    var what: String?
    var since: WallTime?

    /// Whether the record matches, its age aside.
    func matches(_ record: AuditRecord) -> Bool {
        guard let entry = record.entry else { return who == nil && what == nil }
        if let who, !entry.by.lowercased().contains(who.lowercased()) { return false }
        if let what, entry.action != what, !entry.action.hasPrefix(what + ".") { return false }
        return true
    }
}
