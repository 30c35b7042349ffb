internal import HeraldEvents
package import HeraldTime

/// Dead letters by group, counted one after the other; memory is bounded by the number of groups.
package struct GroupTable: Sendable {
    /// More groups than anybody reads: what comes after them is counted together.
    private static let limit = 10_000

    package struct Group: Sendable {
        /// `FIELD=VALUE`, as `--group` takes it; `nil` for those beyond the limit.
        package var name: String?
        package var count = 0
        package var replayed = 0
        /// How many of them a replay has delivered.
        package var delivered = 0
        /// How many of them have failed again after a replay.
        package var failedAgain = 0
        package var resolved = 0
        package var first: WallTime
        package var last: WallTime
        /// The place of one of them, one that nothing has been done about if there is one.
        package var sample: String
        fileprivate var isSampleOpen = false
        fileprivate var reasons: [Int] = Array(repeating: 0, count: DeadLetterReason.allCases.count)
        fileprivate var status: Int64?
        /// Whether the message itself was too long, which no setting allows.
        fileprivate var hasLongMessage = false

        /// What to do about it, in a few words.
        package var suggestion: String {
            let open = count - replayed - resolved
            if open <= 0 { return "nothing left to do" }
            guard let most = reasons.max(), most > 0, let index = reasons.firstIndex(of: most) else {
                return "look at the sample"
            }
            return SuggestedAction.text(
                DeadLetterReason.allCases[index], status: status, hasLongMessage: hasLongMessage)
        }
    }

    private let field: GroupField
    private var groups: [String: Group] = [:]
    private var others: Group?

    package init(_ field: GroupField) {
        self.field = field
    }

    package mutating func add(_ entry: DeadLetterEntry, _ marks: MarkIndex?, _ outcomes: ReplayOutcomes) {
        let outcome = outcomes.outcome(of: entry, marks)
        let isResolved = marks?.isResolved(partition: entry.partition, offset: entry.offset) ?? false
        let isReplayed =
            marks?.isReplayed(entry.pushServices, partition: entry.partition, offset: entry.offset) ?? false
        for value in field.values(of: entry) {
            if groups[value] != nil || groups.count < Self.limit {
                Self.count(
                    entry, isReplayed, isResolved, outcome,
                    in: &groups[value, default: Self.group("\(field.rawValue)=\(value)", entry)])
            } else {
                var group = others ?? Self.group(nil, entry)
                Self.count(entry, isReplayed, isResolved, outcome, in: &group)
                others = group
            }
        }
    }

    private static func group(_ name: String?, _ entry: DeadLetterEntry) -> Group {
        Group(name: name, first: entry.deadLetteredAt, last: entry.deadLetteredAt, sample: entry.place)
    }

    private static func count(
        _ entry: DeadLetterEntry, _ isReplayed: Bool, _ isResolved: Bool, _ outcome: ReplayOutcomes.Outcome?,
        in group: inout Group
    ) {
        group.count += 1
        if isReplayed { group.replayed += 1 } else if isResolved { group.resolved += 1 }
        switch outcome {
        case .delivered: group.delivered += 1
        case .failedAgain: group.failedAgain += 1
        case .notKnown, nil: break
        }
        let moment = entry.deadLetteredAt
        group.first = min(group.first, moment)
        group.last = max(group.last, moment)
        let isOpen = !isReplayed && !isResolved
        if isOpen, !group.isSampleOpen {
            group.sample = entry.place
            group.isSampleOpen = true
        }
        if let reason = entry.text(.reason).flatMap(DeadLetterReason.init(rawValue:)),
            let index = DeadLetterReason.allCases.firstIndex(of: reason)
        {
            group.reasons[index] += 1
            // The worker's words: the message, not the whole value.
            if reason == .oversized, entry.text(.detail)?.hasPrefix("message ") ?? false { group.hasLongMessage = true }
        }
        group.status = entry.number(.status) ?? group.status
    }

    package var sorted: [Group] {
        groups.values.sorted { ($1.count, $0.name ?? "") < ($0.count, $1.name ?? "") } + (others.map { [$0] } ?? [])
    }
}
