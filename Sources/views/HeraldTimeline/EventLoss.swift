package import HeraldEvents
package import HeraldKafka
package import HeraldTools

/// How an event without an outcome was lost, as far as its topics and the group's offsets show.
package enum EventLoss: Sendable, Equatable {
    /// Its retry was deleted before it was read; the partition begins there.
    case deleted(Origin, begin: Int64)
    /// The group has passed its retry, and these records, beside which a later one would wait, were deleted unread.
    case deletedLater(Origin, [LostSpan])
    /// The group has passed its retry, and no later one is known.
    case passed(Origin)
    /// The group has passed its request, and these records, beside which its retry would wait, were deleted unread.
    case deletedRetry([LostSpan])
    /// Records were deleted beside which its retry would wait, and no worker has said yet whether it had read them before.
    case undecided([TopicPartition])

    /// How it was lost; `nil` when it is not, as far as is known: what a worker has in memory is not.
    ///
    /// - Parameters:
    ///   - standing: where the group stands in the partition of its retry.
    ///   - lost: what was deleted unread of the partitions of retry topics that may have had its record.
    ///   - committed: where the group stands in the partition of its request.
    ///   - undecided: the partitions of which no worker has said yet what is lost.
    ///   - waiting: what the workers say that may have it in memory.
    init?(
        of event: EventTimeline, standing: Explanation.Standing?, lost: [LostSpan], committed: Int64?,
        undecided: Set<TopicPartition>, waiting: Explanation.Waiting
    ) {
        guard waiting.event == nil else { return nil }
        let open = lost.filter { $0.skip == nil && undecided.contains($0.partition) }.map(\.partition)
        guard let record = event.delay?.record else {
            let isRequest = event.lastPublication.map { $0 == event.origin } ?? true
            guard !lost.isEmpty, isRequest, let committed, committed > event.origin.offset else { return nil }
            self = open.isEmpty ? .deletedRetry(lost) : .undecided(open)
            return
        }
        guard let standing, let committed = standing.committed else { return nil }
        if committed <= record.offset, record.offset < standing.begin {
            self =
                undecided.contains(record.place) ? .undecided([record.place]) : .deleted(record, begin: standing.begin)
        } else if standing.hasPassed(record.offset) {
            self = !open.isEmpty ? .undecided(open) : lost.isEmpty ? .passed(record) : .deletedLater(record, lost)
        } else {
            return nil
        }
    }

    /// It in sentences, the first of which goes on from the push services' names.
    package var words: String {
        func named(_ record: Origin) -> String {
            "\(record.topic), partition \(record.partition), offset \(record.offset)"
        }
        func emptied(_ spans: [LostSpan]) -> String {
            spans.map { $0.words(", where it would wait,") }.joined(separator: "; ") + "."
        }
        return switch self {
        case .deleted(let record, let begin):
            "its retry is lost: its record (\(named(record))) was deleted before it was read; the partition begins at offset "
                + "\(begin). It is not called any more."
        case .deletedLater(let record, let spans):
            "the group has passed its retry (\(named(record))), and a later one is probably lost: \(emptied(spans))"
        case .passed(let record):
            "the group has passed its retry (\(named(record))), and no outcome of it was found. Either it was settled just now, "
                + "which another look shows, or the record was skipped (herald offsets skip-lost, or another program's "
                + "commit), and it is lost: it is not called any more."
        case .deletedRetry(let spans):
            "there is no outcome, and its retry is probably lost: \(emptied(spans))"
        case .undecided(let places):
            "records of \(places.names), where its retry would wait, were deleted, and it is not decided yet whether it is lost: the "
                + "worker may have read it before. Then it is called when it is due. Ask again, and do not publish it again before."
        }
    }

    /// Whether the partition still waits for somebody to acknowledge what was deleted there.
    var isOpen: Bool {
        switch self {
        case .deletedLater(_, let spans), .deletedRetry(let spans): spans.contains { $0.skip == nil }
        case .deleted, .passed, .undecided: false
        }
    }
}
