internal import HeraldEvents
package import HeraldText
package import HeraldTime
internal import HeraldTools

/// Dead letters by group, counted one after the other; memory is bounded by the number of groups.
package struct GroupTable: Sendable {
    /// More groups than a person reads: further ones are counted together.
    private static let limit = 10_000

    package struct Group: Sendable {
        /// `FIELD=VALUE`, as `--group` takes it; `nil` for those beyond the limit.
        package var name: String?
        package var count = 0
        /// How many notifications they are; by push service each counts for its own.
        package var notifications = 0
        package var replayed = 0
        /// How many of them a replay has delivered.
        package var delivered = 0
        /// How many of them have failed again after a replay.
        package var failedAgain = 0
        /// How many of them went to where nobody reports an outcome.
        package var unreported = 0
        package var resolved = 0
        /// How many of those that are open may have reached the person: a call got no answer.
        package var mayHaveArrived = 0
        package var first: WallTime
        package var last: WallTime
        /// The place of one of them, one that nothing has been done about if there is one.
        package var sample: String
        fileprivate var isSampleOpen = false
        /// How many of the open ones have which reason, and which status.
        fileprivate var reasons: [Int] = Array(repeating: 0, count: DeadLetterReason.allCases.count)
        fileprivate var statuses: [Int64: Int] = [:]
        /// The first two push services of the open ones.
        fileprivate var services: Set<String> = []
        /// The open ones of each campaign, and those of none.
        fileprivate var campaigns: [String?: Part] = [:]
        /// What is wrong in the open ones that are invalid, where a replay can correct it.
        fileprivate var fields: Set<String> = []
        /// What is too long in the open ones, which no setting allows.
        fileprivate var longFields: Set<String> = []
        fileprivate var narrowTopics: Set<String> = []

        /// What to do about it, in a few words.
        package var suggestion: String {
            let open = count - replayed - resolved
            if open <= 0 {
                return failedAgain == 0
                    ? "nothing left to do"
                    : "nothing left to do here: what failed again is a new dead letter of Herald's, or too late to send"
            }
            let known = zip(DeadLetterReason.allCases, reasons).filter { $1 > 0 }
            guard let (reason, _) = known.first else { return "look at the sample" }
            if known.count > 1 {
                return SuggestedAction.text(
                    mixed: known.map { ($0.rawValue, $1) }, field: .reason, mayHaveArrived: mayHaveArrived)
            }
            // Of other reasons the status says nothing of what to do.
            if reason == .rejected, statuses.count > 1 {
                return SuggestedAction.text(
                    mixed: statuses.map { ("with status \($0)", $1) }, field: .status, mayHaveArrived: mayHaveArrived)
            }
            let status = statuses.keys.first
            if reason == .rejected, SuggestedAction.mayBeWrongWay(status), hasSeveralCauses {
                return SuggestedAction.text(
                    mixed: campaigns.map { ($0.map { "of campaign \($0)" } ?? "of no campaign", $1.count) },
                    field: .campaign, mayHaveArrived: mayHaveArrived)
            }
            return SuggestedAction.text(
                reason, status: status, service: services.count == 1 ? services.first : nil,
                campaign: campaigns.count == 1 ? campaigns.keys.first ?? nil : nil, longFields: longFields,
                narrowTopics: narrowTopics,
                fields: fields, mayHaveArrived: mayHaveArrived)
        }

        /// The open ones of one campaign, or of none.
        fileprivate struct Part: Sendable {
            var count = 0
            /// The first two.
            var services: Set<String> = []

            mutating func add(_ names: [String], _ times: Int) {
                count += times
                if services.count < 2 { services.formUnion(names) }
            }
        }

        /// Fewer letters of a campaign, or of none, are for one push service by chance.
        private static let leastOfPart = 10

        /// Whether one part is for a push service alone and another one is not: a wrong way to the backend fails all of both.
        private var hasSeveralCauses: Bool {
            let parts = campaigns.values.filter { $0.count >= Self.leastOfPart }
            return parts.contains { part in
                part.services.count == 1 && parts.contains { $0.services != part.services }
            }
        }
    }

    private let field: GroupField
    private var groups: [Group] = []
    private var slots: [String: Int] = [:]
    /// The group of those beyond the limit.
    private var others: Int?

    package init(_ field: GroupField) {
        self.field = field
    }

    package mutating func add(_ entry: DeadLetterEntry, _ marks: MarkIndex?, _ outcomes: ReplayOutcomes) {
        let fate = LetterFate(of: entry.facts, marks, outcomes)
        for slot in slots(of: entry) { count(entry, fate, in: slot) }
    }

    /// The groups that this dead letter belongs to, for ``count(_:_:in:)``: the same for all that are alike in what it is
    /// grouped by.
    package mutating func slots(of letter: some GroupedLetter) -> [Int] {
        field.values(of: letter).map { value in
            if let slot = slots[value] { return slot }
            guard slots.count < Self.limit else { return slotOfOthers(letter) }
            slots[value] = groups.count
            groups.append(Self.group("\(field.rawValue)=\(value)", letter))
            return groups.count - 1
        }
    }

    /// The group of those that are counted without a name.
    package mutating func slotOfOthers(_ letter: some GroupedLetter) -> Int {
        if let others { return others }
        others = groups.count
        groups.append(Self.group(nil, letter))
        return groups.count - 1
    }

    private static func group(_ name: String?, _ letter: some GroupedLetter) -> Group {
        let moment = letter.deadLetteredAt
        return Group(name: name, first: moment, last: moment, sample: letter.place)
    }

    /// Counts so many dead letters like this one in a group, the newest of which came at `last`; this one is the oldest.
    package mutating func count(
        _ letter: some GroupedLetter, _ fate: LetterFate, in slot: Int, times: Int = 1, last: WallTime? = nil
    ) {
        groups[slot].count(letter, fate, times, last ?? letter.deadLetteredAt)
        groups[slot].notifications += times * (field == .pns ? 1 : letter.notificationCount)
    }

    /// How many notifications they are, of all groups.
    package var notificationCount: Int { groups.reduce(0) { $0 + $1.notifications } }

    /// The largest first.
    package var sorted: [Group] {
        groups.filter { $0.name != nil }.sorted { ($1.count, $0.name ?? "") < ($0.count, $1.name ?? "") }
            + (others.map { [groups[$0]] } ?? [])
    }
}

