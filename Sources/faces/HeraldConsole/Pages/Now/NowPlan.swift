package import HeraldKafka
package import HeraldTimeline
package import HeraldTools

/// What the pages Verdict and Now watch, from the settings.
package struct NowPlan: Sendable {
    /// Herald's topics, and the workers.
    let search: TimelineSearch
    let reach: ClusterReach
    /// librdkafka's properties for the client that asks about topics and the group.
    let clientProperties: ClientProperties
    /// Those of a `read_uncommitted` reader with the group's `group.id`, which joins nothing and is told where partitions end.
    let groupProperties: ClientProperties
    /// The same, `read_committed`.
    let readerProperties: ClientProperties

    package init(
        search: TimelineSearch, reach: ClusterReach, clientProperties: ClientProperties,
        groupProperties: ClientProperties, readerProperties: ClientProperties
    ) {
        self.search = search
        self.reach = reach
        self.clientProperties = clientProperties
        self.groupProperties = groupProperties
        self.readerProperties = readerProperties
    }

    /// How long the console waits for a cluster's first answer before it says that no broker answers.
    package static let patience = Duration.seconds(4)
}
