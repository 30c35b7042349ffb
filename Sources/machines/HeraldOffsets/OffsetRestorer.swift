package import HeraldCore
internal import HeraldDriver
internal import HeraldEvents
package import HeraldKafka
internal import HeraldKernel
package import HeraldTime
internal import HeraldTools

/// Gives a group offsets where it has none.
package struct OffsetRestorer {
    /// What the offsets are taken from.
    package enum Source: String, Sendable, CaseIterable {
        /// Where the results say that the group stood.
        case results
        /// At the first record that is left: everything is consumed, again or not.
        case earliest
        /// At the end: only what is published from now on is consumed.
        case latest
    }

    /// What is to be written of a partition.
    package struct Restored: Sendable, Equatable {
        package var partition: TopicPartition
        package var position: OffsetRecovery.Position
    }

    /// What is to be written.
    package struct Plan: Sendable {
        package var source: Source
        package var partitions: [Restored] = []
        /// Since when all results are left; `nil` when none was deleted, or none is wanted.
        package var resultsSince: WallTime?

        /// The sum of one of a position's numbers.
        package func sum(_ number: KeyPath<OffsetRecovery.Position, Int>) -> Int {
            partitions.reduce(0) { $0 + $1.position[keyPath: number] }
        }
    }

    private let context: OffsetContext
    private let survey: OffsetSurvey

    package init(_ context: OffsetContext, _ survey: OffsetSurvey) {
        self.context = context
        self.survey = survey
    }

    /// Finds out where the group is to stand in these partitions.
    ///
    /// - Parameter onProgress: how many of how many records were passed; `false` ends the reading.
    /// - Returns: `nil` when the reading was ended.
    package func plan(
        _ source: Source, of missing: [PartitionOffsets], all: [PartitionOffsets],
        onProgress: (Int64, Int64) -> Bool
    ) throws -> Plan? {
        var plan = Plan(source: source)
        switch source {
        case .results:
            let since = try resultsSince()
            guard let positions = try recovered(missing, all, resultsSince: since, onProgress) else { return nil }
            plan.resultsSince = since
            plan.partitions = zip(missing, positions).map { Restored(partition: $0.partition, position: $1) }
        case .earliest, .latest:
            plan.partitions = missing.map { partition in
                let offset = source == .earliest ? partition.begin : partition.stable
                return Restored(
                    partition: partition.partition,
                    position: OffsetRecovery.Position(
                        offset: offset, open: Int(partition.stable - offset)))
            }
        }
        return plan
    }

    // MARK: Reading

    /// What transactions have written that are open now is waited for: a worker that was killed may have left them.
    private func recovered(
        _ missing: [PartitionOffsets], _ all: [PartitionOffsets], resultsSince: WallTime?,
        _ onProgress: (Int64, Int64) -> Bool
    ) throws -> [OffsetRecovery.Position]? {
        let places = missing.map {
            OffsetRecovery.Place(
                topic: $0.partition.topic, partition: $0.partition.partition, range: $0.begin..<$0.stable)
        }
        var recovery = OffsetRecovery(places, resultsSince: resultsSince)
        let isRequest = Set(context.topics.requests)
        let requests = missing.filter { isRequest.contains($0.partition.topic) }
        let retries = all.filter { !isRequest.contains($0.partition.topic) && $0.begin < $0.stable }
        var oldest = Int64.max
        for (partitions, end) in [(requests, nil), (retries, TopicReader.End.written)] {
            let isEnded = try !read(partitions, to: end, onProgress) { record, headers in
                let topic = record.topicName()
                let time = WallTime(milliseconds: max(0, record.timestampMilliseconds))
                var lineage = EventLineage(headers, context.pushServices)
                let isEmpty = record.withValue { $0 == nil }
                if isRequest.contains(topic) {
                    // As the workers read it: a record that names another request topic is no replay.
                    if let origin = lineage?.origin.topic, origin != topic, isRequest.contains(origin) { lineage = nil }
                    recovery.request(
                        topic, record.partition, record.offset, at: time, lineage: lineage, isEmpty: isEmpty)
                } else {
                    recovery.retry(topic, record.partition, record.offset, at: time, lineage: lineage, isEmpty: isEmpty)
                }
                oldest = min(oldest, time.milliseconds)
            }
            if isEnded { return nil }
        }
        guard try readResults(since: oldest, &recovery, onProgress) else { return nil }
        return recovery.positions(
            { PartitionIdentity(cluster: survey.cluster, topic: $0.topic, partition: $0.partition) }, of: places)
    }

    /// Reads partitions to this end, or to their last stable offset; whether it was reached.
    private func read(
        _ partitions: [PartitionOffsets], to end: TopicReader.End?, _ onProgress: (Int64, Int64) -> Bool,
        _ body: (Message, HeaderList) -> Void
    ) throws -> Bool {
        guard !partitions.isEmpty else { return true }
        let starts = partitions.map { ($0.partition, TopicReader.Start.offset($0.begin)) }
        let ends = partitions.map { ($0.partition, $0.stable) }
        try begin(Dictionary(starts) { $1 })
        var headers = HeaderList()
        return try survey.reader.catchUp(to: end ?? .offsets(Dictionary(ends) { $1 }), onProgress: onProgress) {
            record in
            headers.replaceAll(by: record)
            body(record, headers)
        }
    }

    private func readResults(
        since: Int64, _ recovery: inout OffsetRecovery, _ onProgress: (Int64, Int64) -> Bool
    ) throws -> Bool {
        try begin(Dictionary(resultPartitions().map { ($0, .moment(since)) }) { $1 })
        let names = Dictionary(context.pushServices.names.enumerated().map { ($1, $0) }) { first, _ in first }
        return try survey.reader.catchUp(to: .written, onProgress: onProgress) { record in
            guard let result = record.result else { return }
            recovery.result(
                origin: result.origin, replays: result.replays, service: result.pushService.flatMap { names[$0] },
                at: result.completedAt)
        }
    }

    /// Since when all results are left: the latest first record of the partitions from which some were deleted.
    private func resultsSince() throws -> WallTime? {
        let queries = survey.reader.consumer.queries
        let cut = try ToolFailure.reading(context.topics.results) { () throws(KafkaError) in
            let all = try queries.partitions(of: context.topics.results, timeout: OffsetSurvey.timeout)
            let begins = try queries.beginnings(of: all, timeout: OffsetSurvey.timeout)
            let ends = try queries.ends(of: all, timeout: OffsetSurvey.timeout)
            return all.filter { (begins[$0] ?? 0) > 0 && (begins[$0] ?? 0) < (ends[$0] ?? 0) }
        }
        guard !cut.isEmpty else { return nil }
        try begin(Dictionary(cut.map { ($0, .beginning) }) { $1 })
        try survey.reader.aim(at: .committed)
        var firsts: [Int32: Int64] = [:]
        var isOver = false
        while !isOver, firsts.count < cut.count {
            isOver = try survey.reader.turn(wait: .milliseconds(50)) { record in
                if firsts[record.partition] == nil { firsts[record.partition] = record.timestampMilliseconds }
            }
        }
        return firsts.values.max().map { WallTime(milliseconds: $0) }
    }

    private func resultPartitions() throws -> [TopicPartition] {
        let queries = survey.reader.consumer.queries
        return try ToolFailure.reading(context.topics.results) { () throws(KafkaError) in
            try queries.partitions(of: context.topics.results, timeout: OffsetSurvey.timeout)
        }
    }

    private func begin(_ starts: [TopicPartition: TopicReader.Start]) throws {
        let names = Set(starts.keys.map(\.topic)).sorted().joined(separator: ", ")
        try ToolFailure.reading(names) { () throws(KafkaError) in try survey.reader.begin(starts) }
    }

    // MARK: Writing

    /// Writes the offsets with their metadata, and the audit entry that says who did it: one transaction.
    ///
    /// - Returns: how many; a partition that has an offset by now keeps it.
    package func write(_ plan: Plan, reason: String?) throws -> Int {
        var plan = plan
        let missing = Set(try survey.partitions().filter(\.isMissing).map(\.partition))
        plan.partitions.removeAll { !missing.contains($0.partition) }
        guard !plan.partitions.isEmpty else { return 0 }
        let positions = plan.partitions.map { restored in
            let identity = PartitionIdentity(
                cluster: survey.cluster, topic: restored.partition.topic, partition: restored.partition.partition)
            return CommitPosition(
                partition: restored.partition, offset: restored.position.offset,
                metadata: restored.position.map.text(committing: restored.position.offset, of: identity))
        }
        try survey.write(positions, with: entry(plan, reason))
        return plan.partitions.count
    }

    private func entry(_ plan: Plan, _ reason: String?) -> AuditEntry {
        var entry = AuditEntry(
            action: "offsets.restore", phase: "done", at: SystemClock.wall().text, by: context.operatorName)
        entry.selection = context.group
        entry.reason = reason
        entry.options = Dictionary(plan.partitions.map { ("\($0.partition)", "\($0.position.offset)") }) { $1 }
        entry.options?["from"] = plan.source.rawValue
        entry.counts = [
            "done": plan.sum(\.done), "open": plan.sum(\.open), "unknown": plan.sum(\.unknown),
            "passedOver": plan.sum(\.passedOver),
        ]
        return entry
    }
}
