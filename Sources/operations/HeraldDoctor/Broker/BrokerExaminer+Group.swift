internal import Glibc
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
internal import HeraldTools

extension BrokerExaminer {
    /// Asks for the group's members and offsets; joins nothing.
    func examineGroup() -> Finding {
        guard let admin else { return Finding([], isDeadEnd: true) }
        let description: GroupDescription
        let positions: GroupPositions
        do throws(KafkaError) {
            description = try settled { () throws(KafkaError) in
                try admin.describeGroup(
                    plan.group, timeoutMilliseconds: timeLeft.milliseconds(atMost: Self.requestMilliseconds))
            }
            var found = try settled { () throws(KafkaError) in try groupPositions() }
            // A worker passes the marks of transactions by itself; without one they would look like records that wait.
            if description.members.isEmpty { try leaveOutMarks(&found) }
            positions = found
        } catch {
            return Finding([unknownGroup(error)])
        }
        return Finding(
            [GroupJudgement.members(plan.group, description, positions)] + workers(of: description)
                + consumedTopics.map { topic in
                    GroupJudgement.lag(
                        topic.name, positions.of(topic.name), isRetry: isRetry(topic.name),
                        isServed: !description.members.isEmpty)
                })
    }

    /// What the workers say of themselves.
    private func workers(of description: GroupDescription) -> [Check] {
        guard !description.members.isEmpty else { return [] }
        let addresses = WorkerSurvey.addresses(of: description.members, named: plan.workers, listen: plan.listen)
        return GroupJudgement.workers(timeLeft.isOver ? [] : WorkerSurvey.ask(addresses))
    }

    private func unknownGroup(_ error: KafkaError) -> Check {
        switch error.kind {
        case .forbidden:
            Check(
                .group, plan.group, .failed, "this user may not ask for it",
                fix: "\(KafkaPermission(.read, on: .group(plan.group)))")
        case .unsupported:
            Check(
                .group, plan.group, .warning, "the broker tells nothing of groups",
                fix: "nothing if this is an embedded broker; else a newer Kafka")
        default:
            Check(.group, plan.group, .failed, "\(error)", fix: "look at the brokers")
        }
    }

    /// Asks again while a coordinator or a leader is only just taking office: a cluster's first group takes seconds.
    private func settled<Answer>(_ body: () throws(KafkaError) -> Answer) throws(KafkaError) -> Answer {
        let end = ContinuousClock.now + Self.settling
        while true {
            do throws(KafkaError) {
                return try body()
            } catch {
                guard error.kind == .settling || error.code == KafkaError.Code.timedOut,
                    ContinuousClock.now < end, !timeLeft.isOver
                else { throw error }
                // Nothing tells when it has.
                usleep(100_000)
            }
        }
    }

    private static var settling: Duration { .seconds(6) }

    private func leaveOutMarks(_ positions: inout GroupPositions) throws(KafkaError) {
        let behind = positions.partitions.filter { $0.lag > 0 && $0.isInRange }.prefix(Self.lookedIntoLimit)
        guard !behind.isEmpty else { return }
        let reader = try ReadProbe(properties: plan.committedReaderProperties)
        readers.append(reader)
        let exhausted = try reader.exhausted(
            behind.map { ($0.partition, offset: max($0.begin, $0.committed ?? $0.begin)) }, timeLeft: timeLeft)
        for index in positions.partitions.indices where exhausted.contains(positions.partitions[index].partition) {
            positions.partitions[index].committed = positions.partitions[index].end
        }
    }

    /// So many partitions are looked into at most.
    private static var lookedIntoLimit: Int { 200 }

    private func groupPositions() throws(KafkaError) -> GroupPositions {
        guard let reader else { return GroupPositions(partitions: []) }
        let wanted = consumedTopics.flatMap { topic in
            topic.partitions.filter { $0.leader != nil }.map { TopicPartition(topic: topic.name, partition: $0.id) }
        }
        let limit = Self.requestMilliseconds
        let committed = try reader.queries.committed(wanted, timeoutMilliseconds: timeLeft.milliseconds(atMost: limit))
        let ends = try reader.queries.ends(of: wanted, timeoutMilliseconds: timeLeft.milliseconds(atMost: limit))
        let begins = try reader.queries.beginnings(
            of: wanted, timeoutMilliseconds: timeLeft.milliseconds(atMost: limit))
        var positions = GroupPositions(
            partitions: committed.map { position in
                GroupPositions.Position(
                    partition: position.partition, committed: position.offset < 0 ? nil : position.offset,
                    begin: begins[position.partition] ?? 0, end: ends[position.partition] ?? 0)
            })
        try findOverdue(&positions, reader.queries)
        return positions
    }

    /// A retry waits for its topic's delay from when it was written, and no longer.
    private func findOverdue(_ positions: inout GroupPositions, _ queries: ConsumerQueries) throws(KafkaError) {
        let now = SystemClock.wall().milliseconds
        for topic in consumedTopics {
            guard let delay = plan.topics.names.delay(ofTopic: topic.name)?.milliseconds else { continue }
            let behind = positions.of(topic.name).filter { $0.lag > 0 && $0.isInRange }.map(\.partition)
            guard !behind.isEmpty else { continue }
            let firstInTime = try queries.offsets(
                of: behind, at: now - delay - Self.latenessMilliseconds,
                timeoutMilliseconds: timeLeft.milliseconds(atMost: Self.requestMilliseconds))
            for index in positions.partitions.indices where behind.contains(positions.partitions[index].partition) {
                let position = positions.partitions[index]
                let next = max(position.begin, position.committed ?? position.begin)
                let end = firstInTime[position.partition] ?? position.end
                positions.partitions[index].overdue = max(0, min(end, position.end) - next)
            }
        }
    }

