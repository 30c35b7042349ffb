package import HeraldKafka
package import HeraldTime
package import HeraldTimeline
package import HeraldTools

/// The environment of searches for events.
package struct TimelineContext: Sendable {
    package var search: TimelineSearch
    package var reach: ClusterReach
    package var admin: Admin
    /// The settings that decide about an event.
    package var situation: @Sendable (WallTime) -> Explanation.Situation

    package init(
        search: TimelineSearch, reach: ClusterReach, admin: Admin,
        situation: @escaping @Sendable (WallTime) -> Explanation.Situation
    ) {
        self.search = search
        self.reach = reach
        self.admin = admin
        self.situation = situation
    }

    func explanation(
        of event: EventTimeline, in found: TimelineSearch.Found, planned: Explanation.PlannedLetter?, now: WallTime
    ) throws -> Explanation {
        var situation = situation(now)
        situation.planned = planned
        return try search.explanation(of: event, in: found, situation, reach: reach, admin: admin)
    }
}
