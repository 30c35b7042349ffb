internal import HeraldEvents
package import HeraldTime

/// Whose events are looked for.
package struct TimelineQuery: Sendable, Equatable {
    package var user: String?
    /// The events with this id: the publisher's, or `topic/partition/offset`.
    package var id: String?
    /// Only what was recorded since.
    package var since: WallTime?
    /// Whether all partitions are read, wherever the user's records should be.
    package var readsAllPartitions = false
    /// So many events at most of each partition, the newest.
    package var limit = 1_000

    package init(user: String? = nil, id: String? = nil) {
        self.user = user
        self.id = id
    }

    /// The request record that the id names, if it is no publisher's id.
    var origin: Origin? { id.flatMap(Origin.init) }

    /// Whether an event is meant; one whose user is not known is not.
    ///
    /// - Parameter origin: its request record, by which it is named whether it has an id or not.
    func matches(user: String?, id: String?, origin: Origin) -> Bool {
        if let wanted = self.user, user != wanted { return false }
        if let wanted = self.id, id != wanted { return origin == self.origin }
        return true
    }
}
