public import HeraldCore

extension PassedOver {
    /// What happened and what to do.
    public var sentence: String {
        let place = "\(topic) [\(partition)]"
        return switch cause {
        case .cut:
            "\(place) ends before offset \(stood), up to which it was read, because its log was cut off (an unclean election, a "
                + "replaced disk, a restored broker). What is left was read before, what is new is called, and \(lost)."
        case .unproven:
            "\(place) ends before offset \(stood), up to which the group had read it, and nothing shows whether its log was "
                + "cut off or its topic recreated. If it was cut off, \(lost). So that nobody is called again, \(passed), and "
                + "what is new is called. To call them too, \(command(to: "earliest"))."
        case .replaced:
            "\(place) has other records from offset \(offsets.lowerBound) on than were read there: its log was cut off, or its "
                + "topic recreated, and has grown since. They are called, although the group stood at offset \(stood); \(lost)."
        case .foreign:
            "\(place): the group's offset went from \(offsets.lowerBound) to \(offsets.upperBound) without Herald: another "
                + "program commits in this group (kafka.group). \(count) offsets were passed over, and nobody was called for what "
                + "lies there. Give that program a group of its own; to call those alone that have no outcome, stop all workers and "
                + "run kafka-consumer-groups --group GROUP --topic \(topic):\(partition) --delete-offsets (GROUP is "
                + "kafka.group), then herald offsets restore."
        }
    }

    /// What the log has lost, in the middle of a sentence.
    private var lost: String {
        let records =
            gone.count == 1
            ? "the record of offset \(gone.lowerBound) is gone"
            : "the records of offsets \(gone.lowerBound) to \(gone.upperBound - 1) are gone"
        guard unknown > 0 else { return "\(records), which \(gone.count == 1 ? "was" : "were") read before and called" }
        return
            "\(records), of which \(accepted) \(accepted == 1 ? "was" : "were") read before and called, and of \(unknown) no "
            + "outcome is known: have their publisher publish those again that still matter"
    }

    /// What the log of another partition has lost, in a phrase.
    fileprivate var summary: String {
        guard cause != .foreign else { return "\(topic) [\(partition)] (\(count) passed over)" }
        return "\(topic) [\(partition)] (\(gone.count) gone, \(unknown) without a known outcome)"
    }

    private var passed: String {
        count == 1
            ? "offset \(offsets.lowerBound) is passed over"
            : "offsets \(offsets.lowerBound) to \(offsets.upperBound - 1) are passed over"
    }

    private func command(to place: String) -> String {
        "stop all workers and run kafka-consumer-groups --group GROUP --topic \(topic):\(partition) --reset-offsets "
            + "--to-\(place) --execute (GROUP is kafka.group)"
    }
}

extension [PassedOver] {
    /// So many partitions are listed beside the first.
    private static var listed: Int { 5 }

    /// What happened and what to do, in all these partitions; `nil` without any.
    public var sentence: String? {
        guard let first else { return nil }
        let others = dropFirst()
        guard !others.isEmpty else { return first.sentence }
        let more = others.count > Self.listed ? " and \(others.count - Self.listed) more" : ""
        let names = others.prefix(Self.listed).map(\.summary).joined(separator: ", ")
        return "\(first.sentence) The same happened in \(names)\(more)."
    }
}
