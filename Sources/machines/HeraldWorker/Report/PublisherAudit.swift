public import HeraldCore
public import HeraldEvents
public import HeraldTime

/// Records of a request topic that were published otherwise than the contract asks.
public struct FaultyRecords: Sendable, Equatable {
    /// The request topic.
    public var topic: String
    /// Their fault.
    public var fault: PublisherFault
    /// Their number.
    public var count: Int
    /// One of the latest.
    public var example: PublisherFaults.Example
    /// The time at which the latest of them were known.
    public var at: Moment

    /// The example's place, and its sender as far as its event says so.
    public var exampleText: String {
        "\(topic)/\(example.partition)/\(example.offset)"
            + (example.source.isEmpty ? "" : ", source \(example.source)")
    }
}

/// Sums up what lanes have seen of publishers' faults, once it is certain.
///
/// A lane judges by the number of partitions that it was told. Its counts are certain when the brokers give the same number
/// *after* its report: a topic never has fewer partitions than before, so no record was placed by a larger number.
struct PublisherAudit: Sendable {
    private struct Key: Hashable {
        var lane: Int
        var topic: String
        var fault: PublisherFault
    }

    private var seen: [Key: (partitions: Int, count: Int)] = [:]
    /// All that is certain, since the start.
    private(set) var found: [FaultyRecords] = []

    /// Takes the lanes' reports, and what the brokers said afterwards.
    ///
    /// - Parameters:
    ///   - topics: the request topics, in the order of the reports.
    ///   - partitionCounts: how many partitions topics have; what is not known is left out.
    /// - Returns: what is new.
    mutating func look(
        at lanes: [LaneReport], topics: [String], partitionCounts: [String: Int], now: Moment
    ) -> [FaultyRecords] {
        var news: [FaultyRecords] = []
        for (place, topic) in topics.enumerated() {
            guard let partitions = partitionCounts[topic] else { continue }
            for fault in PublisherFault.allCases {
                var fresh = 0
                var example: PublisherFaults.Example?
                for lane in lanes where lane.publishers.partitionCounts[place] == partitions {
                    let key = Key(lane: lane.number, topic: topic, fault: fault)
                    let count = lane.publishers.count(fault, ofTopic: place)
                    let before = seen[key].map { $0.partitions == partitions ? $0.count : 0 } ?? 0
                    seen[key] = (partitions, count)
                    guard count > before else { continue }
                    fresh += count - before
                    example = lane.publishers.example(fault, ofTopic: place) ?? example
                }
                guard fresh > 0, let example else { continue }
                news.append(FaultyRecords(topic: topic, fault: fault, count: fresh, example: example, at: now))
            }
        }
        for var records in news {
            let former = found.firstIndex { $0.topic == records.topic && $0.fault == records.fault }
            if let former {
                records.count += found[former].count
                found[former] = records
            } else {
                found.append(records)
            }
        }
        return news
    }
}
