internal import HeraldCore
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
internal import HeraldTools

extension BrokerExaminer {
    /// Asks for the group's members and offsets; joins nothing.
    func examineGroup() -> [Check] {
        guard let admin else { return [] }
        let description: GroupDescription
        let positions: GroupPositions
        plan.clientProperties.settling?.shorten(to: timeLeft.step(atMost: Self.settling).duration)
        do throws(KafkaError) {
            description = try settled { () throws(KafkaError) in
                try admin.describeGroup(plan.group, timeout: requestLimit)
            }
            var found = try settled { () throws(KafkaError) in try groupPositions() }
            try leaveOutMarks(&found, isServed: !description.members.isEmpty)
            positions = found
        } catch {
            let answering = workers(of: [])
            return [unknownGroup(error, admin)]
                + (answering.isEmpty
                    ? [] : GroupJudgement.workers(answering, plan.group, areNamed: plan.workers != nil))
        }
        let isServed = !description.members.isEmpty
        let workers = workers(of: description.members)
        answering = workers.filter { $0.status != nil }.map(\.address)
        let lost = lostOffsets(positions)
        let strangers = description.strangers(besides: plan.clientProperties["client.id"])
        let stranger = strangers.words(in: plan.group).map {
            Check(.group, plan.group, .warning, $0, fix: [GroupDescription.Stranger].remedy)
        }
        return [GroupJudgement.members(plan.group, description, positions, workers)]
            + [stranger, lost].compactMap { $0 }
            + (workers.isEmpty && !isServed
                ? [] : GroupJudgement.workers(workers, plan.group, areNamed: plan.workers != nil))
            + [GroupJudgement.unasked(workers, of: description.members.count, areNamed: plan.workers != nil)]
            .compactMap { $0 }
            + consumedTopics.map { topic in
                GroupJudgement.lag(
                    topic.name, positions.of(topic.name), isRetry: isRetry(topic.name), isServed: isServed,
                    isLost: lost != nil, unserved: GroupJudgement.remedy(workers))
            } + GroupJudgement.transactions(openTransactions(in: positions))
    }

    /// What is held back at this moment; nothing where the brokers do not say it.
    private func openTransactions(in positions: GroupPositions) -> [OpenTransaction] {
        let held = positions.partitions.filter { $0.held > 0 }.map(\.partition)
        let survey = OpenTransactionSurvey(plan.readerProperties)
        return (try? survey.transactions(in: held, now: SystemClock.wall(), timeout: requestLimit)) ?? []
    }

    /// Partitions without an offset whose events have outcomes.
    private func lostOffsets(_ positions: GroupPositions) -> Check? {
        // Where a topic has an offset, a partition without one is new.
        let known = Set(positions.partitions.filter { $0.committed != nil }.map(\.partition.topic))
        let fresh = positions.partitions.filter {
            $0.begin < $0.end && plan.topics.names.requests.contains($0.partition.topic)
                && !known.contains($0.partition.topic)
        }
        guard !fresh.isEmpty,
            let search = try? OutcomeSearch(
                of: Set(fresh.map(\.partition)), topics: plan.topics.names, delays: plan.topics.retryDelays,
                properties: plan.committedReaderProperties)
        else { return nil }
        defer { search.close() }
        // What cannot be read is another check's failure.
        try? search.search(for: timeLeft.step(atMost: Self.requestTimeout).duration)
        guard search.hasFound else { return nil }
        let others = OtherGroups(
            besides: plan.group, on: fresh.map(\.partition), properties: plan.readerProperties,
            patience: timeLeft.step(atMost: Self.requestTimeout).duration,
            author: CompletionMap.author(of:committed:in:_:_:))
        return GroupJudgement.lost(plan.group, fresh.map(\.partition), others)
    }

    private func workers(of members: [GroupDescription.Member]) -> [WorkerSurvey.Worker] {
        guard !members.isEmpty else {
            // One that is not let in, or has only just begun, is no member; which group it is in it says itself.
            let addresses = plan.workers ?? WorkerSurvey.localAddress(listen: plan.listen).map { [$0] } ?? []
            return ask(addresses).filter(\.isInTheWay)
        }
        return ask(WorkerSurvey.addresses(of: members, named: plan.workers, listen: plan.listen))
    }

