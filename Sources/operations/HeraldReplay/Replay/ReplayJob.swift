internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
package import HeraldTools

/// Carries a plan out: takes the lease, publishes and marks in the steps of a ramp, waits for outcomes, gives the lease back.
///
/// Each transaction holds the replayed records, their marks and the lease. One thread.
package final class ReplayJob {
    /// Dead letters in one transaction at most.
    private static let transactionCount = 500
    /// Their bytes at most.
    private static let transactionBytes = 4 << 20
    /// From so many known outcomes on a share means something in the middle of a batch.
    private static let judgedFrom = 20

    private let context: ReplayContext
    private let plan: ReplayPlan
    private let rules: ReplayRules
    private let options: ReplayOptions
    private let state: StateReader
    private let journal: Journal
    private let reader: DeadLetterReader
    /// Outcomes of Herald's own; `nil` for dead letters of others, of which ``returns`` is all that is known.
    private let results: ResultsReader?
    private let returns: ReturnWatch?
    private let isStopping: @Sendable () -> Bool
    private let isPaused: @Sendable () -> Bool
    private let onProgress: (ReplayProgress) -> Void
    private var outcomes = ReplayTally()
    /// Of others: how many of the batch are published.
    private var publishedInBatch = 0
    private var progress = ReplayProgress()
    private var isAtEnd = false
    /// Since when all of the batch is published.
    private var waitingSince: ContinuousClock.Instant?
    package var admission: PublishAdmission

    /// Takes the lease, or says who has it.
    ///
    /// - Parameters:
    ///   - state: has read the marks for the plan.
    ///   - isPaused: whether nothing more is to be published for now; the lease is kept, and outcomes are counted.
    ///   - onWait: called when it takes a while to find out whether the holder of the lease lives.
    package init(
        _ context: ReplayContext, _ layout: ReplayContext.Layout, plan: ReplayPlan, rules: ReplayRules,
        options: ReplayOptions, state: StateReader, isStopping: @escaping @Sendable () -> Bool,
        isPaused: @escaping @Sendable () -> Bool = { false },
        onWait: (Lease) -> Void, onProgress: @escaping (ReplayProgress) -> Void
    ) throws {
        self.context = context
        self.plan = plan
        self.rules = rules
        self.options = options
        self.state = state
        self.isStopping = isStopping
        self.isPaused = isPaused
        self.onProgress = onProgress
        admission = PublishAdmission(
            outcomesPerEvent: 1, batchLimit: Self.transactionCount, rate: options.rate, ramp: options.ramp, published: 0
        )
        progress.planned = plan.count
        // Before anything is published, or its outcome could lie in front of the end.
        results =
            context.foreign != nil
            ? nil
            : try ResultsReader(
                properties: context.readerProperties, topic: context.topics.results, partitions: layout.results,
                mentioning: Replayer.mentionOfReplay)
        returns = context.foreign == nil ? nil : try ReturnWatch(context, layout)
        reader = try context.deadLetters()
        var audit = AuditEntry(
            action: "dlq.replay", phase: "started", at: SystemClock.wall().text, by: context.operatorName)
        audit.reason = options.reason
        audit.selection = options.selection
        audit.planned = plan.count
        audit.ends = plan.ends
        audit.options = Self.described(rules, options)
        journal = try Journal.begin(context, state: state, kind: "replay", work: options.selection, audit, onWait)
        do {
            try reader.start(plan.chosenRanges)
        } catch {
            var end = ReplayEnd(error)
            finish(&end)
            throw error
        }
    }

    private static func described(_ rules: ReplayRules, _ options: ReplayOptions) -> [String: String] {
        var described = ["ramp": options.ramp.text, "stop-if-failures": ShareText.text(options.stopShare)]
        if let rate = options.rate { described["rate"] = "\(rate)/s" }
        if let destination = rules.foreign?.destination { described["to"] = destination }
        if let only = rules.onlyPushServices { described["only-pns"] = only.joined(separator: ",") }
        if rules.hasFreshKey { described["fresh-key"] = "true" }
        if rules.isAgain { described["again"] = "true" }
        if let correction = rules.correction { described["correction"] = correction.words }
        return described
    }

    /// Replays until the plan is done, or something ends it; the lease is given back in any case that allows it.
    package func runToEnd() -> ReplayReport {
        var end: ReplayEnd
        do {
            beginBatch()
            end = try run()
        } catch {
            end = ReplayEnd(error)
        }
        finish(&end)
        reader.close()
        results?.close()
        returns?.close()
        return ReplayReport(job: journal.job, end: end, progress: progress)
    }

    private func finish(_ end: inout ReplayEnd) {
        // The name belongs to somebody else: nothing more can be written under it, and he has written so.
        guard end != .takenOver else { return }
        var audit = AuditEntry(
            action: "dlq.replay", phase: "ended", at: SystemClock.wall().text, by: context.operatorName)
        audit.job = journal.job
        audit.end = end.name
        audit.counts = [
            "replayed": progress.replayed, "skipped": progress.skipped, "delivered": progress.delivered,
            "failed": progress.failed, "open": progress.open, "tooLarge": progress.tooLarge,
        ]
        do {
            try safely { () throws(TransactionalPublisher.WriteFailure) in try journal.end(audit) }
        } catch {
            if end == .complete { end = ReplayEnd(error) }
        }
    }

    private func beginBatch() {
        waitingSince = nil
        outcomes.beginBatch()
        returns?.beginBatch()
        publishedInBatch = 0
        admission.leaveStep()
        noteOutcomes()
        progress.batch += 1
        onProgress(progress)
    }

    /// Whether too many of the batch have failed again.
    private func isFailing(isAllSent: Bool) -> Bool {
        let batch = outcomes.batch
        let failed = returns?.batchCount ?? batch.failed
        let (known, total) = returns == nil ? (batch.known, batch.expected) : (publishedInBatch, publishedInBatch)
        return FailureLimit.isExceeded(
            share: options.stopShare, failed: failed, known: known, meaningfulCount: Self.judgedFrom,
            total: isAllSent ? total : nil)
    }

    /// Whether the outcomes of the batch are still waited for, or what of it comes back to a topic of others is.
    private var isBatchOpen: Bool { returns == nil ? outcomes.batch.open > 0 : !isPatienceOver }

    // MARK: - One transaction

    /// A dead letter that is about to be published.
    private struct Item {
        var record: OutgoingRecord
        var replay: ReplayRules.Replay
        var partition: Int32
        var offset: Int64
        /// How many marks there were of it before this job's.
        var markCount: Int
    }

    /// The next dead letters of the plan that nobody else has dealt with meanwhile.
    private func nextItems(atMost limit: Int) throws -> [Item] {
        var items: [Item] = []
        var bytes = 0
        var passedOver = 0
        progress.isWaiting = false
        while items.count < limit, bytes < Self.transactionBytes {
            switch try reader.next(waitMilliseconds: items.isEmpty ? 100 : 5) {
            case .end:
                isAtEnd = true
                return items
            case .nothing:
                try keepAlive()
                if !items.isEmpty || isStopping() { return items }
            case .entry:
                guard plan.contains(reader.entry) else {
                    passedOver += 1
                    if passedOver % 4_096 == 0 { try keepAlive() }
                    continue
                }
                guard let item = item() else { continue }
                bytes += item.record.byteCount
                items.append(item)
            }
        }
        return items
    }

    /// The reader's dead letter, if it is still to be replayed.
    private func item() -> Item? {
        switch rules.decision(for: &reader.entry, state.marks, now: SystemClock.wall()) {
        case .leaveOut:
            progress.skipped += 1
            return nil
        case .replay(let replay):
            let entry = reader.entry
            let freshKey = replay.hasFreshKey ? "\(journal.job)-\(entry.partition)-\(entry.offset)" : nil
            let record =
                entry.isForeign
                ? OutgoingRecord(replay, ofForeign: entry)
                : OutgoingRecord(replay, of: entry, freshKey: freshKey, trace: context.trace)
            return Item(
                record: record, replay: replay,
                partition: entry.partition, offset: entry.offset,
                markCount: state.marks.replayCount(partition: entry.partition, offset: entry.offset))
        }
    }

    /// Writes these with their marks in one transaction; when one is too large for its topic, in smaller and smaller ones,
    /// until it stands alone and goes without its history, or is left where it is.
    private func commit(_ items: ArraySlice<Item>) throws {
        do throws(TransactionalPublisher.WriteFailure) {
            try journal.write(items.map(\.record), marks: marks(of: items))
        } catch .refused(let error) where error.kind == .tooLarge {
            if items.count > 1 {
                let middle = items.startIndex + items.count / 2
                try commit(items[..<middle])
                try commit(items[middle...])
            } else if var item = items.first, item.record.removeHistory() {
                try commit([item])
            } else {
                progress.tooLarge += 1
            }
            return
        } catch {
            try reclaim(after: error)
            // Its marks say whether the transaction was committed, as a whole or not at all.
            let isMarked = items.allSatisfy {
                state.marks.replayCount(partition: $0.partition, offset: $0.offset) > $0.markCount
            }
            guard isMarked else { return try commit(items) }
        }
        if results != nil, options.patience > .zero { for item in items { outcomes.expect(item.replay) } }
        publishedInBatch += items.count
        progress.replayed += items.count
    }

    /// What a mark says of push services: one mark for all dead letters that are alike in it.
    private struct MarkedServices: Hashable {
        var replayed: [String]?
        var called: [String]?
    }

    /// One mark for all that were replayed as a whole, one for each part of the push services, and one for each correction
    /// of them.
    private func marks(of items: ArraySlice<Item>) -> [MarkRecord] {
        var offsets: [MarkedServices: [Int32: [Int64]]] = [:]
        for item in items {
            let services = MarkedServices(
                replayed: item.replay.isWhole ? nil : item.replay.pushServices,
                called: item.replay.isCorrectedForOthers ? item.replay.pushServices : nil)
            offsets[services, default: [:]][item.partition, default: []].append(item.offset)
        }
        let now = SystemClock.wall().milliseconds
        return offsets.map { services, offsets in
            MarkRecord(
                state: .replayed, job: journal.job, at: now, pns: services.replayed, calls: services.called,
                offsets: offsets)
        }
    }

    /// Writes something that can be written twice, again after the name was lost.
    private func safely(_ write: () throws(TransactionalPublisher.WriteFailure) -> Void) throws {
        do throws(TransactionalPublisher.WriteFailure) {
            try write()
        } catch {
            try reclaim(after: error)
            try safely(write)
        }
    }

    /// Goes on after the name was lost, unless somebody else has begun to work.
    private func reclaim(after failure: TransactionalPublisher.WriteFailure) throws {
        guard try journal.reclaim(after: failure, state) else {
            throw TransactionalPublisher.WriteFailure.lost(.fenced(isLong: false))
        }
    }
}

