import Foundation
import HeraldKafka
import TestSupport

/// Changes to topics while workers run.
extension Fixture {
    private func administer(
        _ body: @escaping @Sendable (Admin) throws -> [TopicResult]
    ) async throws {
        try await Blocking.run { [kafka] in
            if let error = try body(kafka.admin()).compactMap(\.error).first { throw error }
        }
    }

    /// Deletes a topic and waits until the brokers report it gone.
    func deleteTopic(_ shortName: String) async throws {
        let name = topic(shortName)
        try await administer { try $0.deleteTopics([name], timeout: Patience.timeout) }
        let admin = try kafka.admin()
        let isGone = try await eventually {
            try admin.metadata(topics: [name], timeout: Patience.timeout).topics.allSatisfy {
                $0.error != nil
            }
        }
        guard isGone else { throw WorldError("\(name) is still there") }
    }

    /// Creates a topic, perhaps one that was deleted.
    func makeTopic(_ shortName: String) async throws {
        let topic = NewTopic(
            name: topic(shortName), partitions: plan.partitions, configuration: Self.configuration(of: shortName))
        try await Blocking.run { [kafka] in try kafka.makeTopics([topic]) }
    }

    /// Gives a topic more partitions.
    func grow(_ shortName: String, to partitions: Int) async throws {
        let name = topic(shortName)
        try await administer {
            try $0.createPartitions([(name, partitions)], timeout: Patience.timeout)
        }
    }

    /// Changes a topic's configuration.
    func configure(_ shortName: String, _ entries: [String: String]) async throws {
        let name = topic(shortName)
        try await administer { try $0.alterConfigs([(name, entries)], timeout: Patience.timeout) }
    }
}
