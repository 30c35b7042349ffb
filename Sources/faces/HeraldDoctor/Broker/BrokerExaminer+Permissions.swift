internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
import HeraldTime
internal import HeraldTools

extension BrokerExaminer {
    /// Fetches from one partition of each topic that Herald reads.
    func examineReading() -> StageReport {
        let names = plan.topics.names
        let read = topics.filter {
            names.requests.contains($0.name) || isRetry($0.name)
                || [names.results, names.deadLetter, names.campaigns, names.state].contains($0.name)
                || isOfWords($0.name) || $0.name == names.caps
        }
        let partitions = read.compactMap { topic in Self.servedPartition(of: topic) }
        let answers: [String: KafkaError?]
        do throws(KafkaError) {
            let reader = try Consumer(properties: plan.readerProperties)
            clients.readers.append(reader)
            answers = try reader.refusals(of: partitions, within: timeLeft.step(atMost: Self.readTimeout).duration)
        } catch {
            return StageReport(
                .reading, "", .failed, "no reader can be made: \(error.wordsInFull)", fix: "look at the brokers")
        }
        return StageReport(
            partitions.map { partition in
                let isNeeded = names.requests.contains(partition.topic) || isRetry(partition.topic)
                switch answers[partition.topic] {
                case .none:
                    return Check(
                        .reading, partition.topic, isNeeded ? .failed : .warning,
                        "partition \(partition.partition) gave no answer in time", fix: "look at the brokers")
                case .some(.none): return Check(.reading, partition.topic, .passed, "fetched")
                case .some(.some(let error)):
                    let isForbidden = error.kind == .forbidden
                    return Check(
                        .reading, partition.topic, isNeeded ? .failed : .warning,
                        (isForbidden ? "not allowed" : error.wordsInFull)
                            + (isNeeded
                                ? ""
                                : isOfWords(partition.topic) || partition.topic == names.caps
                                    ? Self.wordsPurpose
                                    : " (herald publish --wait, dlq, campaign, feedback and offsets need it)"),
                        fix: "\(KafkaPermission(.read, on: .topic(partition.topic)))")
                }
            }, isDeadEnd: false)
    }

    /// Claims a transactional id that looks like a worker's, and that no producer uses.
    func claim() -> StageReport {
        guard plan.isAtomic else {
            let check = Check(
                .transactionalID, "", .skipped,
                "delivery.guarantee is at-least-once: a record that proves Write could not be taken back")
            return StageReport([check], isDeadEnd: true)
        }
        let (probe, check) = claimed(of: plan.group, prefix: "\(plan.group)-") { error in
            error.kind == .forbidden && plan.instance != nil ? .warning : .failed
        }
        transactions = probe
        return StageReport([check], isDeadEnd: probe == nil)
    }

    /// Claims a name; its owner's may be allowed alone, and to try that one would end a process that runs.
    func claimed(
        of group: String, prefix: String, because purpose: String = "", _ verdict: (KafkaError) -> Verdict
    ) -> (TransactionProbe?, Check) {
        let id = Self.transactionalID(group)
        let begin = ContinuousClock.now
        do throws(KafkaError) {
            let probe = try TransactionProbe(properties: plan.writerProperties, id: id, timeLeft: timeLeft)
            clients.probes.append(probe)
            try probe.claim()
            let time = Milliseconds(.now - begin)
            return (probe, Check(.transactionalID, id, .passed, "claimed in \(time.count) ms"))
        } catch {
            let isForbidden = error.kind == .forbidden
            let check = Check(
                .transactionalID, id, verdict(error), (isForbidden ? "not allowed" : error.wordsInFull) + purpose,
                fix: isForbidden
                    ? "\(KafkaPermission(.write, on: .transactionalIDs(prefix: prefix)))"
                    : "look at the brokers, and at the internal topic __transaction_state")
            return (nil, check)
        }
    }

    /// Writes a record to each topic that Herald alone writes, in transactions that are aborted.
    func examineWriting() -> StageReport {
        let requests = plan.topics.names.requests
        // Workers only read words: commands write them, as people who may.
        let partitions = topics.filter { !requests.contains($0.name) && !isOfWords($0.name) }.compactMap {
            Self.servedPartition(of: $0)
        }
        let (properties, group, timeLeft) = (plan.writerProperties, plan.group, timeLeft)
        let trials = SideBySide.map(partitions, within: timeLeft.step(atMost: Self.writeTimeout)) {
            TransactionProbe.write(to: $0, properties: properties, id: Self.transactionalID(group), timeLeft: timeLeft)
        }
        var checks = zip(partitions, trials).map { partition, trial in writing(partition.topic, trial) }
        endDurations = trials.compactMap { $0?.refusal == nil ? $0?.endDuration : nil }
        checks.append(
            Check(
                .writing, requests.joined(separator: ", "), .skipped,
                "no record of a check belongs there; herald publish, dlq replay and campaign need Write"))
        return StageReport(checks, isDeadEnd: endDurations.isEmpty)
    }

