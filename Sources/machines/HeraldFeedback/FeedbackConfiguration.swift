package import HeraldEvents
package import HeraldHTTP
package import HeraldHub
package import HeraldKafka
package import HeraldTime

/// The configuration of following a hub's telemetry.
package struct FeedbackConfiguration: Sendable {
    package var topics: Topics
    /// librdkafka's properties for reading: `read_committed`, with end-of-partition events and the follower's own
    /// group, which is not joined: its offsets are committed with the records.
    package var readerProperties: ClientProperties
    /// librdkafka's properties for writing, with the `transactional.id` shared by all followers of the group.
    package var writerProperties: ClientProperties
    /// Reads the credentials for the hub; called repeatedly, so that they may change.
    package var connectionString: @Sendable () throws -> HubConnectionString
    package var hub: String
    /// Number, time-outs, proxy and files of the connections to the hub.
    package var connections: ConnectionOptions
    /// The time limit of one query.
    package var timeout: Milliseconds
    package var engine: FeedbackEngine.Configuration
    /// The interval of reading the feedback container; `nil` for never.
    package var containerInterval: Duration?

    package init(
        topics: Topics, readerProperties: ClientProperties, writerProperties: ClientProperties,
        connectionString: @escaping @Sendable () throws -> HubConnectionString,
        hub: String, connections: ConnectionOptions, timeout: Milliseconds, engine: FeedbackEngine.Configuration,
        containerInterval: Duration?
    ) {
        self.topics = topics
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
        self.connectionString = connectionString
        self.hub = hub
        self.connections = connections
        self.timeout = timeout
        self.engine = engine
        self.containerInterval = containerInterval
    }
}
