internal import HeraldEvents
internal import HeraldReplay
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTimeline
internal import HeraldTools

/// The page's queries about dead letters: the index answers, or the topic where the index does not know enough.
struct LetterQueries: Sendable {
    private static let groupLimit = 200
    /// The maximum number of letters with one id; a name with more is not an id.
    static let letterLimit = 100
    private static let patience = Duration.seconds(20)
    /// The time limit of the index; after it the topic is asked, which shows a part.
    private static let indexPatience = Duration.seconds(5)

    let context: ConsoleContext
    let follower: LetterFollower
    let board: TroubleBoard
    /// The number of current readers of the topic; bounded, so that reloading a page does not block others.
    private let readers = Guarded(0)
    private static let readerLimit = 6

    private static func timer() -> () -> Bool {
        let end = ContinuousClock.now + indexPatience
        return { ContinuousClock.now >= end }
    }

    // MARK: - Groups

    /// The groups of the filtered letters in the form of `herald dlq list`, with their names as filters.
    func groups(by field: GroupField, _ filter: LetterFilter, isWhole: Bool) throws -> JSONValue {
        let selection = try filter.selection(now: SystemClock.wall())
        let snapshot = follower.snapshot
        if !isWhole {
            let answer = snapshot.index.groups(
                by: field, selection.condition, snapshot.marks, snapshot.outcomes, isOver: Self.timer())
            if answer.isCertain {
                return Self.object(
                    answer.value, answer.matched, snapshot, isFromTopic: false, pattern: pattern(selection.condition))
            }
        }
        var table = GroupTable(field)
        var matched = 0
        let isRead = try read(selection) { entry in
            matched += 1
            table.add(entry, snapshot.marks, snapshot.outcomes)
            return true
        }
        return Self.object(table.sorted, matched, snapshot, isFromTopic: true, isCut: !isRead)
    }

    private static func object(
        _ groups: [GroupTable.Group], _ matched: Int, _ snapshot: LetterFollower.Snapshot, isFromTopic: Bool,
        isCut: Bool = false, pattern: FailurePattern? = nil
    ) -> JSONValue {
        let shown = groups.prefix(groupLimit).map { group in
            // The filter's value is not display text.
            JSONValue.object(group.members.map { .init($0.name, $0.value.safe) } + [.init("key", .text(group.name))])
        }
        return [
            "groups": .array(Array(shown)), "hidden": .integer(groups.count - shown.count),
            "matched": .integer(matched), "notifications": .integer(groups.reduce(0) { $0 + $1.notifications }),
            "isFromTopic": .bool(isFromTopic), "isCut": .bool(isCut),
            "status": snapshot.object, "pattern": pattern?.json ?? .null,
        ]
    }

    /// The pattern that the matching open letters share and deliveries do not; `nil` when the index does not know
    /// enough, or none is open.
    func pattern(_ condition: Condition) -> FailurePattern? {
        let snapshot = follower.snapshot
        let open = snapshot.index.open(condition, snapshot.marks, snapshot.outcomes, isOver: Self.timer())
        guard open.isCertain else { return nil }
        return FailurePattern(failed: open.value, delivered: board.delivered(now: SystemClock.wall()))
    }

    // MARK: - Letters

    /// A page of the filtered letters, newest first, in the form of `herald dlq list --group-by none`.
    func letters(_ filter: LetterFilter, behind cursor: LetterOrder?, atMost limit: Int) throws -> JSONValue {
        let selection = try filter.selection(now: SystemClock.wall())
        let snapshot = follower.snapshot
        let answer = snapshot.index.newest(selection.condition, atMost: limit, behind: cursor, isOver: Self.timer())
        var (matched, isCut) = (answer.matched, false)
        var views: [DeadLetterView] = []
        var last: LetterOrder?
        if answer.isCertain {
            views = try entries(at: answer.value).map { entry in
                var entry = entry
                return DeadLetterView(&entry, snapshot.marks, snapshot.outcomes).withoutBytes
            }
            last = answer.value.count == limit ? answer.value.last : nil
        } else {
            var newest = NewestLetters<DeadLetterView>(limit: limit, behind: cursor)
            matched = 0
            isCut = try !read(selection) { entry in
                matched += 1
                newest.add(entry.order) { DeadLetterView(&entry, snapshot.marks, snapshot.outcomes).withoutBytes }
                return true
            }
            let letters = newest.letters
            views = letters.map(\.letter)
            last = letters.count == limit ? letters.last?.order : nil
        }
        return [
            "letters": .array(views.map { .object($0.listed.map { .init($0.name, $0.value.safe) }) }),
            "matched": .integer(matched), "isFromTopic": .bool(!answer.isCertain), "isCut": .bool(isCut),
            "next": .text(last?.cursor), "status": snapshot.object,
        ]
    }

    /// The letters at these places, in the order of lists; letters no longer in the topic are left out.
    private func entries(at places: [LetterOrder]) throws -> [DeadLetterEntry] {
        guard !places.isEmpty else { return [] }
        let wanted = Dictionary(grouping: places, by: \.partition).mapValues { $0.map(\.offset) }
        return try reading {
            let reader = try context.replay.deadLetters()
            defer { reader.close() }
            let end = ContinuousClock.now + Self.patience
            return try reader.letters(at: wanted) { ContinuousClock.now >= end }
        }.sorted { $0.order < $1.order }
    }

    // MARK: - One

