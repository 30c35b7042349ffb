package import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The recipients of a campaign that were not reached, whatever the reason: each of them once.
///
/// First come all results, then the events that have none, then the audience's recipients that were never published: what was
/// said of a person is not said again. Pure.
package struct UnreachedList: Sendable {
    /// A person, and why he was not reached.
    package struct Entry: Sendable, Equatable {
        package var user: String
        /// The cells of ``UnreachedList/columns``.
        package var why: [String]

        /// A line of a list without an audience.
        package func line(delimiter: String) -> String { CSVText.line([user] + why, delimiter: delimiter) }

        /// - Parameter pushServices: those that it is about.
        init(
            _ user: String, _ why: String, _ pushServices: String, reason: String? = nil, status: Int? = nil,
            detail: String? = nil, completedAt: WallTime? = nil
        ) {
            self.user = user
            self.why = [
                why, pushServices, reason ?? "", status.map { "\($0)" } ?? "", detail ?? "", completedAt?.text ?? "",
                completedAt.map(ResultRow.spreadsheet) ?? "",
            ]
        }

        /// Of somebody whose notification is published, and has no result.
        init(open user: String, _ pushServices: String) {
            self.init(
                user, "no outcome yet", pushServices,
                detail: "it waits or is tried again: herald find --user says why")
        }

        init(_ result: NotificationResult, of user: String, _ pushServices: String) {
            let why = OutcomeCount.name(result.outcome)
            let isLate = result.status != nil && result.outcome.standing == .ended
            self.init(
                user, why, pushServices, reason: result.reasonName, status: result.status,
                detail: result.detail ?? (isLate ? "the status of its last call before it ended as \(why)" : nil),
                completedAt: result.completedAt)
        }
    }

    /// What stands behind the user, or an audience's columns.
    static let columns = AudienceHeader.unreached
    /// The header of a list without an audience.
    package static func heading(delimiter: String) -> String {
        CSVText.line(["user"] + columns, delimiter: delimiter)
    }

    /// Why people were not reached: an outcome with its reason, or that there is none yet.
    package struct Cause: Hashable, Comparable, Sendable {
        package var why: String
        /// The reason of the outcome; empty without one.
        package var reason: String

        package static func < (left: Cause, right: Cause) -> Bool {
            (left.why, left.reason) < (right.why, right.reason)
        }
    }

    private var people: People
    /// The campaign's push services: who is listed was reached on none of them.
    private let pushServices: String
    /// How many there are of each cause; words of outcomes and reasons are few.
    private var causes: [Cause: Int] = [:]
    /// How many there are.
    package private(set) var count = 0
    /// Of these, those without a result: a campaign that is not over may still notify them.
    package private(set) var unsettled = 0
    /// Why people of the audience were never published, as far as the check of its file has found it.
    package internal(set) var unpublished = Unpublished.notYet

    /// How many people there are of each cause, most first.
    package var sortedCauses: [(cause: Cause, count: Int)] {
        causes.map { ($0.key, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    /// - Parameters:
    ///   - people: those that were reached.
    ///   - pushServices: the campaign's.
    package init(_ people: People, pushServices: [String]) {
        self.people = people
        self.pushServices = pushServices.joined(separator: " ")
    }

    /// The entry for a result of the campaign; `nil` for a user who was reached or is listed already.
    package mutating func entry(_ result: NotificationResult) -> Entry? {
        guard let user = result.user, result.outcome.standing != .repeated, isNews(user, .told) else { return nil }
        return counted(Entry(result, of: user, pushServices), result.reasonName)
    }

    /// The entry for a user whose event is published.
    package mutating func entry(published user: String) -> Entry? {
        guard isNews(user, [.published, .told]) else { return nil }
        unsettled += 1
        return counted(Entry(open: user, pushServices))
    }

    /// Why somebody of the audience was never published.
    package enum Unpublished: String, Sendable {
        case notYet = "never published"
        /// The campaign leaves them out.
        case excluded
        /// Which of both is known only of a campaign that is fully published.
        case notYetOrExcluded = "never published or excluded"
    }

    /// The entry for a user in the audience.
    package mutating func entry(recipient user: String) -> Entry? {
        guard isNews(user, .told) else { return nil }
        if unpublished != .excluded { unsettled += 1 }
        return counted(Entry(user, unpublished.rawValue, pushServices))
    }

    /// The cells for a line of the audience that is no recipient; `nil` for one of a person of whom Kafka knows.
    ///
    /// - Parameter user: empty where there is none.
    func cells(invalid reason: String, at place: String, user: String) -> [String]? {
        guard user.isEmpty || people.marks(of: user).subtracting(.seen).isEmpty else { return nil }
        return Entry(user, "invalid", pushServices, reason: "\(place): \(UserRule.plain(reason))").why
    }

    /// Whether an audience's line repeats a user.
    mutating func isRepeat(_ user: String) -> Bool { look(at: user).contains(.seen) }

    /// What was known of a user of an audience's line before it.
    mutating func look(at user: String) -> RecipientSet.Marks { people.mark(user, .seen) }

    /// The next line is the audience's first.
    mutating func forgetLines() { people.forget(.seen) }

    /// How many people there are in results, events and lines, as far as they were told.
    var peopleCount: Int { people.count }

    private mutating func isNews(_ user: String, _ marks: RecipientSet.Marks) -> Bool {
        people.mark(user, marks).isDisjoint(with: [.reached, .told])
    }

    private mutating func counted(_ entry: Entry, _ reason: String? = nil) -> Entry {
        count += 1
        causes[Cause(why: entry.why[0], reason: reason ?? ""), default: 0] += 1
        return entry
    }
}

extension UnreachedList {
    /// Writes the list: in the audience's form, those outside it last, or without one with the users alone.
    ///
    /// - Parameters:
    ///   - known: hands the entries of all results over, and then those of all published users.
    ///   - write: takes the text piece by piece, each of whole lines.
    /// - Returns: what became of the audience's lines; `nil` without an audience.
    /// - Throws: ``ForeignAudience``, before anything is written.
    package mutating func write(
        _ audience: consuming UnreachedAudience?, delimiter: String, to write: @escaping (String) throws -> Void,
        known: (inout Self, (Entry) throws -> Void) throws -> Void
    ) throws -> AudienceSum? {
        guard var audience else {
            try write(Self.heading(delimiter: delimiter))
            try known(&self) { try write($0.line(delimiter: delimiter)) }
            return nil
        }
        try known(&self) { audience.keep($0) }
        try audience.check(among: &self)
        try write(try audience.heading())
        while let line = try audience.next(&self) { try write(line) }
        for line in audience.others { try write(line) }
        var sum = audience.sum
        sum.reachedOutside = max(0, people.reached - sum.reached)
        return sum
    }
}
