import HeraldCore
import HeraldDriver
import HeraldKafka
import HeraldTime

/// Finds request partitions with events that their lane does not take, although nothing is in the way: pure.
///
/// Not counted: a lane in an outage; a lane whose partitions move; partitions that wait for their offset, or of which records are lost; what lies behind an
/// open transaction; what was fetched and waits for room. Retry topics wait for their moment.
struct StandstillWatch: Sendable {
    /// A fetch takes no longer, however large its records are.
    static let patience: Milliseconds = .minutes(1)
    /// The time without fetching after which a client is asked about, and again after the patience.
    static let silence: Milliseconds = .seconds(20)

    private struct Place {
        var done: Int64
        var next: Int64
        /// The time since which a lane without events has settled nothing.
        var idleSince: MonotonicTime?
        /// The time since which nothing was taken.
        var since: MonotonicTime
        var askedAt: MonotonicTime?
    }

    private var places: [TopicPartition: Place] = [:]

    /// Takes how the lanes stand, and up to where partitions can be read.
    ///
    /// - Returns: the partitions that have stood still for longer than the patience, and those of which it has to be found out
    ///   whether they can be read.
    mutating func look(
        at lanes: [LaneReport], ends: [TopicPartition: Int64], now: MonotonicTime
    ) -> (still: [TopicPartition], silent: [TopicPartition]) {
        var seen: [TopicPartition: Place] = [:]
        var (still, silent): ([TopicPartition], [TopicPartition]) = ([], [])
        for lane in lanes where lane.phase == .taking && lane.outage == nil && !lane.hasEnded {
            let waiting = Set(
                lane.withoutOffsets + lane.lookedUp + lane.unanswered.map(\.partition)
                    + lane.lostRecords.map(\.partition))
            for report in lane.partitions where report.delay == nil && !waiting.contains(report.partition) {
                guard let done = report.done, let next = report.next, let end = ends[report.partition], end > done
                else { continue }
                var place = Place(done: done, next: next, since: now)
                if let former = places[report.partition] {
                    if former.done == done { place.idleSince = former.idleSince }
                    if former.next == next { (place.since, place.askedAt) = (former.since, former.askedAt) }
                }
                place.idleSince = lane.events == 0 ? place.idleSince ?? now : nil
                if report.isHeld || end <= next { (place.since, place.askedAt) = (now, nil) }
                let idle = max(
                    place.idleSince.map { now.time(since: $0) } ?? .zero, now.time(since: place.since))
                if idle >= Self.patience { still.append(report.partition) }
                if now.time(since: place.since) >= Self.silence,
                    place.askedAt.map({ now.time(since: $0) >= Self.patience }) ?? true
                {
                    silent.append(report.partition)
                    place.askedAt = now
                }
                seen[report.partition] = place
            }
        }
        places = seen
        return (still, silent)
    }
}
