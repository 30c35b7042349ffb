package import HeraldEvents
package import HeraldKafka
package import HeraldTools

/// What users and recalls say now about events of which a push service may still be called.
extension TimelineSearch {
    /// Why push services are not called any more, by the events' request records: first calls, retries and replays.
    ///
    /// - Returns: nothing of events that may be called, and nothing when workers do not obey words.
    package func said(
        of events: [EventTimeline], reach: ClusterReach, admin: Admin
    ) throws -> [Origin: [String: StandingWords.Said]] {
        let events = events.filter { !$0.isMalformed && !($0.open + $0.lettersLeft).isEmpty }
        guard let words, !events.isEmpty else { return [:] }
        let standing = try words().standing(about: events.compactMap(\.named), reach: reach, admin: admin)
        return events.reduce(into: [:]) { said, event in said[event.origin] = event.said(by: standing) }
    }
}

extension EventTimeline {
    /// Its names; `nil` when its user is not known.
    fileprivate var named: StandingWords.Event? {
        user.map { user in
            StandingWords.Event(
                id: id, user: user, source: source, campaign: campaign, eventClass: eventClass,
                topic: (lastPublication ?? origin).topic)
        }
    }

    /// Why push services are not called any more that have no outcome, or a dead letter that nothing was done about.
    func said(by words: StandingWords) -> [String: StandingWords.Said] {
        guard let named else { return [:] }
        let names = open + lettersLeft
        return Dictionary(names.compactMap { name in words.said(of: named, on: name).map { (name, $0) } }) { $1 }
    }
}