extension ReplayJob: PublishPolicy {
    package var openOutcomes: (all: Int, step: Int) {
        guard returns != nil else { return (outcomes.total.open, outcomes.batch.open) }
        return (0, admission.isAtStepEnd && isBatchOpen ? 1 : 0)
    }

    package func poll(waitMilliseconds: Int32) throws {
        try returns?.poll(waitMilliseconds: waitMilliseconds)
        _ = try results?.poll(waitMilliseconds: waitMilliseconds) { result, _ in outcomes.receive(result) }
    }

    package func keepAlive() throws {
        if journal.isHeartbeatDue {
            try safely { () throws(TransactionalPublisher.WriteFailure) in try journal.write() }
        }
    }

    package func report() {
        noteOutcomes()
        onProgress(progress)
    }

    private func noteOutcomes() {
        progress.delivered = outcomes.total.delivered
        progress.failed = returns?.count ?? outcomes.total.failed
        progress.open = outcomes.total.open
    }

    package func standing() throws -> Standing<ReplayEnd> {
        if isFailing(isAllSent: isAtEnd || admission.isAtStepEnd) { return .ended(.stopped) }
        if isStopping() { return .ended(isAtEnd ? .complete : .paused) }
        progress.isPaused = isPaused()
        if progress.isPaused {
            // The time of a pause is none in which outcomes failed to come.
            waitingSince = nil
            return .waiting
        }
        if isAtEnd {
            guard isBatchOpen, !isPatienceOver else { return .ended(.complete) }
            progress.isWaiting = true
            return .waiting
        }
        if admission.isAtStepEnd, !isBatchOpen { beginBatch() }
        return .publishing
    }

