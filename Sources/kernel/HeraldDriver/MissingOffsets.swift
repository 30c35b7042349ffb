package import HeraldKafka

/// Partitions without an offset of the group although their events have outcomes: the one wording about them.
package struct MissingOffsets {
    private let partitions: [TopicPartition]
    private let others: OtherGroups?

    /// - Parameter others: the other groups with offsets on the request topics; `nil` when unknown.
    package init(_ partitions: [TopicPartition], others: OtherGroups?) {
        self.partitions = partitions
        self.others = others
    }

    /// The missing offsets, for the middle of a sentence.
    package var words: String {
        "no offset for \(partitions.counted) whose events have outcomes (\(partitions.names))"
    }

    /// The remedy, for the middle of a sentence.
    package var remedy: String {
        let dryRun = "run `herald offsets restore --dry-run`, then `herald offsets restore"
        let consequence = "nobody is notified again, and all others continue"
        guard let question = others?.question else {
            return "\(dryRun)`; \(consequence). If kafka.group was changed, set it back instead"
        }
        return "\(question.prefix(1).lowercased())\(question.dropFirst()) Then set it back. If not, \(dryRun) "
            + "--with-other-groups`; \(consequence)"
    }
}