    /// So late a retry may be before it counts as overdue.
    private static var latenessMilliseconds: Int64 { 30_000 }
}

/// Where a group stands in each partition.
struct GroupPositions: Sendable, Equatable {
    struct Position: Sendable, Equatable {
        var partition: TopicPartition
        /// `nil`: nothing is committed yet, and the group begins at the beginning.
        var committed: Int64?
        var begin: Int64
        var end: Int64
        /// Retry topics: how many should have been taken by now.
        var overdue: Int64 = 0

        /// Whether a consumer could go on from there.
        var isInRange: Bool { (begin...max(begin, end)).contains(committed ?? begin) }

        var lag: Int64 { max(0, end - max(begin, committed ?? begin)) }
    }

    var partitions: [Position]

    func of(_ topic: String) -> [Position] { partitions.filter { $0.partition.topic == topic } }

    var lag: Int64 { partitions.reduce(0) { $0 + $1.lag } }
}

/// What is worth saying of a group.
enum GroupJudgement {
    /// Its members, and whether each partition has one.
    static func members(_ group: String, _ description: GroupDescription, _ positions: GroupPositions) -> Check {
        let name = Stage.group.rawValue
        let count = description.members.count
        guard count > 0 else {
            guard positions.lag > 0 else {
                return Check(name, group, .passed, "no worker runs at the moment, and nothing waits")
            }
            return Check(
                name, group, .warning, "no worker runs, and \(positions.lag) records wait", fix: "start herald worker")
        }
        let taken = Set(description.members.flatMap(\.partitions))
        let free = positions.partitions.map(\.partition).filter { !taken.contains($0) }
        let members = "\(count) member\(count == 1 ? "" : "s")"
        guard description.state.lowercased() == "stable" else {
            return Check(name, group, .warning, "\(members), in a rebalance", fix: "look again in a minute")
        }
        guard free.isEmpty else {
            let shown = free.prefix(5).map { "\($0)" }.joined(separator: ", ") + (free.count > 5 ? " …" : "")
            return Check(
                name, group, .warning, "\(members); \(free.count) partitions belong to none of them: \(shown)",
                fix: "give all workers the same topics.requests")
        }
        return Check(name, group, .passed, "\(members); each partition has one")
    }

    /// What the workers say of themselves.
    static func workers(_ workers: [WorkerSurvey.Worker]) -> [Check] {
        let name = "worker"
        guard !workers.isEmpty else {
            return [
                Check(
                    name, "", .skipped, "no admin port can be reached from here",
                    fix: "run this where a worker runs, or name their admin ports: --workers host:port,…")
            ]
        }
        return workers.map { worker in
            switch worker.state {
            case .ready: Check(name, worker.address, .passed, "delivers")
            case .notReady(let sentences):
                Check(name, worker.address, .failed, sentences.joined(separator: " "))
            case .silent(let reason):
                Check(
                    name, worker.address, .warning, "does not say how it is: \(reason)",
                    fix: "name the workers' admin ports (admin.listen): --workers host:port,…")
            }
        }
    }

    /// How far the group is behind in one topic.
    static func lag(_ topic: String, _ positions: [GroupPositions.Position], isRetry: Bool, isServed: Bool) -> Check {
        let name = "group lag"
        if let lost = positions.first(where: { ($0.committed ?? $0.begin) < $0.begin }) {
            return Check(
                name, topic, .failed,
                "retention has deleted \(lost.begin - (lost.committed ?? 0)) records of partition "
                    + "\(lost.partition.partition) before they were consumed; a worker does not start there",
                fix: "decide what to do about them, and set the group's offset with kafka-consumer-groups")
        }
        if let renewed = positions.first(where: { ($0.committed ?? 0) > $0.end }) {
            return Check(
                name, topic, .warning,
                "the group stands behind the end of partition \(renewed.partition.partition): the topic was made anew",
                fix: "nothing: the worker begins at the beginning, with a warning")
        }
        let total = positions.reduce(0) { $0 + $1.lag }
        guard total > 0, let worst = positions.max(by: { $0.lag < $1.lag }) else {
            return Check(name, topic, .passed, "0")
        }
        let overdue = positions.reduce(0) { $0 + $1.overdue }
        guard overdue == 0 else {
            return Check(
                name, topic, .warning, "\(total) wait, \(overdue) of them are overdue",
                fix: isServed
                    ? "check what the workers report: an outage, or they cannot keep up" : "start herald worker")
        }
        return Check(
            name, topic, isServed ? .passed : .warning,
            "\(total) \(isRetry ? "wait for their time" : "wait"), most of them in partition "
                + "\(worst.partition.partition): \(worst.lag)", fix: isServed ? nil : "start herald worker")
    }
}
