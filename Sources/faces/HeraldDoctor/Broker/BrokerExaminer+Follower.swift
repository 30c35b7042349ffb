internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTools

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
