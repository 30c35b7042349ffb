import HeraldEvents
import HeraldKafka
import HeraldThreads
import HeraldTime
import HeraldTimeline
import HeraldTools

/// Finds out which events of the last day came late, on a thread of its own: by their results, and by the requests of those
/// that may have been late.
///
/// Each result is read once: what comes, and the day before the console's start a quarter of an hour at a time, the newest
/// first. However much there is, it reads a bounded part of it in each turn; what it leaves out is known to be missing.
final class PastWatch: ClusterWatch {
    static let threadName = "console-past"
    private static let turn = Duration.seconds(15)
    private static let questionTimeout = Milliseconds.seconds(4)
    /// A reading ends after so long, whatever is left.
    private static let patience = Duration.seconds(30)
    /// So many results are read at one look at a quarter of an hour, of all partitions together.
    private static let lookLimit: Int64 = 50_000
    /// The requests of so many deliveries are all read; of more those alone that are older by their place: a record behind one
    /// of the last minute is of the last minute, unless its publisher gave it an older time.
    private static let requestLimit = 5_000
    /// So often requests are read for one look at most.
    private static let requestReadings = 64
    /// A quarter of an hour is looked at until so long after its end: transactions become readable late.
    private static let settledAfter: Milliseconds = .minutes(2)

    private struct Progress {
        var past = LatePast()
        var audit = AuditPast()
        /// Where the reading of the audit topic goes on.
        var nextAudit: [TopicPartition: Int64] = [:]
        /// Quarters of an hour that are over and were read.
        var settled: Set<Int64> = []
        /// Where the next look at a quarter of an hour goes on, in each partition of the results.
        var next: [Int64: [TopicPartition: Int64]] = [:]

        mutating func forget(now: WallTime) {
            let oldest = LatePast.quarter(of: now) - LatePast.quarters + 1
            past.forget(now: now)
            audit.forget(now: now)
            settled = settled.filter { $0 >= oldest }
            next = next.filter { $0.key >= oldest && !settled.contains($0.key) }
        }

        /// The newest quarter of an hour before this one that was not read yet; `nil` when the whole day was.
        func unread(before newest: Int64) -> Int64? {
            stride(from: newest - 1, to: newest - LatePast.quarters, by: -1).first { !settled.contains($0) }
        }
    }

    private typealias Places = (results: [TopicPartition], requests: Set<TopicPartition>)

    private let plan: NowPlan
    private let state = Guarded(LatePast.Report())
    private let audited = Guarded(AuditPast())
    let wakeup: Wakeup

    init(_ plan: NowPlan) throws(SystemError) {
        self.plan = plan
        wakeup = try Wakeup()
    }

    /// What the audit topic tells of the day.
    var audit: AuditPast { audited.withLock { $0 } }

    var report: LatePast.Report { state.withLock { $0 } }

    func run() {
        var progress = Progress()
        repeated { try follow(&progress) }
    }

    private func follow(_ progress: inout Progress) throws {
        // What lies behind a range is fetched with it: little.
        let properties = plan.readerProperties + [("max.partition.fetch.bytes", "65536")]
        let reader = try TopicReader(properties: properties, patience: Self.patience)
        defer { reader.close() }
        repeat {
            let end = ContinuousClock.now + Self.turn
            let now = SystemClock.wall()
            let places = try places(reader)
            progress.forget(now: now)
            try? followAudit(reader, &progress, now)
            // What is not settled may grow.
            let newest = LatePast.quarter(of: now)
            let open = LatePast.quarter(of: now.advanced(by: -Self.settledAfter))
            for number in stride(from: newest, through: open, by: -1) {
                try look(at: number, places, reader, &progress)
            }
            publish(progress, isComplete: progress.unread(before: open) == nil)
            while let number = progress.unread(before: open), ContinuousClock.now < end {
                let begin = ContinuousClock.now
                try look(at: number, places, reader, &progress)
                progress.settled.insert(number)
                publish(progress, isComplete: progress.unread(before: open) == nil)
                // Looking back leaves half of the processor to other work.
                guard !wakeup.wait(for: .now - begin) else { return }
            }
            guard !wakeup.wait(for: max(.zero, end - .now)) else { return }
        } while true
    }

