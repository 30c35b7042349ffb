internal import HeraldEvents
internal import HeraldKafka
internal import HeraldTime
public import HeraldTools

/// Carries a plan out: takes the lease, publishes and marks in growing batches, waits for outcomes, gives the lease back.
///
/// Each transaction holds the replayed records, their marks and the lease. One thread.
public final class ReplayJob {
    /// Dead letters in one transaction at most.
    private static let transactionCount = 500
    /// Their bytes at most.
    private static let transactionBytes = 4 << 20
    /// So many outcomes at most are open, however large the batch: the memory, and the harm of a mistake, are bounded.
    private static let openLimit = 10_000
    /// From so many known outcomes on a share means something in the middle of a batch.
    private static let judgedFrom = 20

    private let world: ReplayWorld
    private let plan: ReplayPlan
    private let rules: ReplayRules
    private let options: ReplayOptions
    private let state: StateReader
    private let journal: Journal
    private let reader: DeadLetterReader
    private let results: ResultsReader
    private let isStopping: @Sendable () -> Bool
    private let onProgress: (ReplayProgress) -> Void
    private var outcomes = OutcomeBook()
    private var progress = ReplayProgress()
    private var isAtEnd = false
    private var sendingSince: ContinuousClock.Instant?
    private var sentSince = 0

    /// Takes the lease, or says who has it.
    ///
    /// - Parameters:
    ///   - state: has read the marks for the plan.
    ///   - onWait: called when it takes a while to find out whether the holder of the lease lives.
    public init(
        _ world: ReplayWorld, _ layout: ReplayWorld.Layout, plan: ReplayPlan, rules: ReplayRules,
        options: ReplayOptions, state: StateReader, isStopping: @escaping @Sendable () -> Bool,
        onWait: (Lease) -> Void, onProgress: @escaping (ReplayProgress) -> Void
    ) throws(ToolFailure) {
        self.world = world
        self.plan = plan
        self.rules = rules
        self.options = options
        self.state = state
        self.isStopping = isStopping
        self.onProgress = onProgress
        progress.planned = plan.count
        // Before anything is published, or its outcome could lie in front of the end.
        results = try ResultsReader(
            properties: world.readerProperties, topic: world.topics.results, partitions: layout.results,
            mentioning: Replayer.mentionOfReplay)
        reader = try world.deadLetters()
        var audit = AuditEntry(
            action: "dlq.replay", phase: "started", at: SystemClock.wall().text, by: world.operatorName)
        audit.reason = options.reason
        audit.selection = options.selection
        audit.planned = plan.count
        audit.ends = plan.ends
        audit.options = Self.described(rules, options)
        journal = try Journal.begin(world, state: state, kind: "replay", work: options.selection, audit, onWait)
        do throws(ToolFailure) {
            try reader.start(plan.chosenRanges)
        } catch {
            var end: ReplayEnd = .failed(error)
            finish(&end)
            throw error
        }
    }

    private static func described(_ rules: ReplayRules, _ options: ReplayOptions) -> [String: String] {
        var described = ["ramp": options.ramp.text, "stop-if-failures": "\(options.stopShare * 100)%"]
        if let rate = options.rate { described["rate"] = "\(rate)/s" }
        if let only = rules.onlyPushServices { described["only-pns"] = only.joined(separator: ",") }
        if rules.hasFreshKey { described["fresh-key"] = "true" }
        if rules.isAgain { described["again"] = "true" }
        return described
    }

    /// Replays until the plan is done, or something ends it; the lease is given back in any case that allows it.
    public func run() -> ReplayReport {
        var end: ReplayEnd
        do throws(Interruption) {
            end = try runBatches()
        } catch {
            end = error.end
        }
        finish(&end)
        reader.close()
        results.close()
        return ReplayReport(job: journal.job, end: end, progress: progress)
    }

    /// Why a job cannot go on.
    private enum Interruption: Error {
        case write(TransactionalWriter.WriteFailure)
        case tool(ToolFailure)

        var end: ReplayEnd {
            switch self {
            case .write(.fenced): .takenOver
            case .write(let failure): .failed(failure.toolFailure("replay"))
            case .tool(let failure): .failed(failure)
            }
        }
    }