    private func ask(_ addresses: [String]) -> [WorkerSurvey.Worker] {
        timeLeft.isOver ? [] : WorkerSurvey.ask(addresses, group: plan.group)
    }

    private func unknownGroup(_ error: KafkaError, _ admin: Admin) -> Check {
        if error.kind == .settling || error.code == KafkaError.Code.timedOut,
            let metadata = try? admin.metadata(topics: [GroupObstacle.Topic.groups.rawValue], timeout: requestLimit),
            let obstacle = GroupObstacle(.groups, in: metadata)
        {
            lacksCoordinator = true
            return Check(.group, plan.group, .failed, obstacle.what, fix: obstacle.remedy)
        }
        return switch error.kind {
        case .forbidden:
            Check(
                .group, plan.group, .failed, "this user may not ask for it",
                fix: "\(KafkaPermission(.read, on: .group(plan.group)))")
        case .unsupported:
            Check(
                .group, plan.group, .warning, "the broker tells nothing of groups",
                fix: "nothing if this is an embedded broker; else a newer Kafka")
        default:
            Check(.group, plan.group, .failed, error.wordsInFull, fix: "look at the brokers")
        }
    }

    /// Asks again while a coordinator or a leader is only just taking office: a cluster's first group takes seconds, in which
    /// a question for offsets has no answer.
    private func settled<Answer>(_ body: () throws(KafkaError) -> Answer) throws(KafkaError) -> Answer {
        try plan.clientProperties.outwaiting(
            within: Self.settling.duration,
            where: { ($0.kind == .settling || $0.code == KafkaError.Code.timedOut) && !timeLeft.isOver }, body)
    }

    /// So long, because the other checks need their time, too.
    private static var settling: Milliseconds { .seconds(8) }

    /// Offsets are no count of records: the marks of transactions and what was aborted have some, too, and a worker passes
    /// them by itself.
    ///
    /// So where none consumes, and where retries wait, the records are counted.
    private func leaveOutMarks(_ positions: inout GroupPositions, isServed: Bool) throws(KafkaError) {
        let behind = positions.partitions.filter { position in
            let isRetry = plan.topics.names.delay(ofTopic: position.partition.topic) != nil
            return position.lag > 0 && position.isInRange && (!isServed || isRetry)
        }.prefix(Self.lookedIntoLimit)
        guard !behind.isEmpty else { return }
        let reader = try Consumer(properties: plan.committedReaderProperties)
        clients.readers.append(reader)
        let ahead = try reader.recordsAhead(
            of: behind.map { ($0.partition, offset: $0.next) },
            within: timeLeft.step(atMost: Self.readTimeout).duration, counting: Self.countedLimit,
            countsFromOrigin: false)
        for index in positions.partitions.indices {
            let partition = positions.partitions[index].partition
            positions.partitions[index].isUncounted =
                behind.contains { $0.partition == partition } && ahead[partition]?.count == nil
            guard let ahead = ahead[partition] else { continue }
            positions.partitions[index].counted = ahead.count
            positions.partitions[index].overdue = min(
                positions.partitions[index].overdue, ahead.count ?? .max)
            if case .published(let written?) = ahead.first,
                overdueBefore(partition).map({ written.milliseconds >= $0 }) ?? true
            {
                positions.partitions[index].overdue = 0
            }
        }
    }

    private static var countedLimit: Int64 { 500 }
    private static var lookedIntoLimit: Int { 200 }

    private func groupPositions() throws(KafkaError) -> GroupPositions {
        guard let reader, let admin else { return GroupPositions(partitions: []) }
        let wanted = consumedTopics.flatMap { topic in
            topic.partitions.filter { $0.leader != nil }.map { TopicPartition(topic: topic.name, partition: $0.id) }
        }
        let survey = GroupSurvey(reader.queries, admin: admin) { [timeLeft] in
            timeLeft.step(atMost: Self.requestTimeout)
        }
        var positions = try survey.positions(of: wanted)
        let overdue = try survey.waiting(in: positions, writtenBefore: overdueBefore)
        for index in positions.partitions.indices {
            positions.partitions[index].overdue = overdue[positions.partitions[index].partition] ?? 0
        }
        return positions
    }

