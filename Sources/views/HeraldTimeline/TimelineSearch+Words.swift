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
        guard let standing = try standing(about: events, reach: reach, admin: admin) else { return [:] }
        return events.reduce(into: [:]) { said, event in said[event.origin] = event.said(by: standing) }
    }

    /// What users and recalls say now about events; `nil` when workers do not obey words.
    func standing(about events: [EventTimeline], reach: ClusterReach, admin: Admin) throws -> StandingWords? {
        guard let words, !events.isEmpty else { return nil }
        return try words().standing(about: events.compactMap(\.named), reach: reach, admin: admin)
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

    /// Whether what its user and recalls say explains where it stands.
    var dependsOnWords: Bool {
        !isMalformed && (!(open + lettersLeft).isEmpty || outcomes.values.contains { $0.suppression == .optedOut })
    }

    /// What its user's word is by now, when it is another one than that by which it waits for the end of quiet hours.
    func newWord(by words: StandingWords) -> String? {
        guard let user, let delay, delay.reason == RetryReason.quietHours.rawValue else { return nil }
        let word = words.word(of: user)
        guard let quiet = word?.preference.quiet else {
            return words.isDiscreet ? "is another one" : "names no quiet hours"
        }
        guard word?.saidAt.map({ $0 > delay.at }) ?? false else { return nil }
        return words.isDiscreet ? "is another one" : "is another one, with the quiet hours \(quiet.text)"
    }

    /// What is wrong with its user's record, when that stood there before an opt-out ended a push service.
    func wordFault(by words: StandingWords) -> String? {
        guard let word = user.flatMap(words.word) else { return nil }
        let ends = outcomes.values.filter { $0.suppression == .optedOut }.map(\.completedAt)
        guard let end = ends.min(), word.place?.at.map({ $0 <= end }) ?? true else { return nil }
        return words.isDiscreet && word.fault != nil ? "the record is broken" : word.fault
    }
}
