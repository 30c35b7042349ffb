import HeraldEvents
import HeraldKafka
import HeraldThreads
import HeraldTime
import HeraldTools

/// Finds out which notifications of the last day came late, on a thread of its own: by their results, and by the requests
/// of those that may have been late.
///
/// However much there is, it reads a bounded part of each quarter of an hour; the newest first, and again while it lasts.
final class PastWatch: Sendable {
    private static let turn = Duration.seconds(60)
    private static let pauseAfterFailure = Duration.seconds(5)
    private static let questionMilliseconds = 4_000
    /// A reading ends after so long, whatever is left.
    private static let patience = Duration.seconds(10)
    /// So often requests are read for one piece of results at most.
    private static let requestReadings = 32
    /// A quarter of an hour is looked at until so long after its end: transactions become readable late.
    private static let settledMilliseconds: Int64 = 120_000

    /// What is known so far.
    struct Known: Sendable {
        var past = LatePast()
        /// Whether the whole day was looked at.
        var isComplete = false
    }

    /// A result that is to be judged.
    private struct Candidate {
        var request: TopicPartition
        var offset: Int64
        var completed: WallTime
        var weight: Double
    }

    /// The partitions that there are.
    private struct Places {
        var results: [TopicPartition]
        var requests: Set<TopicPartition>
    }

    private let plan: NowPlan
    private let decoder: RecordDecoder
    private let state = Guarded(Known())
    private let wakeup: Wakeup

    init(_ plan: NowPlan, decoder: RecordDecoder) throws(SystemError) {
        self.plan = plan
        self.decoder = decoder
        wakeup = try Wakeup()
    }

    var known: Known { state.withLock { $0 } }

    func start() throws(SystemError) {
        _ = try OwnThread(name: "console-past") { [self] in run() }
    }

    /// Reads no more; what is under way ends by itself.
    func stop() { wakeup.signal() }

    private func run() {
        repeat {
            // Topics that are missing or forbidden, and brokers that are away, are looked at again.
            try? follow()
        } while !wakeup.wait(for: Self.pauseAfterFailure)
    }

    private func follow() throws {
        // What lies behind a piece is fetched with it: as little as possible.
        let properties = plan.readerProperties + [("max.partition.fetch.bytes", "16384")]
        let reader = try TopicReader(properties: properties, patience: Self.patience)
        defer { reader.close() }
        var oldest = LatePast.quarter(of: SystemClock.wall()) - LatePast.quarters + 1
        repeat {
            let now = SystemClock.wall()
            let places = try places(reader)
            for number in stride(from: LatePast.quarter(of: now), through: oldest, by: -1) {
                guard !wakeup.wait(for: .zero) else { return }
                let quarter = try look(at: number, places, reader)
                state.withLock { $0.past.note(quarter, number: number, now: now) }
            }
            state.withLock { $0.isComplete = true }
            oldest = LatePast.quarter(of: now.advanced(byMilliseconds: -Self.settledMilliseconds))
        } while !wakeup.wait(for: Self.turn)
    }

    private func places(_ reader: TopicReader) throws -> Places {
        func partitions(_ topic: String) throws -> [TopicPartition] {
            try reader.consumer.queries.partitions(of: topic, timeoutMilliseconds: Self.questionMilliseconds)
        }
        return Places(
            results: try partitions(plan.topics.results), requests: Set(try plan.topics.requests.flatMap(partitions)))
    }

    private func look(at number: Int64, _ places: Places, _ reader: TopicReader) throws -> PastQuarter {
        var quarter = PastQuarter()
        let ranges = try self.ranges(places.results, number, reader)
        var rounds: [[TopicPartition: Range<Int64>]] = []
        var weights: [TopicPartition: Double] = [:]
        for (partition, range) in ranges {
            let pieces = SampleRanges.pieces(of: range, partitions: ranges.count)
            let read = pieces.reduce(0) { $0 + $1.count }
            weights[partition] = Double(range.count) / Double(max(1, read))
            if read < range.count { quarter.isWhole = false }
            for (index, piece) in pieces.enumerated() {
                if index == rounds.count { rounds.append([:]) }
                rounds[index][partition] = piece
            }
        }
        for round in rounds { try look(at: round, weights, places, reader, &quarter) }
        return quarter
    }

