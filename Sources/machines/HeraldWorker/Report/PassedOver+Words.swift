import HeraldCore
package import HeraldEvents
import HeraldKafka

extension PassedOver {
    /// The event, for the middle of a sentence.
    fileprivate var what: String {
        let place = "partition \(topic) [\(partition)]"
        return switch cause {
        case .cut:
            "\(place) ends before offset \(stood), up to which it was read, because its log was cut off (an unclean election, a "
                + "replaced disk, a restored broker); what is left was read before, what is new is called, and \(lost)"
        case .unproven:
            "\(place) ends before offset \(stood), up to which the group had read it, and nothing shows whether its log was "
                + "cut off or its topic recreated; so that nobody is called again, \(passed), and what is new is called"
        case .replaced:
            "\(place) has other records from offset \(offsets.lowerBound) on than were read there: its log was cut off, or its "
                + "topic recreated, and has grown since; they are called, although the group stood at offset \(stood), and "
                + lost
        case .foreign:
            "in \(place) the group's offset went from \(offsets.lowerBound) to \(offsets.upperBound) without Herald, because "
                + "another program commits in this group (kafka.group); \(count) offsets were passed over, and nobody was "
                + "called for what lies there"
        }
    }

    /// The remedy, for the middle of a sentence.
    ///
    /// - Parameter others: all partitions that it happened to for the same cause.
    fileprivate func step(in group: GroupAddress, of others: [PassedOver]) -> String {
        switch cause {
        case .cut, .replaced:
            unknown > 0 ? "have their publisher publish those again that still matter" : "nothing to do"
        case .unproven:
            "to call them too, stop all workers and run `\(group.command(of: others)) --reset-offsets --to-earliest "
                + "--execute`; if the log was cut off, \(lost)"
        case .foreign:
            "give that program a group of its own; to call those alone that have no outcome, stop all workers and run "
                + "`\(group.command(of: others)) --delete-offsets`, then `herald offsets restore`"
        }
    }

    /// The log's loss, for the middle of a sentence.
    private var lost: String {
        let records =
            gone.count == 1
            ? "the record of offset \(gone.lowerBound) is gone"
            : "the records of offsets \(gone.lowerBound) to \(gone.upperBound - 1) are gone"
        guard unknown > 0 else { return "\(records), which \(gone.count == 1 ? "was" : "were") read before and called" }
        return
            "\(records), of which \(accepted) \(accepted == 1 ? "was" : "were") read before and called, and of \(unknown) no "
            + "outcome is known"
    }

    /// The loss of another partition's log, in a phrase.
    fileprivate var summary: String {
        guard cause != .foreign else { return "\(topic) [\(partition)] (\(count) passed over)" }
        return "\(topic) [\(partition)] (\(gone.count) gone, \(unknown) without a known outcome)"
    }

    private var passed: String {
        count == 1
            ? "offset \(offsets.lowerBound) is passed over"
            : "offsets \(offsets.lowerBound) to \(offsets.upperBound - 1) are passed over"
    }
}

extension [PassedOver] {
    /// The number of partitions that are listed beside the first.
    private static var listed: Int { 5 }

    /// The event and the remedy, for all these partitions; `nil` without any.
    package func finding(in group: GroupAddress) -> Finding? {
        guard let first else { return nil }
        let others = dropFirst()
        let more = others.count > Self.listed ? " and \(others.count - Self.listed) more" : ""
        let names = others.prefix(Self.listed).map(\.summary).joined(separator: ", ")
        return Finding(
            .offsetsPassedOver, first.what + (others.isEmpty ? "" : "; the same happened in \(names)\(more)"),
            place: map { "\($0.topic)/\($0.partition)" },
            step: first.step(in: group, of: filter { $0.cause == first.cause }),
            numbers: ["passedOver": reduce(0) { $0 + $1.count }, "unknown": reduce(0) { $0 + $1.unknown }])
    }
}

/// Where a group is, for Kafka's own command.
package struct GroupAddress: Sendable, Equatable {
    package var name: String
    /// `kafka.bootstrapServers`.
    package var servers: String

    package init(name: String = "", servers: String = "") { (self.name, self.servers) = (name, servers) }

    /// The address that a consumer with these properties has.
    init(_ properties: ClientProperties) {
        self.init(name: properties["group.id"] ?? "", servers: properties["bootstrap.servers"] ?? "")
    }

    fileprivate func command(of places: [PassedOver]) -> String {
        var numbers: [String: [Int32]] = [:]
        for place in places { numbers[place.topic, default: []].append(place.partition) }
        let topics = numbers.sorted { $0.key < $1.key }.map { topic, numbers in
            "--topic \(topic):\(Set(numbers).sorted().map { "\($0)" }.joined(separator: ","))"
        }
        return "kafka-consumer-groups --bootstrap-server \(servers) --group \(name) " + topics.joined(separator: " ")
    }
}