    /// The letters at a place or with an id in the form of `herald dlq show`, with their history.
    func letters(named name: String, isRevealed: Bool) throws -> [JSONValue] {
        let snapshot = follower.snapshot
        var letters = try entries(named: name, snapshot).map { entry in
            var entry = entry
            let original = entry.omissions.contains(.value) ? try? context.replay.original(of: entry) : nil
            return DeadLetterView(&entry, snapshot.marks, snapshot.outcomes, original: original)
        }
        if let words = context.search.words, case let events = letters.compactMap(\.named), !events.isEmpty,
            var told = try? words()
        {
            told.isDiscreet = !isRevealed
            if let standing = try? told.standing(about: events, reach: context.reach, admin: context.admin) {
                for index in letters.indices { letters[index].note(standing) }
            }
        }
        let marks = snapshot.hasState ? try self.marks(of: letters) : [:]
        return letters.map { letter in
            guard
                case .object(let members) = letter.object(
                    isRevealed: isRevealed, configuration: context.configuration)
            else { return .null }
            let done = (marks[letter.place] ?? []).map(\.object)
            return JSONValue.object(members + [.init("marks", .array(done))]).safe
        }
    }

    func entries(named name: String, _ snapshot: LetterFollower.Snapshot) throws -> [DeadLetterEntry] {
        var filter = LetterFilter()
        filter.ids = [name]
        let selection = try filter.selection(now: SystemClock.wall())
        let answer = snapshot.index.newest(
            selection.condition, atMost: Self.letterLimit, behind: nil, isOver: Self.timer())
        var found: [DeadLetterEntry] = []
        if answer.isCertain {
            found = try entries(at: answer.value).filter { entry in
                var entry = entry
                return selection.condition.holds(for: &entry)
            }
        }
        if found.isEmpty, snapshot.status != .current || snapshot.index.forgotten > 0 {
            _ = try read(selection) { entry in
                found.append(entry)
                return found.count < Self.letterLimit
            }
        }
        guard !found.isEmpty else { throw ToolFailure("there is no dead letter \(SafeText.quoted(name))") }
        return found.sorted { $0.order < $1.order }
    }

    private func marks(of letters: [DeadLetterView]) throws -> [String: [MarkRecord]] {
        try reading {
            let replayer = try context.replayer(isWriting: false)
            guard let state = try context.replay.state(replayer.layout) else { return [:] }
            defer { state.close() }
            var found: [String: [MarkRecord]] = [:]
            try state.catchUp { mark in
                for letter in letters where mark.contains(partition: letter.partition, offset: letter.offset) {
                    found[letter.place, default: []].append(mark)
                }
            }
            return found
        }
    }

    // MARK: - The topic

    /// Reads the topic; returns `false` when that took too long.
    func read(_ selection: Selection, _ body: (inout DeadLetterEntry) throws -> Bool) throws -> Bool {
        try reading {
            let replayer = try context.replayer(isWriting: false)
            let reader = try context.replay.deadLetters()
            defer { reader.close() }
            let end = ContinuousClock.now + Self.patience
            var isOver = false
            try replayer.scan(selection, reader) { _, _ in
                isOver = ContinuousClock.now >= end
                return !isOver
            } _: { entry in
                try body(&entry)
            }
            return !isOver
        }
    }

    private func reading<Answer>(_ body: () throws -> Answer) throws -> Answer {
        let isFree = readers.withLock { count in
            guard count < Self.readerLimit else { return false }
            count += 1
            return true
        }
        guard isFree else {
            throw ToolFailure("too many pages read the dead letters at this moment; try again", kind: .unreachable)
        }
        defer { readers.withLock { $0 -= 1 } }
        return try body()
    }
}

extension MarkRecord {
    fileprivate var object: JSONValue {
        .present([
            .init("state", .string(state.rawValue)), .init("at", .string(WallTime(milliseconds: at).text)),
            .init("job", .string(job)), .init("pns", pns.map { .array($0.map(JSONValue.string)) } ?? .null),
        ])
    }
}

extension LetterOrder {
    var cursor: String { "\(moment.milliseconds):\(partition):\(offset)" }

    init?(cursor: String) {
        let parts = cursor.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let moment = Int64(parts[0]), let partition = Int32(parts[1]),
            let offset = Int64(parts[2])
        else { return nil }
        self.init(moment: WallTime(milliseconds: moment), partition: partition, offset: offset)
    }
}

extension LetterFollower.Snapshot {
    /// The index's progress, and the job that works on the dead letters.
    var object: JSONValue {
        var members: [JSONValue.Member] = [
            .init("count", .integer(index.count)), .init("forgotten", .integer(Int(index.forgotten))),
            .init("version", .integer(index.version)), .init("hasState", .bool(hasState)),
        ]
        switch status {
        case .current: members.append(.init("state", "current"))
        case .reading(let passed, let total):
            members.append(.init("state", "reading"))
            members.append(.init("passed", .integer(Int(passed))))
            members.append(.init("total", .integer(Int(total))))
        case .failed(let sentence):
            members.append(.init("state", "failed"))
            members.append(.init("sentence", .string(sentence)))
        }
        if let holder = lease.holder() { members.append(.init("holder", holder.object)) }
        if let abandoned = lease.abandoned() { members.append(.init("abandoned", abandoned.object)) }
        return .object(members)
    }
}

extension Lease {
    fileprivate var object: JSONValue {
        JSONValue.object([
            .init("job", .string(job)), .init("owner", .string(owner)), .init("work", .string(work)),
            .init("since", .string(WallTime(milliseconds: since).text)),
        ]).safe
    }
}
