internal import HeraldReplay
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The filter of a page, from its address or a request's body.
struct LetterFilter: Decodable, Sendable, Equatable {
    /// `FIELD=VALUE`.
    var group: String?
    var `where`: String?
    /// Times (RFC 3339) or ages: `12h`.
    var since: String?
    var until: String?
    var partitions: [Int32]?
    /// Places and ids.
    var ids: [String]?

    init() {}

    init(_ request: ConsoleRequest) throws(InvalidArgument) {
        group = request.text("group")
        self.where = request.text("where")
        since = request.text("since")
        until = request.text("until")
        if let text = request.text("partitions") {
            partitions = try text.split(separator: ",").map { part throws(InvalidArgument) in
                guard let number = Int32(part), number >= 0 else {
                    throw InvalidArgument("partitions: \(SafeText.quoted(String(part))) is no number")
                }
                return number
            }
        }
    }

    /// The filter of a recorded selection; `nil` when its text does not tell.
    init?(text: String) {
        guard let request = Selection.Request(text: text), request.groups.count <= 1 else { return nil }
        group = request.groups.first
        self.where = request.condition
        since = request.since?.text
        until = request.until?.text
        partitions = request.partitions.isEmpty ? nil : request.partitions
        ids = request.ids.isEmpty ? nil : request.ids
    }

    var isEmpty: Bool { self == LetterFilter() }

    /// Longer conditions and more ids are work for the command, which delays no other viewer.
    private static let conditionByteLimit = 4_096
    private static let idLimit = 1_000

    func selection(now: WallTime) throws -> Selection {
        guard self.where?.utf8.count ?? 0 <= Self.conditionByteLimit, ids?.count ?? 0 <= Self.idLimit else {
            throw InvalidArgument(
                "where: a condition has at most \(Self.conditionByteLimit) bytes and \(Self.idLimit) ids here; "
                    + "herald dlq takes longer ones")
        }
        var request = Selection.Request()
        request.groups = group.map { [$0] } ?? []
        request.condition = self.where
        request.ids = ids ?? []
        request.since = try since.map { try MomentText.parse($0, name: "since", now: now) }
        request.until = try until.map { try MomentText.parse($0, name: "until", now: now) }
        request.partitions = partitions ?? []
        return try Selection(request, now: now)
    }

    var words: [String] {
        var words: [String] = []
        if let group { words += ["--group", group] }
        if let condition = self.where { words += ["--where", condition] }
        if let since { words += ["--since", since] }
        if let until { words += ["--until", until] }
        if let partitions, !partitions.isEmpty {
            words += ["--partition", partitions.map { "\($0)" }.joined(separator: ",")]
        }
        return words + (ids ?? [])
    }

    /// The filter as JSON, with texts unchanged.
    var object: JSONValue {
        .present([
            .init("group", .text(group)), .init("where", .text(self.where)), .init("since", .text(since)),
            .init("until", .text(until)),
            .init("partitions", partitions.map { .array($0.map { .integer(Int($0)) }) } ?? .null),
            .init("ids", ids.map { .array($0.map(JSONValue.string)) } ?? .null),
        ])
    }
}
