import HeraldCommandLine
import HeraldKafka
import HeraldSettings

/// The consumer group of a sandbox on a broker that has others: one that nobody else has, or ever had.
///
/// In a group with members the sandbox would take some of their events, and its backend would be the only one to get them.
struct SandboxGroup {
    private static let questionMilliseconds = 5_000
    private static let patience = Duration.seconds(20)

    let name: String

    /// The group that somebody has named, or a random one.
    init(_ loaded: LoadedSettings) {
        let place = loaded.effective.first { $0.path == "kafka.group" }?.place
        name =
            place == .standard || place == nil
            ? "herald-sandbox-" + String(UInt64.random(in: .min ... .max), radix: 36) : loaded.settings.kafka.group
    }

    /// Throws when the group has members, or offsets of former ones.
    func refuseIfKnown(_ admin: Admin) throws {
        let known = try admin.describeGroup(name, timeoutMilliseconds: Self.questionMilliseconds)
        guard known.exists else { return }
        let why =
            known.members.isEmpty
            ? "has offsets: its workers would miss what the sandbox takes"
            : "has \(known.members.count) members: the sandbox would take a share of their events"
        throw CommandFailure(
            "the group \(name) \(why). Leave --kafka-group out: a sandbox has a random group of its own.")
    }

    /// Says when workers of the settings' group consume these topics too: each group gets every event.
    func warnOfWorkers(in group: String, on topics: [String], _ admin: Admin, _ console: Console) {
        // A broker that does not tell of groups hinders no sandbox.
        guard group != name,
            let known = try? admin.describeGroup(group, timeoutMilliseconds: Self.questionMilliseconds)
        else { return }
        let count = known.members.count { $0.partitions.contains { topics.contains($0.topic) } }
        guard count > 0 else { return }
        console.complain(
            "warning: \(TopicsTool.counted(count, "worker")) of the group \(group) "
                + "\(count == 1 ? "consumes" : "consume") these topics too, and \(count == 1 ? "delivers" : "deliver") to "
                + "real people what you publish for the sandbox; --topics-requests names a topic of its own.")
    }

    /// Begins where the topics end now: what was published before is none of the sandbox's business.
    func begin(at topics: [String], _ settings: Settings) throws {
        let consumer = try Consumer(properties: KafkaClientSettings.doctorReader(settings))
        defer { consumer.close() }
        let ends = try KafkaError.outwaiting(within: Self.patience) { () throws(KafkaError) in
            var partitions: [TopicPartition] = []
            for topic in topics {
                partitions += try consumer.queries.partitions(
                    of: topic, timeoutMilliseconds: Self.questionMilliseconds)
            }
            return try consumer.queries.ends(of: partitions, timeoutMilliseconds: Self.questionMilliseconds)
        }
        let positions = ends.map { CommitPosition(partition: $0.key, offset: $0.value) }
        guard try consumer.commit(positions, within: Self.patience) else {
            throw CommandFailure("no broker has answered within \(Self.patience) for the group \(name)")
        }
    }
}
