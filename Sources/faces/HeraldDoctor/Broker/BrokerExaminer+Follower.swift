internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

/// What `herald feedback` needs beside its topics; no worker stops without it.
extension BrokerExaminer {
    /// Claims a transactional id that looks like the follower's, and that no producer uses; has the broker check the
    /// permission on the follower's group.
    func examineFollower() -> [Check] {
        guard let group = plan.feedbackGroup else { return [] }
        let id = Self.transactionalID(group)
        do throws(KafkaError) {
            let probe = try TransactionProbe(properties: plan.writerProperties, id: id, timeLeft: timeLeft)
            defer { probe.close() }
            try probe.claim()
            return [Check(.transactionalID, id, .passed, "claimed")] + followerRead(group, probe)
        } catch {
            // Its own name may be allowed alone; to try that one would end a follower that runs.
            let isForbidden = error.kind == .forbidden
            return [
                Check(
                    .transactionalID, id, .warning,
                    (isForbidden ? "not allowed" : error.wordsInFull) + Self.followerPurpose,
                    fix: isForbidden
                        ? "\(KafkaPermission(.write, on: .transactionalIDs(prefix: group)))"
                        : "look at the brokers, and at the internal topic __transaction_state")
            ]
        }
    }

    static let followerPurpose = " (herald feedback needs it)"

    private func followerRead(_ group: String, _ probe: TransactionProbe) -> [Check] {
        let results = topics.first { $0.name == plan.topics.names.results }
        guard let partition = results.flatMap(Self.servedPartition(of:)), !lacksCoordinator else { return [] }
        let refusal: KafkaError?
        do throws(KafkaError) {
            let reader = try ReadProbe(properties: plan.readerProperties + [("group.id", group)])
            readers.append(reader)
            guard let metadata = reader.groupMetadata else { return [] }
            refusal = probe.sendRefusedOffset(of: partition, group: metadata).refusal
        } catch {
            refusal = error
        }
        return [groupRead(group, refusal, .warning, because: Self.followerPurpose)]
    }
}