extension GroupTable.Group {
    /// More statuses than a backend has.
    private static let statusLimit = 64
    /// More campaigns than make a cause.
    private static let campaignLimit = 64

    fileprivate mutating func count(
        _ letter: some GroupedLetter, _ fate: LetterFate, _ times: Int, _ newest: WallTime
    ) {
        count += times
        if fate.isOpen, letter.mayHaveArrived { mayHaveArrived += times }
        switch fate.state {
        case .replayed: replayed += times
        case .resolved: resolved += times
        case .open, .partlyReplayed: break
        }
        switch fate.outcome {
        case .delivered: delivered += times
        case .failedAgain: failedAgain += times
        case .notReported: unreported += times
        case .suppressed, .notKnown, nil: break
        }
        first = min(first, letter.deadLetteredAt)
        last = max(last, newest)
        if !isSampleOpen, fate.isOpen {
            sample = letter.place
            isSampleOpen = true
        }
        guard fate.isOpen, let reason = letter.reason, let index = DeadLetterReason.allCases.firstIndex(of: reason)
        else { return }
        reasons[index] += times
        if let field = letter.longField { longFields.insert(field) }
        if let topics = letter.narrowTopics { narrowTopics.insert(topics) }
        if services.count < 2 { services.formUnion(letter.pushServices) }
        let campaign = letter.campaign
        if campaigns[campaign] != nil || campaigns.count < Self.campaignLimit {
            campaigns[campaign, default: Part()].add(letter.pushServices, times)
        }
        if let status = letter.statusNumber, statuses[status] != nil || statuses.count < Self.statusLimit {
            statuses[status, default: 0] += times
        }
        if let field = CorrectableField.wrong(reason, letter.detail) { fields.insert(field) }
    }
}

extension GroupTable.Group {
    /// It as JSON, as `herald dlq list` writes it.
    ///
    /// Of what nobody reports no counts are known.
    package var members: [JSONValue.Member] {
        let isReported = unreported == 0 || unreported < replayed
        return [
            .init("group", .string(name ?? "(all others)")), .init("count", .integer(count)),
            .init("notifications", .integer(notifications)),
            .init("replayed", .integer(replayed)), .init("delivered", isReported ? .integer(delivered) : .null),
            .init("failedAgain", isReported ? .integer(failedAgain) : .null), .init("resolved", .integer(resolved)),
            .init("first", .string(first.text)), .init("last", .string(last.text)), .init("sample", .string(sample)),
            .init("mayHaveArrived", .integer(mayHaveArrived)), .init("action", .string(suggestion)),
        ]
    }
}