    /// Reads what the audit topic has of the day and was not read yet.
    private func followAudit(_ reader: TopicReader, _ progress: inout Progress, _ now: WallTime) throws {
        let topic = plan.search.topics.audit
        let partitions = try reader.consumer.queries.partitions(of: topic, timeout: Self.questionTimeout)
        let begins = try reader.consumer.queries.offsets(
            of: partitions, at: now.advanced(by: .days(-1)).milliseconds, timeout: Self.questionTimeout)
        let ends = try reader.consumer.queries.ends(of: partitions, timeout: Self.questionTimeout)
        var ranges: [TopicPartition: Range<Int64>] = [:]
        for (partition, begin) in begins {
            guard let end = ends[partition] else { continue }
            // A topic that was recreated begins again.
            let next = progress.nextAudit[partition].flatMap { $0 <= end ? $0 : nil } ?? begin
            ranges[partition] = max(begin, next)..<max(begin, next, end)
        }
        try reader.read(ranges.filter { !$0.value.isEmpty }, within: Self.patience, unless: wakeup) {
            let partition = TopicPartition(topic: topic, partition: $0.partition)
            progress.nextAudit[partition] = $0.offset + 1
            progress.audit.add(
                AuditRecord(
                    partition: $0.partition, offset: $0.offset, at: WallTime(milliseconds: $0.timestampMilliseconds),
                    value: $0.valueCopy))
        }
        audited.withLock { [audit = progress.audit] in $0 = audit }
    }

    private func publish(_ progress: Progress, isComplete: Bool) {
        var report = progress.past.report
        report.isComplete = isComplete
        state.withLock { [report] in $0 = report }
    }

    private func places(_ reader: TopicReader) throws -> Places {
        func partitions(_ topic: String) throws -> [TopicPartition] {
            try reader.consumer.queries.partitions(of: topic, timeout: Self.questionTimeout)
        }
        let topics = plan.search.topics
        return (try partitions(topics.results), Set(try topics.requests.flatMap(partitions)))
    }

    /// Reads what it has not read yet of this quarter of an hour.
    private func look(
        at number: Int64, _ places: Places, _ reader: TopicReader, _ progress: inout Progress
    ) throws {
        let ranges = try self.ranges(places.results, number, progress.next[number] ?? [:], reader)
        let total = ranges.values.reduce(0) { $0 + Int64($1.count) }
        var rounds: [[TopicPartition: Range<Int64>]] = []
        var weights: [TopicPartition: Double] = [:]
        for (index, (partition, range)) in ranges.enumerated() {
            let share = total <= Self.lookLimit ? Int64(range.count) : Int64(range.count) * Self.lookLimit / total
            let pieces = SampleRanges.pieces(
                of: range, limit: share, shift: Double(index) / Double(max(1, ranges.count)))
            weights[partition] = Double(range.count) / Double(max(1, pieces.reduce(0) { $0 + $1.count }))
            for (round, piece) in pieces.enumerated() {
                if round == rounds.count { rounds.append([:]) }
                rounds[round][partition] = piece
            }
        }
        var isWhole = total <= Self.lookLimit
        var deliveries: [PastDelivery] = []
        for round in rounds {
            let isRead = try read(round, weights, places, reader, &deliveries)
            isWhole = isWhole && isRead
        }
        // Nothing is taken twice when this fails: the requests are asked for first.
        let dues = try dueMoments(deliveries, reader)
        for delivery in deliveries {
            let bound = dues.bounds[LatePast.minute(delivery.completed)]?[delivery.request]
            if let bound, delivery.offset >= bound {
                progress.past.add(delivery, due: nil, quarter: number)
            } else if let due = dues.moments[delivery.request]?[delivery.offset] {
                progress.past.add(delivery, due: due, quarter: number)
            } else {
                // A request that is gone tells nothing.
                isWhole = false
            }
        }
        progress.past.noteLook(at: number, isWhole: isWhole)
        for (partition, range) in ranges { progress.next[number, default: [:]][partition] = range.upperBound }
    }

