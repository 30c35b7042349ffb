import Glibc
import HeraldCommandLine
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTime

/// The consumer group of a sandbox on a shared broker: one that no other process has, or ever had.
///
/// In a group with members the sandbox would take some of their events, which only its own backend would get.
struct SandboxGroup {
    private static let prefix = "herald-sandbox-"
    private static let questionTimeout = Milliseconds.seconds(5)
    /// The time limit for finding other groups that consume the topics.
    private static let lookingTime = Duration.seconds(5)
    private static let patience = Duration.seconds(20)

    let name: String

    /// The group in the settings, or a random one.
    init(_ loaded: LoadedSettings) {
        let place = loaded.effective.first { $0.path == "kafka.group" }?.place
        name =
            place == .standard || place == nil
            ? Self.prefix + String(UInt64.random(in: .min ... .max), radix: 36) : loaded.settings.kafka.group
    }

    /// Throws when the group has members, or offsets of earlier ones.
    func refuseIfKnown(_ admin: Admin) throws {
        let known = try admin.describeGroup(name, timeout: Self.questionTimeout)
        guard known.exists else { return }
        let why =
            known.members.isEmpty
            ? "has offsets: its workers would miss what the sandbox takes"
            : "has \(TopicsTool.counted(known.members.count, "member")): the sandbox would take a share of their events"
        throw CommandFailure(
            "the group \(name) \(why). Leave --kafka-group out: a sandbox has a random group of its own.")
    }

    /// Warns when other groups consume these topics too: each group gets every event.
    ///
    /// Other sandboxes do not count, since they reach no device.
    func warnOfOthers(on topics: [String], _ admin: Admin, _ console: Console) {
        // A broker that does not list its groups must not stop a sandbox.
        guard let groups = try? admin.liveGroups(timeout: Self.questionTimeout) else { return }
        let end = ContinuousClock.now + Self.lookingTime
        let others = groups.filter { $0 != name && !$0.hasPrefix(Self.prefix) }.sorted()
        for (index, group) in others.enumerated() {
            guard ContinuousClock.now < end else {
                console.complain(
                    "warning: whether \(TopicsTool.counted(others.count - index, "more group")) of this cluster "
                        + "\(others.count - index == 1 ? "consumes" : "consume") these topics was not looked at.")
                return
            }
            guard let known = try? admin.describeGroup(group, timeout: Self.questionTimeout) else {
                continue
            }
            let count = known.members.count { $0.partitions.contains { topics.contains($0.topic) } }
            if count > 0 { console.complain(Self.warning(count, of: SafeText.escaped(group))) }
        }
    }

    private static func warning(_ count: Int, of group: String) -> String {
        let isOne = count == 1
        return "warning: \(TopicsTool.counted(count, "member")) of the group \(group) "
            + "\(isOne ? "consumes" : "consume") these topics too: \(isOne ? "a worker delivers" : "workers deliver") to real people what you publish for the "
            + "sandbox; --topics-requests names a topic of its own."
    }

    /// Deletes the group with its offsets once its members have left, because nothing else would.
    func end(_ admin: Admin) {
        let end = ContinuousClock.now + Self.lookingTime
        while ContinuousClock.now < end {
            guard let known = try? admin.describeGroup(name, timeout: Self.questionTimeout),
                known.exists
            else { return }
            if known.members.isEmpty {
                // A group that this user may not delete stays; its offsets expire.
                try? admin.deleteGroup(name, timeout: Self.questionTimeout)
                return
            }
            // A member that has left is still listed for a moment.
            usleep(50_000)
        }
    }

    /// Begins at the current ends of the topics, so that the sandbox ignores earlier events.
    func begin(at topics: [String], _ settings: Settings) throws {
        let consumer = try Consumer(properties: KafkaClientSettings.doctorReader(settings))
        defer { consumer.close() }
        let ends = try SettlingPatience(Self.patience).outwait { () throws(KafkaError) in
            var partitions: [TopicPartition] = []
            for topic in topics {
                partitions += try consumer.queries.partitions(
                    of: topic, timeout: Self.questionTimeout)
            }
            return try consumer.queries.ends(of: partitions, timeout: Self.questionTimeout)
        }
        let positions = ends.map { CommitPosition(partition: $0.key, offset: $0.value) }
        guard try consumer.commit(positions, within: Self.patience) else {
            throw CommandFailure("no broker has answered within \(Self.patience) for the group \(name)")
        }
    }
}