    /// A retry that was written before this moment is overdue (milliseconds since the Unix epoch): it waits for its topic's
    /// delay from when it was written, and no longer; `nil` of a request.
    private func overdueBefore(_ partition: TopicPartition) -> Int64? {
        let latest = SystemClock.wall().milliseconds - Self.lateness.count
        return plan.topics.names.delay(ofTopic: partition.topic).map { latest - $0.length.count }
    }

    /// So late a retry may be before it counts as overdue.
    private static var lateness: Milliseconds { .seconds(30) }
}

/// What is worth saying of a group.
enum GroupJudgement {
    /// Its members, and whether each partition has one.
    ///
    /// - Parameter workers: those that answer; without members those that do not deliver, or not for this group.
    static func members(
        _ group: String, _ description: GroupDescription, _ positions: GroupPositions,
        _ workers: [WorkerSurvey.Worker] = []
    ) -> Check {
        let name = Stage.group.rawValue
        let count = description.members.count
        guard count > 0 else {
            if let own = workers.first(where: \.isNotReady) {
                return own.isJoining
                    ? Check(
                        name, group, .warning,
                        "a worker runs, and is no member yet; \(waiting(positions)) records wait",
                        fix: "look again in a minute")
                    : Check(
                        name, group, .failed, "a worker runs, and is no member; \(waiting(positions)) records wait",
                        fix: "do what it says of itself")
            }
            guard positions.lag > 0 else {
                return Check(name, group, .passed, "no worker runs at the moment, and nothing waits")
            }
            return Check(
                name, group, .warning, "no worker runs, and \(waiting(positions)) records wait", fix: remedy(workers))
        }
        let taken = Set(description.members.flatMap(\.partitions))
        let free = positions.partitions.map(\.partition).filter { !taken.contains($0) }
        let members = "\(count) member\(count == 1 ? "" : "s")"
        guard description.state.lowercased() == "stable" else {
            return Check(
                name, group, .warning, "\(members), in a rebalance",
                fix:
                    "look again in a minute: the group gives members that are gone 10 s (also those of before the brokers "
                    + "came back), and one that hangs a minute")
        }
        guard free.isEmpty else {
            // Workers see a topic's new partitions, which have its highest numbers, half a minute later.
            let areNew = free.allSatisfy { partition in
                taken.contains { $0.topic == partition.topic && $0.partition < partition.partition }
                    && !taken.contains { $0.topic == partition.topic && $0.partition > partition.partition }
            }
            return Check(
                name, group, .warning, "\(members); \(free.count) partitions belong to none of them: \(free.names)",
                fix: (areNew ? "if they were just added, workers take them within a minute: look again; else " : "")
                    + "give all workers the same topics.requests")
        }
        return Check(name, group, .passed, "\(members); each partition has one")
    }

    /// How many wait; offsets that could not be looked into in time may be marks of transactions, or aborted.
    private static func waiting(_ positions: GroupPositions) -> String {
        "\(atMost(positions.partitions))\(positions.lag)"
    }

    private static func atMost(_ positions: [GroupPositions.Position]) -> String {
        positions.contains(where: \.isUncounted) ? "at most " : ""
    }

    static func lost(_ group: String, _ partitions: [TopicPartition], _ others: OtherGroups?) -> Check {
        let missing = MissingOffsets(partitions, others: others)
        return Check(
            "group offsets", group, .failed, "\(missing.words): workers do not consume them", fix: missing.remedy)
    }

    /// What to do where no member takes what waits: a worker that answers is there already.
    static func remedy(_ workers: [WorkerSurvey.Worker]) -> String {
        workers.isEmpty ? "start herald worker" : "see the line `worker`"
    }

    /// That not every member has an address of its own, so that some were not asked; `nil` if each has.
    static func unasked(_ workers: [WorkerSurvey.Worker], of members: Int, areNamed: Bool) -> Check? {
        guard !areNamed, !workers.isEmpty, workers.count < members else { return nil }
        return Check(
            "worker", "", .warning,
            "\(members - workers.count) of \(members) members could not be asked: their admin ports are not known",
            fix: "name them all: --workers host:port,… or console.workers")
    }