    private func finish(_ end: inout ReplayEnd) {
        // The name belongs to somebody else: nothing more can be written under it, and he has written so.
        guard end != .takenOver else { return }
        var audit = AuditEntry(
            action: "dlq.replay", phase: "ended", at: SystemClock.wall().text, by: world.operatorName)
        audit.job = journal.job
        audit.end = end.name
        audit.counts = [
            "replayed": progress.replayed, "skipped": progress.skipped, "delivered": progress.delivered,
            "failed": progress.failed, "open": progress.open, "tooLarge": progress.tooLarge,
        ]
        do throws(Interruption) {
            try last(words: audit)
        } catch {
            if end == .complete { end = error.end }
        }
    }

    private func last(words audit: AuditEntry) throws(Interruption) {
        do throws(TransactionalWriter.WriteFailure) {
            try journal.end(audit)
        } catch let failure where failure.needsNewWriter {
            try reclaim()
            try last(words: audit)
        } catch {
            throw .write(error)
        }
    }

    // MARK: - Batches

    private func runBatches() throws(Interruption) -> ReplayEnd {
        for number in 0... {
            outcomes.beginBatch()
            progress.batch = number + 1
            onProgress(progress)
            if let end = try send(options.ramp.size(number) ?? .max) { return end }
            if let end = try awaitOutcomes() { return end }
            if isAtEnd { return .complete }
        }
        return .complete
    }

    /// Publishes a batch; how the job ends when it has to end.
    private func send(_ size: Int) throws(Interruption) -> ReplayEnd? {
        var left = size
        sendingSince = nil
        while left > 0, !isAtEnd {
            if let end = judge(isAllSent: false) { return end }
            if isStopping() { return .paused }
            let room = min(left, Self.transactionCount, Self.openLimit - outcomes.total.open, rateAllowance())
            guard room > 0 else {
                progress.isWaiting = outcomes.total.open >= Self.openLimit
                try look(waitMilliseconds: 20)
                continue
            }
            let sent = try publish(atMost: room)
            left -= sent
            sentSince += sent
        }
        return nil
    }

    /// How many may go now; the rate counts from a batch's first.
    private func rateAllowance() -> Int {
        guard let rate = options.rate else { return .max }
        guard let since = sendingSince else {
            sendingSince = .now
            sentSince = 0
            return 1
        }
        let allowed = 1 + rate * ((ContinuousClock.now - since) / .seconds(1))
        return max(0, Int(min(allowed, 1e12)) - sentSince)
    }

    /// Waits for the batch's outcomes; how the job ends when it has to end.
    private func awaitOutcomes() throws(Interruption) -> ReplayEnd? {
        guard options.patience > .zero else { return nil }
        let end = ContinuousClock.now + options.patience
        progress.isWaiting = true
        defer { progress.isWaiting = false }
        while outcomes.batch.open > 0 {
            if let end = judge(isAllSent: true) { return end }
            if isStopping() { return isAtEnd ? .complete : .paused }
            if ContinuousClock.now >= end {
                // Even if all of them fail it is not too many; and behind the last batch nothing waits.
                let worst = Double(outcomes.batch.failed + outcomes.batch.open)
                if isAtEnd || worst <= options.stopShare * Double(outcomes.batch.expected) { return nil }
                return .waitedInVain
            }
            try look(waitMilliseconds: 100)
        }
        return judge(isAllSent: true)
    }

    /// Whether too many of the batch have failed again: certainly, or among those that are known.
    private func judge(isAllSent: Bool) -> ReplayEnd? {
        let batch = outcomes.batch
        guard batch.failed > 0 else { return nil }
        let failed = Double(batch.failed)
        let isCertain = isAllSent && failed > options.stopShare * Double(batch.expected)
        let isLikely = batch.known >= Self.judgedFrom && failed > options.stopShare * Double(batch.known)
        return isCertain || isLikely ? .stopped : nil
    }

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

    /// Publishes and marks up to so many dead letters; how many it has taken.
    private func publish(atMost limit: Int) throws(Interruption) -> Int {
        let items = try take(atMost: limit)
        guard !items.isEmpty else { return 0 }
        try commit(items[...])
        try look(waitMilliseconds: 0)
        return items.count
    }

