import Glibc
import HeraldCommandLine
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTime

/// The consumer group of a sandbox on a broker that has others: one that no other process has, or ever had.
///
/// In a group with members the sandbox would take some of their events, and its backend would be the only one to get them.
struct SandboxGroup {
    private static let prefix = "herald-sandbox-"
    private static let questionTimeout = Milliseconds.seconds(5)
    /// It looks for other groups that consume the topics for so long at most.
    private static let lookingTime = Duration.seconds(5)
    private static let patience = Duration.seconds(20)

    let name: String

    /// The group that the settings name, or a random one.
    init(_ loaded: LoadedSettings) {
        let place = loaded.effective.first { $0.path == "kafka.group" }?.place
        name =
            place == .standard || place == nil
            ? Self.prefix + String(UInt64.random(in: .min ... .max), radix: 36) : loaded.settings.kafka.group
    }

    /// Throws when the group has members, or offsets of former ones.
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

    /// Says when other groups consume these topics too: each group gets every event.
    ///
    /// Other sandboxes do not count, since they deliver to no device.
    func warnOfOthers(on topics: [String], _ admin: Admin, _ console: Console) {
        // A broker that does not tell of groups hinders no sandbox.
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

    /// Deletes it, with its offsets, when its members have left: nothing else would.
    func end(_ admin: Admin) {
        let end = ContinuousClock.now + Self.lookingTime
        while ContinuousClock.now < end {
            guard let known = try? admin.describeGroup(name, timeout: Self.questionTimeout),
                known.exists
            else { return }
            if known.members.isEmpty {
                // One that this user may not delete stays, with offsets that expire.
                try? admin.deleteGroup(name, timeout: Self.questionTimeout)
                return
            }
            // A member that has left shows for a moment.
            usleep(50_000)
        }
    }

    /// Begins where the topics end now: what was published before is none of the sandbox's business.
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
