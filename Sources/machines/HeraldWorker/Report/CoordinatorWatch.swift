import HeraldCore
import HeraldKafka
import HeraldTime

/// Whether lanes have waited for a coordinator for so long that it is worth asking why there is none: pure.
struct CoordinatorWatch: Sendable {
    /// A cluster's first group, or first transaction, takes seconds.
    static let patience: Milliseconds = .seconds(8)

    private var since: (topic: GroupObstacle.Topic, at: MonotonicTime)?

    /// Takes how the lanes stand.
    ///
    /// - Returns: where the coordinator keeps what it knows that they wait for; `nil` while there is nothing to ask.
    mutating func look(at lanes: [LaneReport], now: MonotonicTime) -> GroupObstacle.Topic? {
        let open = lanes.filter { !$0.hasEnded }
        // A lane joins its group when its producer is ready for transactions.
        let topic: GroupObstacle.Topic? =
            open.contains { !$0.isReady }
            ? .transactions : open.contains { $0.phase == .unassigned && $0.groupObstacle == nil } ? .groups : nil
        guard let topic else {
            since = nil
            return nil
        }
        let begin = since?.topic == topic ? since?.at ?? now : now
        since = (topic, begin)
        return now.time(since: begin) >= Self.patience ? topic : nil
    }
}
