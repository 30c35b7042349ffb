internal import HeraldCore
internal import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// Records of a partition that were deleted before they were read, one behind the other.
package struct LostSpan: Sendable, Equatable {
    /// Who said that they know of it, and when, so that workers go on.
    package struct Skip: Sendable, Equatable {
        package var at: WallTime
        package var by: String

        package init(at: WallTime, by: String) { (self.at, self.by) = (at, by) }
    }

    package var partition: TopicPartition
    package var offsets: Range<Int64>
    /// How many of the offsets have no known outcome; `nil` when that is not known.
    package var count: Int64?
    /// When the youngest record was written that was read, and the first that is left: the lost ones lie between.
    package var since: WallTime?
    package var until: WallTime?
    /// `nil` while the partition waits.
    package var skip: Skip?

    package init(partition: TopicPartition, offsets: Range<Int64>, count: Int64? = nil, skip: Skip? = nil) {
        (self.partition, self.offsets, self.count, self.skip) = (partition, offsets, count, skip)
    }

    /// Whether a record that was written at this moment may be among them.
    package func mayHold(_ moment: WallTime) -> Bool {
        if let skip, skip.at < moment { return false }
        return until.map { moment <= $0 } ?? true
    }

    /// The loss as a clause.
    ///
    /// - Parameter aside: what is said of the place.
    package func words(_ aside: String = "") -> String {
        let number = count ?? Int64(offsets.count)
        let one = number == 1
        let time =
            switch (since, until) {
            case (let since?, let until?): ", written between \(since.text) and \(until.text)"
            case (nil, let until?): ", written before \(until.text)"
            case (let since?, nil): ", written after \(since.text)"
            case (nil, nil): ""
            }
        return "\(count == nil && !one ? "up to " : "")\(number) \(one ? "record" : "records") of \(partition) "
            + "(offsets \(offsets.lowerBound) to \(offsets.upperBound - 1)\(time))\(aside) \(one ? "was" : "were") deleted before "
            + "\(one ? "it was" : "they were") read"
            + (skip.map { ", and skipped by \($0.by) at \($0.at.text) (herald offsets skip-lost)" } ?? "")
    }
}

extension GroupSurvey {
    /// What was deleted unread of these partitions, which have leaders, and waits for somebody to skip it.
    package func lostSpans(of partitions: [TopicPartition]) throws(KafkaError) -> [LostSpan] {
        try positions(of: partitions).partitions.filter { $0.lost > 0 }.compactMap { position in
            guard let committed = position.committed else { return nil }
            var span = LostSpan(
                partition: position.partition, offsets: committed..<position.begin, count: position.lost)
            let commit = CommitPosition(partition: position.partition, offset: committed, metadata: position.note)
            span.since = completions(of: commit)?.evidence.map { WallTime(milliseconds: $0.newest) }
            return span
        }
    }
}

extension AuditEntry {
    /// When it was written; `nil` when its text is no moment.
    package var moment: WallTime? { RFC3339.parse(Array(at.utf8).span.bytes) }

    /// What it says was skipped of this group; nothing when it is about something else.
    package func skippedSpans(ofGroup group: String) -> [LostSpan] {
        guard action == Self.skipLost, selection == group, let at = moment else { return [] }
        return (options ?? [:]).sorted { $0.key < $1.key }.compactMap { place, offsets in
            let bounds = offsets.split(separator: "-").compactMap { Int64($0) }
            guard let slash = place.lastIndex(of: "/"), let number = Int32(place[slash...].dropFirst()),
                bounds.count == 2, bounds[0] < bounds[1]
            else { return nil }
            return LostSpan(
                partition: TopicPartition(topic: String(place[..<slash]), partition: number),
                offsets: bounds[0]..<bounds[1], skip: .init(at: at, by: by))
        }
    }
}