    /// What each of them says.
    ///
    /// - Parameter areNamed: whether an operator gave their addresses: one that does not answer there has ended, or hangs.
    static func workers(_ workers: [WorkerSurvey.Worker], _ group: String, areNamed: Bool) -> [Check] {
        let name = "worker"
        guard !workers.isEmpty else {
            return [
                Check(
                    name, "", .skipped, "no admin port can be reached from here",
                    fix: "run this where a worker runs, or name their admin ports: --workers host:port,…")
            ]
        }
        return workers.flatMap { worker in
            switch worker.state {
            case .answered(let status) where status.isReady && status.warnings.isEmpty:
                [Check(name, worker.address, .passed, "delivers")]
            case .answered(let status) where status.isReady:
                status.warnings.map {
                    $0.severity == .bad
                        ? Check(name, worker.address, .failed, $0.what, fix: $0.step)
                        : Check(name, worker.address, .warning, "delivers, and warns: " + $0.what, fix: $0.step)
                }
            case .answered(let status):
                status.reasons.map {
                    Check(name, worker.address, worker.isJoining ? .warning : .failed, $0.what, fix: $0.step)
                }
            case .elsewhere(let other):
                [
                    Check(
                        name, worker.address, .warning, "is in the group \(other), not in \(group) of these settings",
                        fix: "correct kafka.group here or there, or name the workers of \(group): --workers host:port,…"
                    )
                ]
            case .silent(let silence):
                [
                    Check(
                        name, worker.address, .warning, "does not say how it is: \(silence.reason)",
                        fix: silence.isOlder
                            ? FindingKey.olderWorker.entry.step
                            : areNamed
                                ? FindingKey.silentWorker.entry.step
                                : "name the workers' admin ports (admin.listen): --workers host:port,…")
                ]
            }
        }
    }

    /// What keeps readers from records that are there.
    static func transactions(_ open: [OpenTransaction]) -> [Check] {
        open.map { Check("open transaction", "\($0.partition)", .warning, $0.words, fix: $0.remedy) }
    }

    /// How far the group is behind in one topic.
    ///
    /// - Parameters:
    ///   - isLost: whether it has lost offsets: of what lies in a partition without one nobody knows what waits.
    ///   - unserved: what to do when nobody serves it.
    static func lag(
        _ topic: String, _ positions: [GroupPositions.Position], isRetry: Bool, isServed: Bool, isLost: Bool = false,
        unserved: String = remedy([])
    ) -> Check {
        let name = "group lag"
        let unknown = isLost ? positions.filter { $0.committed == nil && $0.lag > 0 } : []
        guard unknown.isEmpty else {
            return Check(
                name, topic, .warning,
                "not known: \(unknown.reduce(0) { $0 + $1.lag }) offsets lie in \(unknown.map(\.partition).counted) without an "
                    + "offset of the group", fix: "give it its offsets back: see the line `group offsets`")
        }
        var losses = GroupPositions(partitions: positions).lostRecords
        // What a worker has read already is not lost.
        losses.isBound = isServed
        if let lost = losses.finding {
            return Check(name, topic, .failed, lost.what, fix: lost.step)
        }
        if let renewed = positions.first(where: { ($0.committed ?? 0) > $0.end }) {
            return Check(
                name, topic, .warning,
                "the group stands behind the end of partition \(renewed.partition.partition): the topic was recreated, or its log "
                    + "was cut off",
                fix:
                    "nothing: the worker begins at the first record that is younger than all that it took, and warns of what it "
                    + "passes over")
        }
        let total = positions.reduce(0) { $0 + $1.lag }
        guard total > 0, let worst = positions.max(by: { $0.lag < $1.lag }) else {
            return Check(name, topic, .passed, "0")
        }
        let overdue = positions.reduce(0) { $0 + $1.overdue }
        guard overdue == 0 else {
            return Check(
                name, topic, .warning, "\(atMost(positions))\(total) wait, \(overdue) of them are overdue",
                fix: isServed
                    ? "check what the workers report: an outage, or they cannot keep up" : unserved)
        }
        return Check(
            name, topic, isServed ? .passed : .warning,
            "\(atMost(positions))\(total) \(isRetry ? "wait for their time" : "wait"), most of them in partition "
                + "\(worst.partition.partition): \(worst.lag)", fix: isServed ? nil : unserved)
    }
}

extension WorkerSurvey.Worker {
    fileprivate var isNotReady: Bool { status?.isReady == false }

    /// Whether it tells why a group without members has none.
    fileprivate var isInTheWay: Bool { if case .elsewhere = state { true } else { isNotReady } }
}
