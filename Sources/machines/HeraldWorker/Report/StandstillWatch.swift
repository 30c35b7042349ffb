import HeraldCore
import HeraldKafka
import HeraldTime

/// Which request partitions have events that their lane does not take, although it has nothing else to do: pure.
///
/// Not counted: a lane with events in memory, whose calls may take minutes; a lane in an outage; a lane whose
/// partitions move; partitions that wait for their offset; what lies behind an open transaction. Retry topics wait for their moment.
struct StandstillWatch: Sendable {
    /// A fetch takes no longer, however large its records are.
    static let patience: Milliseconds = .minutes(1)

    private struct Place {
        var done: Int64
        var since: MonotonicTime
    }

    private var places: [TopicPartition: Place] = [:]

    init() {}

    /// Takes how the lanes stand, and up to where partitions can be read.
    ///
    /// - Returns: the partitions that have stood still for longer than the patience.
    mutating func look(
        at lanes: [LaneReport], ends: [TopicPartition: Int64], now: MonotonicTime
    ) -> [TopicPartition] {
        var seen: [TopicPartition: Place] = [:]
        var still: [TopicPartition] = []
        for lane in lanes where lane.phase == .taking && lane.events == 0 && lane.outage == nil && !lane.hasEnded {
            let waiting = Set(lane.withoutOffsets + lane.lookedUp)
            for report in lane.partitions where report.delay == nil && !waiting.contains(report.partition) {
                guard let done = report.done, let end = ends[report.partition], end > done else { continue }
                let former = places[report.partition]
                let place =
                    former?.done == done ? former ?? Place(done: done, since: now) : Place(done: done, since: now)
                seen[report.partition] = place
                if now.time(since: place.since) >= Self.patience { still.append(report.partition) }
            }
        }
        places = seen
        return still
    }
}