    /// Which offsets of the results are of this quarter of an hour.
    private func ranges(
        _ partitions: [TopicPartition], _ number: Int64, _ reader: TopicReader
    ) throws -> [TopicPartition: Range<Int64>] {
        let begin = number * PastQuarter.milliseconds
        let limit = Self.questionMilliseconds
        let queries = reader.consumer.queries
        let begins = try queries.offsets(of: partitions, at: begin, timeoutMilliseconds: limit)
        guard !begins.isEmpty else { return [:] }
        let some = Array(begins.keys)
        let ends = try queries.offsets(of: some, at: begin + PastQuarter.milliseconds, timeoutMilliseconds: limit)
        let last = try queries.ends(of: some, timeoutMilliseconds: limit)
        var ranges: [TopicPartition: Range<Int64>] = [:]
        for (partition, begin) in begins {
            if let end = ends[partition] ?? last[partition], begin < end { ranges[partition] = begin..<end }
        }
        return ranges
    }

    private func look(
        at round: [TopicPartition: Range<Int64>], _ weights: [TopicPartition: Double], _ places: Places,
        _ reader: TopicReader, _ quarter: inout PastQuarter
    ) throws {
        var candidates: [Candidate] = []
        let topic = plan.topics.results
        try reader.read(round, within: Self.patience, unless: wakeup) { message in
            // A replay was not late, but failed first.
            guard let value = message.valueCopy, let result = try? NotificationResult(decoding: value),
                result.outcome == .delivered, result.replays == 0
            else { return }
            let request = TopicPartition(topic: result.origin.topic, partition: result.origin.partition)
            guard places.requests.contains(request) else { return }
            let place = TopicPartition(topic: topic, partition: message.partition)
            candidates.append(
                Candidate(
                    request: request, offset: result.origin.offset, completed: result.completedAt,
                    weight: weights[place] ?? 1))
        }
        guard let last = candidates.map(\.completed).max() else { return }
        // What was published within a minute before the last of them is not late; only the rest is looked up.
        let bounds = try reader.consumer.queries.offsets(
            of: Array(Set(candidates.map(\.request))), at: last.milliseconds - PastQuarter.lateMilliseconds,
            timeoutMilliseconds: Self.questionMilliseconds)
        var old: [Candidate] = []
        for candidate in candidates {
            if let bound = bounds[candidate.request], candidate.offset >= bound {
                quarter.add(due: nil, completed: candidate.completed, weight: candidate.weight)
            } else {
                old.append(candidate)
            }
        }
        let due = try dueMoments(old, reader)
        for candidate in old {
            // A request that is gone tells nothing.
            guard let due = due[candidate.request]?[candidate.offset] else {
                quarter.isWhole = false
                continue
            }
            quarter.add(due: due, completed: candidate.completed, weight: candidate.weight)
        }
    }

    /// When the requests of these were published, or are due if that is later.
    private func dueMoments(
        _ candidates: [Candidate], _ reader: TopicReader
    ) throws -> [TopicPartition: [Int64: WallTime]] {
        let wanted = Dictionary(grouping: candidates, by: \.request).mapValues {
            SampleRanges.covering($0.map(\.offset))
        }
        var found: [TopicPartition: [Int64: WallTime]] = [:]
        var event = DecodedEvent()
        let rounds = min(Self.requestReadings, wanted.values.map(\.count).max() ?? 0)
        for index in 0..<rounds {
            let round = wanted.compactMapValues { index < $0.count ? $0[index] : nil }
            try reader.read(round, within: Self.patience, unless: wakeup) { message in
                let place = TopicPartition(topic: message.topicName(), partition: message.partition)
                found[place, default: [:]][message.offset] = due(message, place, &event)
            }
        }
        return found
    }

    private func due(_ message: borrowing Message, _ place: TopicPartition, _ event: inout DecodedEvent) -> WallTime {
        let published = WallTime(milliseconds: message.timestampMilliseconds)
        guard let value = message.valueCopy else { return published }
        var headers = HeaderList()
        message.forEachHeader { headers.append(name: $0, value: $1) }
        _ = decoder.decode(
            topicKind: .request, topic: place.topic, partition: place.partition, offset: message.offset,
            value: value.span.bytes, headers: headers, into: &event)
        return max(published, event.notBefore ?? published)
    }
}
