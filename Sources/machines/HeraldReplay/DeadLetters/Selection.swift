internal import HeraldEvents
package import HeraldTime
internal import HeraldTools

/// Which dead letters a command is about: made of a group, a condition, ids, a time and partitions, all of which have to
/// hold.
package struct Selection: Sendable {
    package let condition: Condition
    /// How it was given, for the audit and for people.
    package let text: String
    /// The places and ids that were named, none of which was met so far.
    package let named: NamedLetters

    /// What is given on a command line or in a form; nothing means all.
    package struct Request: Sendable {
        /// The topic of others that they lie in; `nil` for Herald's own.
        package var topic: String?
        /// Groups, `FIELD=VALUE`; one of them has to be it.
        package var groups: [String] = []
        package var condition: String?
        /// Places `PARTITION:OFFSET`, or ids of events; one of them has to be it.
        package var ids: [String] = []
        package var since: WallTime?
        package var until: WallTime?
        package var partitions: [Int32] = []

        package init() {}

        /// Whether a group, a condition or ids are given.
        package var isChosen: Bool { !groups.isEmpty || condition != nil || !ids.isEmpty }
    }

    /// Compiles a request; throws an `InputError` for the condition, a ``ToolFailure`` for a group that is none.
    package init(_ request: Request, now: WallTime) throws {
        var condition = Condition.always
        var words = request.topic.map { ["--topic \(Self.quoted($0))"] } ?? []
        let reasons: WhereReasons = request.topic == nil ? .heralds : .anyException
        var named: [(name: String, condition: Condition)] = []
        if !request.groups.isEmpty {
            let groups = try request.groups.map { try Self.group($0, reasons) }
            condition = condition.and(groups.count == 1 ? groups[0] : .or(groups))
            words += request.groups.map { "--group \(Self.quoted($0))" }
        }
        if let text = request.condition {
            condition = condition.and(try WhereParser.parse(text, now: now, reasons: reasons))
            words.append("--where \(Self.quoted(text))")
        }
        if !request.ids.isEmpty {
            let ids = request.ids.map { Self.place($0) ?? .text(.id, .oneOf([Array($0.utf8)])) }
            named = zip(request.ids, ids).map { ($0, $1) }
            condition = condition.and(ids.count == 1 ? ids[0] : .or(ids))
            words += request.ids.prefix(20).map { Self.quoted($0) }
            if request.ids.count > 20 { words.append("and \(request.ids.count - 20) more") }
        }
        if let since = request.since {
            condition = condition.and(.number(.field(.deadLetteredAt), .compared(.atLeast, since.milliseconds)))
            words.append("--since \(since.text)")
        }
        if let until = request.until {
            condition = condition.and(.number(.field(.deadLetteredAt), .compared(.less, until.milliseconds)))
            words.append("--until \(until.text)")
        }
        if !request.partitions.isEmpty {
            condition = condition.and(.number(.field(.partition), .oneOf(request.partitions.map { Int64($0) })))
            words.append("--partition \(request.partitions.map { "\($0)" }.joined(separator: ","))")
        }
        self.condition = condition
        self.named = NamedLetters(named)
        text = words.joined(separator: " ")
    }

    private static func group(_ text: String, _ reasons: WhereReasons) throws -> Condition {
        let fields = GroupField.allCases.map(\.rawValue).joined(separator: ", ")
        guard let sign = text.firstIndex(of: "="), let field = GroupField(rawValue: String(text[..<sign])) else {
            throw ToolFailure(
                "\"\(text)\" is no group: write FIELD=VALUE as herald dlq list shows it; "
                    + "fields are \(fields)")
        }
        let value = String(text[text.index(after: sign)...])
        guard let condition = field.condition(value, reasons: reasons) else {
            throw ToolFailure("\"\(value)\" is no \(field.rawValue); take a group that herald dlq list shows")
        }
        return condition
    }

    private static func place(_ text: String) -> Condition? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), partition >= 0, let offset = Int64(parts[1]),
            offset >= 0
        else { return nil }
        return .and([
            .number(.field(.partition), .oneOf([Int64(partition)])), .number(.field(.offset), .oneOf([offset])),
        ])
    }

    /// As a shell takes it.
    package static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "._-:=/,@".utf8.contains(byte)
        }
        return plain && !text.isEmpty ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }
}

/// Which of the places and ids that an operator has named were met: a name that is not there is mistyped.
package struct NamedLetters: Sendable {
    private var open: [(name: String, condition: Condition)]

    init(_ names: [(name: String, condition: Condition)]) { open = names }

    /// Notes a dead letter that was met.
    package mutating func note(_ entry: inout DeadLetterEntry) {
        guard !open.isEmpty else { return }
        var left: [(name: String, condition: Condition)] = []
        for name in open where !name.condition.holds(for: &entry) { left.append(name) }
        open = left
    }

    /// Those that no dead letter was met of, as they were given.
    package var missing: [String] { open.map(\.name) }
}
