package import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// The recipients of a campaign that were not reached, whatever the reason, as lines of a CSV file: each of them once.
///
/// First come all results, then the events that have none, then the audience's recipients that were never published: what was
/// said of a person is not said again. Pure.
package struct UnreachedList {
    package static let heading = CSVText.line(["user", "why", "pns", "reason", "status", "detail", "completedAt"])

    private var people: People
    /// How many lines there are.
    package private(set) var count = 0

    /// - Parameter people: those that were reached.
    package init(_ people: People) { self.people = people }

    /// The line of a result of the campaign; `nil` for a user who was reached or is listed already.
    package mutating func line(_ result: NotificationResult) -> String? {
        guard let user = result.user, result.outcome.standing != .repeated, isNews(user, .told) else { return nil }
        return line(
            user, result.outcome.rawValue, result.pushService, result.reason?.rawValue,
            result.status.map { "\($0)" }, result.detail, result.completedAt.text)
    }

    /// The line of a user whose event is published.
    package mutating func line(published user: String) -> String? {
        guard isNews(user, [.published, .told]) else { return nil }
        return line(user, "no outcome yet")
    }

    /// The line of a user in the audience.
    package mutating func line(recipient user: String) -> String? {
        guard isNews(user, .told) else { return nil }
        return line(user, "never published")
    }

    private mutating func isNews(_ user: String, _ marks: RecipientSet.Marks) -> Bool {
        people.mark(user, marks).isDisjoint(with: [.reached, .told])
    }

    private mutating func line(_ user: String, _ why: String, _ more: String?...) -> String {
        count += 1
        let cells = [user, why] + more.map { $0 ?? "" }
        return CSVText.line(cells + Array(repeating: "", count: 7 - cells.count))
    }
}