    private func writing(_ topic: String, _ trial: TransactionProbe.Trial?) -> Check {
        guard let trial else {
            return Check(
                .writing, topic, verdict(of: topic), "no answer in time" + purpose(of: topic),
                fix: "look at the brokers")
        }
        guard let refusal = trial.refusal else {
            return Check(.writing, topic, .passed, "a record was taken, and taken back")
        }
        let isForbidden = refusal.kind == .forbidden
        return Check(
            .writing, topic, verdict(of: topic),
            (isForbidden ? "not allowed" : "\(refusal)") + purpose(of: topic),
            fix: isForbidden
                ? "\(KafkaPermission(.write, on: .topic(topic)))" : "look at the brokers and the topic's settings")
    }

    /// What the transactions took, and whether the group's offsets could be part of one.
    func examineTransaction() -> StageReport {
        let slowest = endDurations.max() ?? .zero
        var checks = [
            Check(
                .transaction, "", .passed,
                "begun and aborted \(endDurations.count) times; the end took \(slowest.count) ms at most")
        ]
        if lacksCoordinator {
            checks.append(Check(.reading, "group \(plan.group)", .skipped, "because of group"))
        } else if let transactions, let group = reader?.groupMetadata(),
            let partition = consumedTopics.lazy.compactMap({ Self.servedPartition(of: $0) }).first
        {
            let refusal = transactions.sendRefusedOffset(of: partition, group: group).refusal
            checks.append(groupRead(plan.group, refusal, .failed))
        }
        return StageReport(checks)
    }

    /// What a refused offset says of Read on a group.
    func groupRead(_ group: String, _ refusal: KafkaError?, _ verdict: Verdict, because purpose: String = "") -> Check {
        let subject = "group \(group)"
        guard let refusal, refusal.code != KafkaError.Code.offsetMetadataTooLarge else {
            return Check(.reading, subject, .passed, "its offsets may be committed")
        }
        switch refusal.code {
        case KafkaError.Code.groupAuthorizationFailed:
            return Check(
                .reading, subject, verdict, "not allowed" + purpose,
                fix: "\(KafkaPermission(.read, on: .group(group)))")
        case KafkaError.Code.topicAuthorizationFailed:
            return Check(.reading, subject, .skipped, "because of read")
        default:
            return Check(
                .reading, subject, .warning,
                "it is not known whether offsets may be committed: \(refusal)",
                fix: "look at the brokers, and at the internal topic __consumer_offsets")
        }
    }

    /// A name as a worker's lane has it, and that no producer uses.
    static func transactionalID(_ group: String) -> String {
        "\(group)-doctor-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }

    private static let writeTimeout = Milliseconds.seconds(12)
    static let readTimeout = Milliseconds.seconds(5)

    static func servedPartition(of topic: ClusterMetadata.Topic) -> TopicPartition? {
        topic.partitions.first { $0.leader != nil }.map { TopicPartition(topic: topic.name, partition: $0.id) }
    }
}

extension Consumer {
    /// Why each of these topics cannot be read (`nil`: it can); a topic is left out when no answer came in time.
    ///
    /// What is fetched from their ends is thrown away.
    fileprivate func refusals(
        of partitions: [TopicPartition], within limit: Duration
    ) throws(KafkaError) -> [String: KafkaError?] {
        try assign(partitions.map { ($0, offset: Offset.end) })
        let end = ContinuousClock.now + limit
        var answers: [String: KafkaError?] = [:]
        while answers.count < partitions.count, ContinuousClock.now < end {
            guard let message = queue.next(wait: .milliseconds(100)) else { continue }
            defer { message.release() }
            let error = message.error
            let isReadable = error == nil || error?.code == KafkaError.Code.partitionEOF
            guard isReadable || error?.isOfTopic == true else { continue }
            answers[message.topicName()] = .some(isReadable ? nil : error)
        }
        try unassign()
        return answers
    }
}

/// What `herald feedback` needs beside its topics; no worker stops without it.
extension BrokerExaminer {
    /// Claims a transactional id that looks like the follower's, and that no producer uses; has the broker check the
    /// permission on the follower's group.
    func examineFollower() -> [Check] {
        guard let group = plan.feedbackGroup else { return [] }
        let (probe, check) = claimed(of: group, prefix: group, because: Self.followerPurpose) { _ in .warning }
        return [check] + (probe.map { followerRead(group, $0) } ?? [])
    }

    static let followerPurpose = " (herald feedback needs it)"

    private func followerRead(_ group: String, _ probe: TransactionProbe) -> [Check] {
        let results = topics.first { $0.name == plan.topics.names.results }
        guard let partition = results.flatMap(Self.servedPartition(of:)), !lacksCoordinator else { return [] }
        let refusal: KafkaError?
        do throws(KafkaError) {
            let reader = try Consumer(properties: plan.readerProperties + [("group.id", group)])
            clients.readers.append(reader)
            guard let metadata = reader.groupMetadata() else { return [] }
            refusal = probe.sendRefusedOffset(of: partition, group: metadata).refusal
        } catch {
            refusal = error
        }
        return [groupRead(group, refusal, .warning, because: Self.followerPurpose)]
    }
}
