import Foundation
import HeraldKafka
import TestSupport

/// What happens to topics while workers run.
extension Fixture {
    private func administer(
        _ body: @escaping @Sendable (Admin) throws -> [TopicResult]
    ) async throws {
        try await Blocking.run { [kafka] in
            if let error = try body(kafka.admin()).compactMap(\.error).first { throw error }
        }
    }

    /// Deletes a topic and waits until the brokers say that it is gone.
    func deleteTopic(_ shortName: String) async throws {
        let name = topic(shortName)
        try await administer { try $0.deleteTopics([name], timeoutMilliseconds: Patience.milliseconds) }
        let admin = try kafka.admin()
        let isGone = try await eventually {
            try admin.metadata(topics: [name], timeoutMilliseconds: Patience.milliseconds).topics.allSatisfy {
                $0.error != nil
            }
        }
        guard isGone else { throw WorldError("\(name) is still there") }
    }

    /// Makes a topic, or makes one again that was deleted.
    func makeTopic(_ shortName: String) async throws {
        let topic = NewTopic(name: topic(shortName), partitions: plan.partitions)
        try await Blocking.run { [kafka] in try kafka.makeTopics([topic]) }
    }

    /// Gives a topic more partitions.
    func grow(_ shortName: String, to partitions: Int) async throws {
        let name = topic(shortName)
        try await administer {
            try $0.createPartitions([(name, partitions)], timeoutMilliseconds: Patience.milliseconds)
        }
    }

    /// Changes a topic's configuration.
    func configure(_ shortName: String, _ entries: [String: String]) async throws {
        let name = topic(shortName)
        try await administer { try $0.alterConfigs([(name, entries)], timeoutMilliseconds: Patience.milliseconds) }
    }

    /// Runs one of Kafka's own tools against the cluster; needs `KAFKA_HOME`.
    func runTool(_ name: String, _ arguments: [String]) async throws {
        guard let home = ProcessInfo.processInfo.environment["KAFKA_HOME"] else {
            throw WorldError("KAFKA_HOME is not set")
        }
        let log = directory.appending(path: "\(name).log")
        let tool = try ChildProcess(
            [
                "java", "-XX:TieredStopAtLevel=1", "-cp", "\(home)/libs/*", "org.apache.kafka.tools.\(name)",
                "--bootstrap-server", bootstrapServers,
            ] + arguments, output: log)
        guard try await Blocking.run({ tool.wait() }) == 0 else {
            throw WorldError("\(name) failed: \((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
        }
    }
}
