package import HeraldEvents
package import HeraldKafka
package import HeraldTools

/// What the pages Verdict and Now watch, from the settings.
package struct NowPlan: Sendable {
    package var topics: Topics
    package var delays: [DelayName]
    package var group: String
    package var reach: ClusterReach
    /// librdkafka's properties for the client that asks about topics and the group.
    package var clientProperties: ClientProperties
    /// Those of a `read_uncommitted` reader with the group's `group.id`, which joins nothing and is told where partitions end.
    package var groupProperties: ClientProperties
    /// The same, `read_committed`.
    package var readerProperties: ClientProperties
    /// Where workers' admin ports are, as `host:port`; `nil`: where the group's members run.
    package var workers: [String]?
    /// Host and port of the settings' admin port; `nil` when it is off.
    package var listen: (host: String, port: UInt16)?

    package init(
        topics: Topics, delays: [DelayName], group: String, reach: ClusterReach, clientProperties: ClientProperties,
        groupProperties: ClientProperties, readerProperties: ClientProperties, workers: [String]? = nil,
        listen: (host: String, port: UInt16)? = nil
    ) {
        self.topics = topics
        self.delays = delays
        self.group = group
        self.reach = reach
        self.clientProperties = clientProperties
        self.groupProperties = groupProperties
        self.readerProperties = readerProperties
        self.workers = workers
        self.listen = listen
    }

    /// How long the console waits for a cluster's first answer before it says that no broker answers.
    package static let patience = Duration.seconds(4)
}
