package import HeraldCore
internal import HeraldDriver
internal import HeraldEvents
package import HeraldKafka
package import HeraldTime
internal import HeraldTools

/// Moves a group past what was deleted before it was read: to the first record that is left, never back, and never over
/// a record that is there.
package struct LossSkipper {
    /// What is to be skipped of a partition.
    package struct Skip: Sendable, Equatable {
        package var partition: TopicPartition
        /// Where the group stands.
        package var committed: Int64
        /// Where it is to stand.
        package var offset: Int64
        /// What is done beyond that.
        package var map: CompletionMap
        /// How many offsets were deleted unread.
        package var lost: Int64
        /// When the youngest record was written that was read, and the first that is left, or now: the lost ones lie between.
        package var since: WallTime?
        package var until: WallTime?
    }

    private static let readingLimit = Duration.seconds(5)

    private let survey: OffsetSurvey

    package init(_ survey: OffsetSurvey) { self.survey = survey }

    package func plan() throws -> [Skip] {
        let lost = try survey.partitions().filter { $0.lost > 0 }
        let firsts = lost.isEmpty ? [:] : try survey.firstRecords(of: lost, within: Self.readingLimit)
        return lost.compactMap { partition in
            var skip = Skip(partition)
            // Where no record is left all that is known is that they were written before now.
            skip?.until = firsts[partition.partition] ?? SystemClock.wall()
            return skip
        }
    }

    /// Writes the offsets; a partition in which nothing is lost by now keeps its own.
    ///
    /// - Returns: what was skipped.
    package func write(reason: String?) throws -> [Skip] {
        let skips = try survey.partitions().filter { $0.lost > 0 }.compactMap(Skip.init)
        guard !skips.isEmpty else { return [] }
        let positions = skips.map { skip in
            let identity = PartitionIdentity(
                cluster: survey.cluster, topic: skip.partition.topic, partition: skip.partition.partition)
            return CommitPosition(
                partition: skip.partition, offset: skip.offset,
                metadata: skip.map.text(committing: skip.offset, of: identity))
        }
        var entry = AuditEntry(
            action: AuditEntry.skipLost, phase: "done", at: SystemClock.wall().text, by: survey.context.operatorName)
        entry.selection = survey.context.group
        entry.reason = reason
        entry.options = Dictionary(skips.map { ("\($0.partition)", "\($0.committed)-\($0.offset)") }) { $1 }
        let retries = skips.filter { survey.context.topics.delay(ofTopic: $0.partition.topic) != nil }
        func lost(_ skips: [Skip]) -> Int { Int(skips.reduce(0) { $0 + $1.lost }) }
        entry.counts = ["lost": lost(skips), AuditEntry.lostRetries: lost(retries), "partitions": skips.count]
        try survey.write(positions, with: entry)
        return skips
    }
}

extension LossSkipper.Skip {
    /// The new place of a group; `nil` where nothing is lost.
    package init?(_ partition: PartitionOffsets) {
        guard let committed = partition.committed, committed < partition.begin else { return nil }
        let (offset, map) = (partition.map ?? CompletionMap()).rebased(to: partition.begin)
        self.init(
            partition: partition.partition, committed: committed, offset: offset, map: map, lost: partition.lost,
            since: partition.map?.evidence.map { WallTime(milliseconds: $0.newest) })
    }
}
