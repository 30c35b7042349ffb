import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

/// Distinguishes partitions whose offsets were lost from those never consumed.
///
/// It is only used on the helper's queue. A worker with all its offsets asks nothing.
final class LostOffsets: Sendable {
    /// The time for reading the results for one answer: an assignment waits for it.
    private static let patience = Duration.seconds(2)
    private static let questionTimeout: Milliseconds = .seconds(10)

    private let topics: Topics
    private let delays: [DelayName]
    /// The reader's properties, `read_committed`.
    private let properties: ClientProperties
    private let logger: Logger
    private nonisolated(unsafe) var search: OutcomeSearch?
    /// The other groups with offsets, once the present search has found an outcome.
    private nonisolated(unsafe) var otherGroups: OtherGroups?
    /// The trouble logged in the present search.
    private nonisolated(unsafe) var trouble: KafkaError?

    init(topics: Topics, delays: [DelayName], properties: ClientProperties, logger: Logger) {
        self.topics = topics
        self.delays = delays
        self.properties = properties
        self.logger = logger
    }

    /// The starts, with the evidence of results and retries about partitions without an offset; these wait while it is
    /// unknown.
    func judged(_ starts: [StartPosition], queries: ConsumerQueries) -> [StartPosition] {
        let fresh = starts.filter { $0.committed.offset < 0 }.map(\.committed.partition)
        guard !fresh.isEmpty else {
            close()
            return starts
        }
        let begins = queries.answers(Offset.beginning, of: fresh, timeout: Self.questionTimeout)
        let ends = queries.answers(Offset.end, of: fresh, timeout: Self.questionTimeout)
        do throws(KafkaError) {
            let evidence = try evidence(of: fresh, begins.failures, queries)
            let judged = starts.map { start in
                var start = start
                let partition = start.committed.partition
                start.evidence = evidence[partition] ?? .absent
                if start.evidence == .outcomes { start.otherGroups = otherGroups }
                if let begin = begins.found[partition], let end = ends.found[partition] {
                    start.retained = begin..<max(begin, end)
                }
                return start
            }
            return try committed(judged, begins.found, queries)
        } catch {
            return starts.map { start in
                start.committed.offset < 0 ? StartPosition(unanswered: start.committed.partition, error) : start
            }
        }
    }

    private func evidence(
        of fresh: [TopicPartition], _ failures: [TopicPartition: KafkaError], _ queries: ConsumerQueries
    ) throws(KafkaError) -> [TopicPartition: StartPosition.Evidence] {
        let answered = fresh.filter { failures[$0] == nil }
        var evidence = failures.mapValues(StartPosition.Evidence.unanswered)
        guard !answered.isEmpty else { return evidence }
        evidence.merge(try self.evidence(of: answered, queries)) { $1 }
        // Partitions that begin: an offset restored at this moment is found when they are asked for again.
        let begun = answered.filter { evidence[$0] == .absent }
        if !begun.isEmpty {
            for position in try queries.committed(begun, timeout: Self.questionTimeout) where position.offset >= 0 {
                evidence[position.partition] = .sought
            }
        }
        return evidence
    }

    /// A group loses its offsets together, and doubtful partitions wait together: an outcome names its request, whose
    /// partition may be another worker's.
    private func evidence(
        of fresh: [TopicPartition], _ queries: ConsumerQueries
    ) throws(KafkaError) -> [TopicPartition: StartPosition.Evidence] {
        let lost = try lostRequests(queries)
        let isOver = lost.isEmpty || find(Set(lost))
        let isFound = !lost.isEmpty && search?.hasFound == true
        if isFound, otherGroups == nil { otherGroups = findOtherGroups(lost) }
        return Dictionary(fresh.map { ($0, isFound ? .outcomes : isOver ? .absent : .sought) }) { $1 }
    }

    /// One of them may be the workers' own, under its former name.
    private func findOtherGroups(_ lost: [TopicPartition]) -> OtherGroups {
        OtherGroups(
            besides: properties["group.id"] ?? "", on: lost, properties: properties, patience: Self.patience,
            author: CompletionMap.author(of:committed:in:_:_:))
    }

    /// The request partitions, of this worker and others, that have records, in topics without any offset.
    ///
    /// In a topic with some offsets, a partition without one is new: the topic has grown.
    private func lostRequests(_ queries: ConsumerQueries) throws(KafkaError) -> [TopicPartition] {
        var lost: [TopicPartition] = []
        for topic in topics.requests {
            let all = try queries.partitions(of: topic, timeout: Self.questionTimeout)
            let committed = try queries.committed(all, timeout: Self.questionTimeout)
            if committed.allSatisfy({ $0.offset < 0 }) { lost += all }
        }
        guard !lost.isEmpty else { return [] }
        // An embedded broker answers neither: there nothing is lost, because nothing is kept.
        let begins = queries.answers(Offset.beginning, of: lost, timeout: Self.questionTimeout)
        let ends = queries.answers(Offset.end, of: lost, timeout: Self.questionTimeout)
        return lost.filter {
            (begins.found[$0] ?? 0) < (ends.found[$0] ?? 0) || begins.failures[$0] != nil || ends.failures[$0] != nil
        }
    }

    /// Continues the search; true when everything about these partitions is known.
    private func find(_ wanted: Set<TopicPartition>) -> Bool {
        do throws(KafkaError) {
            if search.map({ wanted.isSubset(of: $0.partitions) }) != true {
                close()
                search = try OutcomeSearch(of: wanted, topics: topics, delays: delays, properties: properties)
            }
            try search?.search(for: Self.patience)
            trouble = nil
        } catch {
            // Logged once: it is asked again every second.
            if trouble?.code != error.code {
                logger.warning(
                    "results and retries could not be read: partitions without an offset wait until it is known whether "
                        + "their events have outcomes: \(error)"
                        + error.advice(KafkaPermission(.read, on: .topic(topics.results))))
            }
            close()
            trouble = error
        }
        return search?.isOver ?? false
    }

    /// Commits the first offset of beginning partitions, before their first record is taken.
    ///
    /// Outside of transactions results come before their offset, and a crash between the two would look like lost
    /// offsets; so would, in each rebalance, a topic without any taken record, where another group's outcomes are in
    /// the same results topic (`herald sandbox`).
    private func committed(
        _ starts: [StartPosition], _ begins: [TopicPartition: Int64], _ queries: ConsumerQueries
    ) throws(KafkaError) -> [StartPosition] {
        var starts = starts
        var positions: [CommitPosition] = []
        for index in starts.indices where starts[index].committed.offset < 0 && starts[index].evidence == .absent {
            guard let begin = begins[starts[index].committed.partition] else { continue }
            starts[index].committed.offset = begin
            positions.append(starts[index].committed)
        }
        if !positions.isEmpty { try queries.commit(positions) }
        return starts
    }

    func close() {
        search?.close()
        (search, otherGroups) = (nil, nil)
    }
}