    /// The next dead letters of the plan that nobody else has dealt with meanwhile.
    private func take(atMost limit: Int) throws(Interruption) -> [Item] {
        var items: [Item] = []
        var bytes = 0
        var passedOver = 0
        progress.isWaiting = false
        while items.count < limit, bytes < Self.transactionBytes {
            switch try tool({ () throws(ToolFailure) in try reader.next(waitMilliseconds: items.isEmpty ? 100 : 5) }) {
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
        switch rules.decision(for: &reader.entry, state.book, now: SystemClock.wall()) {
        case .leaveOut:
            progress.skipped += 1
            return nil
        case .replay(let replay):
            let entry = reader.entry
            let freshKey = rules.hasFreshKey ? "\(journal.job)-\(entry.partition)-\(entry.offset)" : nil
            return Item(
                record: OutgoingRecord(replay, of: entry, freshKey: freshKey), replay: replay,
                partition: entry.partition, offset: entry.offset,
                markCount: state.book.replayCount(partition: entry.partition, offset: entry.offset))
        }
    }

    /// Writes these with their marks in one transaction; when one is too large for its topic, in smaller and smaller ones,
    /// until it stands alone and goes without its history, or is left where it is.
    private func commit(_ items: ArraySlice<Item>) throws(Interruption) {
        do throws(TransactionalWriter.WriteFailure) {
            try journal.write(items.map(\.record), marks: marks(of: items))
        } catch .refused(let error) where error.code == KafkaError.Code.messageSizeTooLarge {
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
        } catch let failure where failure.needsNewWriter {
            try reclaim()
            // Its marks say whether the transaction was committed, as a whole or not at all.
            let isMarked = items.allSatisfy {
                state.book.replayCount(partition: $0.partition, offset: $0.offset) > $0.markCount
            }
            guard isMarked else { return try commit(items) }
        } catch {
            throw .write(error)
        }
        if options.patience > .zero { for item in items { outcomes.expect(item.replay) } }
        progress.replayed += items.count
    }

    /// One mark for all that were replayed as a whole, and one for each part of the push services.
    private func marks(of items: ArraySlice<Item>) -> [MarkRecord] {
        var offsets: [[String]?: [Int32: [Int64]]] = [:]
        for item in items {
            let services = item.replay.isWhole ? nil : item.replay.pushServices
            offsets[services, default: [:]][item.partition, default: []].append(item.offset)
        }
        let now = SystemClock.wall().milliseconds
        return offsets.map { services, offsets in
            MarkRecord(state: .replayed, job: journal.job, at: now, pns: services, offsets: offsets)
        }
    }

    /// Takes outcomes, shows that the job lives, and how far it is.
    private func look(waitMilliseconds: Int32) throws(Interruption) {
        try tool { () throws(ToolFailure) in
            _ = try results.takeArrived(waitMilliseconds: waitMilliseconds) { result, _ in outcomes.take(result) }
        }
        try keepAlive()
    }

    private func keepAlive() throws(Interruption) {
        do throws(TransactionalWriter.WriteFailure) {
            try journal.keepAlive()
        } catch let failure where failure.needsNewWriter {
            try reclaim()
        } catch {
            throw .write(error)
        }
        progress.delivered = outcomes.total.delivered
        progress.failed = outcomes.total.failed
        progress.open = outcomes.total.open
        onProgress(progress)
    }

    private func tool<Answer>(_ body: () throws(ToolFailure) -> Answer) throws(Interruption) -> Answer {
        do throws(ToolFailure) {
            return try body()
        } catch {
            throw .tool(error)
        }
    }

    /// Goes on after the name was lost, unless somebody else has begun to work.
    private func reclaim() throws(Interruption) {
        guard try tool({ () throws(ToolFailure) in try journal.reclaim(world, state) }) else { throw .write(.fenced) }
    }
}

extension ReplayEnd {
    /// Its name in reports and the audit.
    public var name: String {
        switch self {
        case .complete: "complete"
        case .paused: "paused"
        case .stopped: "stopped"
        case .waitedInVain: "waited-in-vain"
        case .takenOver: "taken-over"
        case .failed: "failed"
        }
    }
}
