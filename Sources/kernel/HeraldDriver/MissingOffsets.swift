package import HeraldKafka

/// Partitions for which the group has no offset although their events have outcomes: what is said of them, everywhere.
package struct MissingOffsets {
    private let partitions: [TopicPartition]
    private let others: OtherGroups?

    /// - Parameter others: which other groups have offsets on the request topics; `nil` when that is not known.
    package init(_ partitions: [TopicPartition], others: OtherGroups?) {
        self.partitions = partitions
        self.others = others
    }

    /// What is missing, in the middle of a sentence.
    package var words: String {
        "no offset for \(partitions.counted) whose events have outcomes (\(partitions.names))"
    }

    /// What to do, in the middle of a sentence.
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
