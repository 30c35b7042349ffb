public import HeraldCore

extension PassedOver {
    /// What happened and what to do.
    public var sentence: String {
        let place = "\(topic) [\(partition)]"
        return switch cause {
        case .cut:
            "\(place) ends before offset \(stood), up to which it was read, and what is left of it was read: its log was cut off (an "
                + "unclean election, a replaced disk, a restored broker). Nobody is called again: \(passed), and what is "
                + "new is called."
        case .unproven:
            "\(place) ends before offset \(stood), up to which the group had read it, and nothing shows whether its log was "
                + "cut off or its topic recreated. So that nobody is called again, \(passed), and what is new is called. To "
                + "call them too, \(command(to: "earliest"))."
        case .replaced:
            "\(place) has other records from offset \(offsets.lowerBound) on than were read there: its log was cut off, or its "
                + "topic recreated, and has grown since. They are called, although the group stood at offset \(stood)."
        case .foreign:
            "\(place): the group's offset went from \(offsets.lowerBound) to \(offsets.upperBound) without Herald: another "
                + "program commits in this group (kafka.group). \(count) offsets were passed over, and nobody was called for what "
                + "lies there. Give that program a group of its own; to call those alone that have no outcome, stop all workers and "
                + "run kafka-consumer-groups --group GROUP --topic \(topic):\(partition) --delete-offsets (GROUP is "
                + "kafka.group), then herald offsets restore."
        }
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
