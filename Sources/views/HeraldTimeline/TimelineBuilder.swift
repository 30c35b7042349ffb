package import HeraldEvents
internal import HeraldTime

/// Puts the records about events together, whichever order they are read in, in bounded memory.
///
/// Events are told apart by their request record, which all that Herald writes names. Of each partition of a request topic
/// the newest events are kept, so that the order of reading decides nothing.
package struct TimelineBuilder: Sendable {
    /// What is known of an event from any of its records.
    package struct Identity: Sendable, Equatable {
        package var id: String?
        package var user: String?
        package var source: String?
        package var campaign: String?
        package var eventClass: EventClass?
        package var trace: String?
        package var pushServices: [String] = []
        package var fault: PublisherFault?
    }

    private struct Partition: Hashable, Comparable {
        var topic: String
        var partition: Int32

        static func < (left: Self, right: Self) -> Bool {
            (left.topic, left.partition) < (right.topic, right.partition)
        }
    }

    /// Origins are named by headers, which may name any topic: of so many partitions of topics that are no request topics
    /// events are kept, the first by name.
    private static let otherPartitionLimit = 16

    private let limit: Int
    private let partitions: [String: Int]
    private var isCutElsewhere = false
    private var events: [Partition: [Int64: EventTimeline]] = [:]
    /// The lowest offset that is kept, once there were too many.
    private var floors: [Partition: Int64] = [:]

    /// - Parameters:
    ///   - limit: so many events of each partition.
    ///   - partitions: of each request topic.
    package init(limit: Int, partitions: [String: Int]) {
        self.limit = max(1, limit)
        self.partitions = partitions
    }

    /// Whether older events were left out.
    package var isCut: Bool { !floors.isEmpty || isCutElsewhere }

    /// Adds what a record tells of the event that began with `origin`.
    package mutating func add(_ steps: [TimelineStep], to origin: Origin, _ identity: Identity) {
        let partition = Partition(topic: origin.topic, partition: origin.partition)
        guard hasRoom(for: partition) else { return }
        if let floor = floors[partition], origin.offset < floor { return }
        var event = events[partition]?[origin.offset] ?? EventTimeline(origin: origin)
        events[partition]?[origin.offset] = nil
        event.learn(identity)
        for step in steps { event.add(step) }
        events[partition, default: [:]][origin.offset] = event
        if events[partition]?.count ?? 0 > 2 * limit { prune(partition) }
    }

    /// The events, the oldest first; those of the same moment by their places.
    package func timelines() -> [EventTimeline] {
        var all: [EventTimeline] = []
        for (_, offsets) in events {
            for offset in offsets.keys.sorted().suffix(limit) {
                guard var event = offsets[offset] else { continue }
                event.settleOrder()
                all.append(event)
            }
        }
        let never = WallTime(milliseconds: 0)
        return all.sorted { left, right in
            (left.begin ?? never, left.origin.topic, left.origin.partition, left.origin.offset)
                < (right.begin ?? never, right.origin.topic, right.origin.partition, right.origin.offset)
        }
    }

    /// Whether events of the partition are kept; one that comes behind it by name makes room.
    private mutating func hasRoom(for partition: Partition) -> Bool {
        guard events[partition] == nil, !isOfRequests(partition) else { return true }
        let others = events.keys.filter { !isOfRequests($0) }
        guard others.count >= Self.otherPartitionLimit, let last = others.max() else { return true }
        isCutElsewhere = true
        guard partition < last else { return false }
        events[last] = nil
        floors[last] = nil
        return true
    }

    private func isOfRequests(_ partition: Partition) -> Bool {
        (0..<(partitions[partition.topic] ?? 0)).contains(Int(partition.partition))
    }

    private mutating func prune(_ partition: Partition) {
        let offsets = (events[partition] ?? [:]).keys.sorted()
        guard offsets.count > limit else { return }
        for offset in offsets.dropLast(limit) { events[partition]?[offset] = nil }
        floors[partition] = offsets[offsets.count - limit]
    }
}

extension EventTimeline {
    fileprivate mutating func learn(_ identity: TimelineBuilder.Identity) {
        id = id ?? identity.id
        user = user ?? identity.user
        source = source ?? identity.source
        campaign = campaign ?? identity.campaign
        eventClass = eventClass ?? identity.eventClass
        trace = trace ?? identity.trace
        fault = fault ?? identity.fault
        learn(identity.pushServices)
    }
}