    package func holdBack(_ reason: PublishAdmission.Wait) -> ReplayEnd? {
        progress.isWaiting = reason != .rate
        // A topic of others is looked at once more, in `standing`.
        guard reason == .ramp, results != nil, isPatienceOver else { return nil }
        let batch = outcomes.batch
        // Even if all of them fail it is not too many.
        guard Double(batch.failed + batch.open) <= options.stopShare * Double(batch.expected) else {
            return .outcomeTimeout
        }
        beginBatch()
        return nil
    }

    /// Whether the outcomes of a batch that is published have been waited for for long enough.
    private var isPatienceOver: Bool {
        let since = waitingSince ?? .now
        waitingSince = since
        return ContinuousClock.now - since >= options.patience
    }

    package func publish(atMost count: Int) throws -> Int {
        let items = try nextItems(atMost: count)
        if !items.isEmpty { try commit(items[...]) }
        return items.count
    }
}

extension ReplayEnd {
    fileprivate init(_ error: any Error) {
        if case TransactionalPublisher.WriteFailure.lost(.fenced)? = error as? TransactionalPublisher.WriteFailure {
            self = .takenOver
        } else {
            self = .failed(ToolFailure(error) { $0.toolFailure("replay") })
        }
    }

    package var name: String {
        switch self {
        case .complete: "complete"
        case .paused: "paused"
        case .stopped: "stopped"
        case .outcomeTimeout: "outcome-timeout"
        case .takenOver: "taken-over"
        case .failed: "failed"
        }
    }
}
