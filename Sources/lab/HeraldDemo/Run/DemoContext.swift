import HeraldEvents
import HeraldSandbox

/// The demo's embedded broker and backend, and the worker's settings that point to them.
package final class DemoContext: Sendable {
    private static let partitionCount = 3

    let topics = Topics()
    let backend: DemoBackend
    let broker: EmbeddedBroker
    let topicList: [EmbeddedBroker.Topic]

    /// Starts both on free loopback ports.
    package init(isHub: Bool) throws {
        let topics = topics
        let retries = DemoScript.delays.compactMap { DelayName($0) }.map { topics.retryTopic($0) }
        topicList =
            (topics.requests + [topics.results] + retries + [topics.deadLetter])
            .map { EmbeddedBroker.Topic($0, partitions: Self.partitionCount) }
            + [topics.preferences, topics.recalls].map { EmbeddedBroker.Topic($0, partitions: 1) }
        broker = try EmbeddedBroker(topics: topicList)
        backend = try DemoBackend(isHub: isHub)
    }

    var bootstrapServers: String { broker.bootstrapServers }

    package func stop() { backend.stop() }

    package var notices: [String] { [EmbeddedBroker.notice, backend.notice] }

    /// The worker's settings file, as a user would write it.
    package var settings: String {
        """
        kafka:
          bootstrapServers: ["\(bootstrapServers)"]
          # The embedded broker holds a fetch back for this long although records have come.
          properties: {fetch.wait.max.ms: 100}
        \(backend.settings)
        delivery:
          guarantee: at-least-once
          drainTimeout: 3s
        preferences: {enabled: true}
        topics: {classes: {}}
        retry:
          immediate: 2
          delays: [\(DemoScript.delays.joined(separator: ", "))]

        """
    }
}