    /// Which offsets of the results are of this quarter of an hour.
    private func ranges(
        _ partitions: [TopicPartition], _ number: Int64, _ next: [TopicPartition: Int64], _ reader: TopicReader
    ) throws -> [TopicPartition: Range<Int64>] {
        let begin = number * LatePast.quarterLength.count
        let limit = Self.questionTimeout
        let queries = reader.consumer.queries
        let begins = try queries.offsets(of: partitions, at: begin, timeout: limit)
        guard !begins.isEmpty else { return [:] }
        let some = Array(begins.keys)
        let ends = try queries.offsets(of: some, at: begin + LatePast.quarterLength.count, timeout: limit)
        let last = try queries.ends(of: some, timeout: limit)
        var ranges: [TopicPartition: Range<Int64>] = [:]
        for (partition, begin) in begins {
            guard let last = last[partition] else { continue }
            // What is not committed yet is read at a later look; a topic that was recreated begins again.
            let end = min(ends[partition] ?? last, last)
            let begin = max(begin, next[partition].map { $0 <= last ? $0 : 0 } ?? 0)
            if begin < end { ranges[partition] = begin..<end }
        }
        return ranges
    }

    private func read(
        _ round: [TopicPartition: Range<Int64>], _ weights: [TopicPartition: Double], _ places: Places,
        _ reader: TopicReader, _ deliveries: inout [PastDelivery]
    ) throws -> Bool {
        let topic = plan.search.topics.results
        return try reader.read(round, within: Self.patience, unless: wakeup) { message in
            // A replay was not late, but failed first.
            guard let result = message.result, result.outcome.standing == .reached, result.replays == 0 else { return }
            let request = TopicPartition(topic: result.origin.topic, partition: result.origin.partition)
            guard places.requests.contains(request) else { return }
            let place = TopicPartition(topic: topic, partition: message.partition)
            deliveries.append(
                PastDelivery(
                    request: request, offset: result.origin.offset, completed: result.completedAt,
                    weight: weights[place] ?? 1))
        }
    }

    /// What tells whether deliveries were late.
    private struct Dues {
        /// For those of a minute: from which offset on a request is too young to be late.
        var bounds: [Int64: [TopicPartition: Int64]] = [:]
        /// When the other requests were published, or are due if that is later; `nil` where nobody can say.
        var moments: [TopicPartition: [Int64: WallTime?]] = [:]
    }

    private func dueMoments(_ deliveries: [PastDelivery], _ reader: TopicReader) throws -> Dues {
        var dues = Dues()
        var wanted: [TopicPartition: [Int64]] = [:]
        let isSmall = deliveries.count <= Self.requestLimit
        if isSmall { for one in deliveries { wanted[one.request, default: []].append(one.offset) } }
        let minutes = isSmall ? [:] : Dictionary(grouping: deliveries) { LatePast.minute($0.completed) }
        for (minute, members) in minutes {
            guard let last = members.map(\.completed).max() else { continue }
            // What was published within a minute before the last of them is not late; only the rest is looked up.
            let bounds = try reader.consumer.queries.offsets(
                of: Array(Set(members.map(\.request))), at: last.milliseconds - LatePast.lateAfter.count,
                timeout: Self.questionTimeout)
            dues.bounds[minute] = bounds
            for one in members where bounds[one.request].map({ one.offset < $0 }) ?? true {
                wanted[one.request, default: []].append(one.offset)
            }
        }
        let ranges = wanted.mapValues { SampleRanges.covering($0) }
        var event = DecodedEvent()
        for index in 0..<min(Self.requestReadings, ranges.values.map(\.count).max() ?? 0) {
            let round = ranges.compactMapValues { index < $0.count ? $0[index] : nil }
            try reader.read(round, within: Self.patience, unless: wakeup) { message in
                let place = TopicPartition(topic: message.topicName(), partition: message.partition)
                dues.moments[place, default: [:]].updateValue(due(message, place, &event), forKey: message.offset)
            }
        }
        return dues
    }

    private func due(_ message: borrowing Message, _ place: TopicPartition, _ event: inout DecodedEvent) -> WallTime? {
        let now = SystemClock.wall()
        let published = WallTime(milliseconds: message.timestampMilliseconds).credible(now: now)
        guard let value = message.valueCopy else { return published }
        var headers = HeaderList()
        message.forEachHeader { headers.append(name: $0, value: $1) }
        _ = plan.search.decoder.decode(
            topicKind: .request, topic: place.topic, partition: place.partition, offset: message.offset,
            value: value.span.bytes, headers: headers, into: &event)
        guard let published else { return event.notBefore?.credible(now: now) }
        return max(published, event.notBefore ?? published)
    }
}
