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

        /// A record.
        public init(partition: Int32, offset: Int64, source: String) {
            self.partition = partition
            self.offset = offset
            self.source = source
        }
    }

    /// The time for which one example stands for all: each costs memory.
    static let exampleLifetime: Milliseconds = .seconds(10)
    /// The number of bytes that are kept of a source.
    static let longestSource = 64

    /// The known number of partitions of each request topic; 0 when unknown, and nothing is counted.
    public private(set) var partitionCounts: [Int]
    private var counts: [Int]
    private var examples: [Example?]
    private var exampleTimes: [MonotonicTime]

    /// Empty counts for this many request topics.
    public init(requestTopics: Int) {
        let places = requestTopics * PublisherFault.allCases.count
        partitionCounts = Array(repeating: 0, count: requestTopics)
        counts = Array(repeating: 0, count: places)
        examples = Array(repeating: nil, count: places)
        exampleTimes = Array(repeating: .distantPast, count: places)
    }

    /// Records of a request topic with this fault.
    public func count(_ fault: PublisherFault, ofTopic topic: Int) -> Int { counts[place(fault, topic)] }

    /// One of the latest of them.
    public func example(_ fault: PublisherFault, ofTopic topic: Int) -> Example? { examples[place(fault, topic)] }

    /// Takes the request topics' numbers of partitions.
    mutating func use(partitionCounts new: [Int]) {
        for topic in partitionCounts.indices where topic < new.count && partitionCounts[topic] != new[topic] {
            partitionCounts[topic] = new[topic]
            for fault in PublisherFault.allCases {
                counts[place(fault, topic)] = 0
                examples[place(fault, topic)] = nil
                exampleTimes[place(fault, topic)] = .distantPast
            }
        }
    }

    /// Counts a record; true when it is to be the example.
    mutating func count(_ fault: PublisherFault, ofTopic topic: Int, now: MonotonicTime) -> Bool {
        let place = place(fault, topic)
        counts[place] += 1
        guard examples[place] == nil || now.time(since: exampleTimes[place]) >= Self.exampleLifetime else {
            return false
        }
        exampleTimes[place] = now
        return true
    }

    mutating func show(_ example: Example, of fault: PublisherFault, ofTopic topic: Int) {
        examples[place(fault, topic)] = example
    }

    private func place(_ fault: PublisherFault, _ topic: Int) -> Int {
        topic * PublisherFault.allCases.count + fault.place
    }
}

extension PublisherFault {
    /// The place in `allCases`, without a search.
    fileprivate var place: Int {
        switch self {
        case .noKey: 0
        case .keyNotUser: 1
        case .partitioner: 2
        case .headers: 3
        case .quotedHeaders: 4
        }
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
