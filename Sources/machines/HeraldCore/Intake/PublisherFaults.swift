public import HeraldEvents
import HeraldTime

/// The publishers' faults that an engine has seen, by the place of the request topic (``RequestTopics``) and the fault.
///
/// No other part writes it.
///
/// A count is certain only when the topic still had as many partitions *after* the records were taken: records of a
/// topic that has more by now may have been placed by that number. So the caller asks the brokers afterwards and
/// compares ``partitionCounts`` with their answer, and a topic's counts start from zero when its number changes.
public struct PublisherFaults: Sendable, Equatable {
    /// A record with a fault.
    public struct Example: Sendable, Equatable {
        /// Its partition.
        public var partition: Int32
        /// Its offset.
        public var offset: Int64
        /// Its event's source, cut to a length for people; empty without one.
        public var source: String
    }

    /// The time for which one example stands for all: each costs memory.
    static let exampleLifetime: Milliseconds = .seconds(10)
    /// The number of bytes that are kept of a source.
    static let longestSource = 64

    private struct Seen: Equatable {
        var count = 0
        var example: Example?
        var exampleAt = MonotonicTime.distantPast
    }

    /// The known number of partitions of each request topic; 0 when unknown, and nothing is counted.
    public private(set) var partitionCounts: [Int]
    private var seen: [[PublisherFault: Seen]]

    /// Empty counts for this many request topics.
    public init(requestTopics: Int) {
        partitionCounts = Array(repeating: 0, count: requestTopics)
        seen = Array(repeating: [:], count: requestTopics)
    }

    /// Records of a request topic with this fault.
    public func count(_ fault: PublisherFault, ofTopic topic: Int) -> Int { seen[topic][fault]?.count ?? 0 }

    /// One of the latest of them.
    public func example(_ fault: PublisherFault, ofTopic topic: Int) -> Example? { seen[topic][fault]?.example }

    /// Takes the request topics' numbers of partitions.
    mutating func use(partitionCounts new: [Int]) {
        for topic in partitionCounts.indices where topic < new.count && partitionCounts[topic] != new[topic] {
            partitionCounts[topic] = new[topic]
            seen[topic] = [:]
        }
    }

    /// Counts a record; true when it is to be the example.
    mutating func count(_ fault: PublisherFault, ofTopic topic: Int, now: MonotonicTime) -> Bool {
        var one = seen[topic][fault, default: Seen()]
        one.count += 1
        let isExample = one.example == nil || now.time(since: one.exampleAt) >= Self.exampleLifetime
        if isExample { one.exampleAt = now }
        seen[topic][fault] = one
        return isExample
    }

    mutating func show(_ example: Example, of fault: PublisherFault, ofTopic topic: Int) {
        seen[topic][fault, default: Seen()].example = example
    }
}

extension Engine {
    /// Takes the numbers of partitions of the request topics, in the order of the settings; 0 when unknown.
    public mutating func use(partitionCounts: [Int]) { publishers.use(partitionCounts: partitionCounts) }

    /// Judges the publication of a request topic's event.
    mutating func judgePublisher(
        of slot: Int32, key: RawSpan?, value: RawSpan, headers: HeaderList, partition: Int32, topic: Int, now: Moment
    ) {
        guard topic < publishers.partitionCounts.count, publishers.partitionCounts[topic] > 0 else { return }
        let count = publishers.partitionCounts[topic]
        let fault = events.publisherFault(
            of: slot, key: key, value: value, headers: headers, partition: partition, count: count)
        guard let fault, publishers.count(fault, ofTopic: topic, now: now.monotonic) else { return }
        let source = events.withSlot(slot) { slot in
            slot.event.bytes(of: slot.event.source, value: value).withUnsafeBytes {
                String(decoding: $0.prefix(PublisherFaults.longestSource), as: UTF8.self)
            }
        }
        publishers.show(
            PublisherFaults.Example(partition: partition, offset: events[slot].offset, source: source), of: fault,
            ofTopic: topic)
    }
}
