package import HeraldDriver
package import HeraldEvents
internal import HeraldKafka
internal import HeraldKernel
package import HeraldTime
package import HeraldTools

/// What a ``ReplayMachine`` goes through: the dead letters of a plan; and what it records: their marks, under the lease.
///
/// ``ReplayPace`` decides when what is published, ``LetterBatch`` what together.
package struct LetterPublication: PublicationWork {
    /// What it wants done.
    package enum Action: PublicationAction {
        case write(BatchWriter.Action)
        /// Reads the state topic to its end, or through every transaction that is open: `stateRead(_:holder:now:)`,
        /// `stateNotRead(_:now:)`.
        case readState(throughOpenTransactions: Bool)
        /// Another job's lease is to be watched: each change is a `stateRead(_:holder:now:)`, as is its process's end.
        case watchState(Lease)
        /// Begins to read these letters: `lettersNotStarted(_:)` when that fails.
        case startLetters(LetterRanges)
        /// Hands letters over, as long as `mayTakeLetter`; those of a moment: what it wants more it asks for again.
        case gather
    }

    /// What a job does.
    package enum Order: Sendable {
        case replay(ReplayPlan, ReplayRules, ReplayOptions)
        /// Notes that they were dealt with in another way.
        case resolve(ResolvePlan, selection: String, note: String?)
    }

    /// So often in a row the name is claimed again without anything written in between.
    static let claimLimit = 10
    static let leasePatience = Milliseconds(Lease.patience)

    package static let signInterval = Milliseconds(Lease.renewal)
    package static var hasLease: Bool { true }
    package static var ledger: JobWaitReason.Reading { .marks }
    package static var source: JobWaitReason.Reading { .letters }
    package static var look: Action? { .readState(throughOpenTransactions: false) }

    private let context: ReplayContext
    let order: Order
    private let plan: ReplayPlan
    /// `nil` of what is resolved: its offsets are the plan's.
    private let rules: ReplayRules?
    private(set) var transaction: ReplayTransaction
    var known = KnownState()
    /// Another job's lease, since it was looked at first.
    var holder: Lease?
    var pace: ReplayPace
    private(set) var batch: LetterBatch
    /// Results of letters whose transaction is under way: it may be durable before the machine knows.
    private var earlyResults: [NotificationResult] = []
    /// The same of what went to a retry topic.
    private var earlyRetries: [RetriedEvent] = []
    /// No letter of the plan is left to be read.
    var isAtEnd = false
    /// How many letters the next transaction may still take.
    private var room = 0
    /// Up to where letters were handed over, by partition.
    private var takenTo: [Int32: Int64] = [:]
    /// No further letter came for a moment.
    var isDry = false
    var pause: ReplayPause?
    /// It has taken the lease, but can't read the letters.
    var isWithoutLetters = false

    /// - Parameter job: the job's name, which no other job has.
    package init(_ order: Order, _ context: ReplayContext, job: String, process: ProcessIdentity) {
        (self.context, self.order) = (context, order)
        transaction = ReplayTransaction(
            context, job: job, process: process, work: order.words)
        switch order {
        case .replay(let plan, let rules, let options):
            (self.plan, self.rules) = (plan, rules)
            pace = ReplayPace(
                options, planned: plan.count, batchLimit: LetterBatch.transactionCount,
                hasOutcomes: context.watchedTopic == nil)
            batch = LetterBatch()
        case .resolve(let plan, _, _):
            (self.plan, rules) = (ReplayPlan(), nil)
            pace = ReplayPace(
                ReplayOptions(), planned: plan.count, batchLimit: LetterBatch.transactionCount, hasOutcomes: true)
            batch = LetterBatch(resolving: plan.chosen)
            isAtEnd = true
        }
    }

    // MARK: The lease

    /// The lease, unless no process lives behind it.
    func livingLease(_ holder: Lease.Life) -> Lease? {
        guard let lease = known.lease, !lease.isOver, holder != .ended else { return nil }
        return lease
    }

    package func watching(until: WallTime) -> JobWaitReason {
        .otherJob(name: holder?.job ?? "", owner: holder?.owner ?? "", until: until)
    }

    package mutating func claimed() -> (phase: PublicationPhase, action: Action) {
        (.readingBack, .readState(throughOpenTransactions: true))
    }

    // MARK: Letters and outcomes

    package var isGathering: Bool { room > 0 && pause == nil && !isAtEnd && !batch.isFull }

    mutating func take(_ entry: inout DeadLetterEntry, now: Moment) {
        guard let rules, plan.contains(partition: entry.partition, offset: entry.offset) else { return }
        isDry = false
        takenTo[entry.partition] = entry.offset
        var state = LetterState.planned
        switch rules.decision(for: &entry, known.marks, now: now.wall) {
        case .leaveOut:
            state.become(.leftOut)
            pace.progress.skipped += 1
        case .replay(let replay):
            state.become(.gathered)
            let freshKey = replay.hasFreshKey ? "\(transaction.job)-\(entry.partition)-\(entry.offset)" : nil
            let trace = context.trace
            let record =
                entry.isForeign
                ? OutgoingRecord(replay, ofForeign: entry, trace: trace)
                : OutgoingRecord(replay, of: entry, freshKey: freshKey, trace: trace)
            batch.add(
                LetterBatch.Letter(
                    state: state, record: record, replay: replay, partition: entry.partition, offset: entry.offset,
                    markCount: known.marks.replayCount(partition: entry.partition, offset: entry.offset)))
            room -= 1
        }
    }

    mutating func receive(_ result: NotificationResult) {
        if batch.isUnderWay(result.origin, replays: result.replays) {
            earlyResults.append(result)
        } else {
            pace.receive(result)
        }
    }

    mutating func receive(_ event: RetriedEvent) {
        if batch.isUnderWay(event.origin, replays: event.replays) {
            earlyRetries.append(event)
        } else {
            pace.receive(event)
        }
    }

    /// How many letters are dealt with before this one; `nil` when it is dealt with, or not of the plan.
    func lettersAhead(partition: Int32, offset: Int64) -> Int? {
        let next = (takenTo[partition] ?? -1) + 1
        guard offset >= next, plan.contains(partition: partition, offset: offset) else { return nil }
        return batch.letterCount + plan.count(in: partition, next..<offset)
    }

    package var openOutcomes: JobWaitReason.Outcomes { JobWaitReason.Outcomes(open: pace.progress.open) }

    package mutating func noteOutcomes() { pace.noteOutcomes() }

    // MARK: What comes next

    package func wakes(now: Moment) -> [MonotonicTime?] { [pace.nextWake] }

    package mutating func nextStep(isStopping: Bool, now: Moment) -> PublicationStep {
        if !batch.parts.isEmpty { return .write(.part) }
        let step = pace.nextStep(isAtEnd: isAtEnd && batch.isEmpty, isStopping: isStopping, pause: pause, now: now)
        guard case .gather(let count) = step, !batch.letters.isEmpty else { return step }
        return batch.letters.count >= count || batch.isFull || isDry || isAtEnd ? .write(.part) : step
    }

    package mutating func holdSource() { room = 0 }

    package mutating func gather(_ limit: Int, now: Moment) -> [Action] {
        isDry = false
        room = limit - batch.letters.count
        return [.gather]
    }

    package mutating func close(_ end: PublicationEnd, now: Moment) -> Action? {
        transaction.end()
        return nil
    }

    // MARK: Its transactions

    package mutating func batch(_ aim: PublicationAim, now: Moment) -> BatchWriter.Batch? {
        var audit: AuditEntry?
        switch aim {
        case .open:
            transaction.begin(at: now.wall.milliseconds)
            audit = order.beginning(context, at: now.wall)
            if let former = known.lease, !former.isOver { audit?.tookOverFrom = former.job }
        case .part:
            (isDry, room) = (false, 0)
            if batch.parts.isEmpty { batch.cut() }
            batch.become(.writing)
            let content = batch.content(job: transaction.job, at: now.wall.milliseconds)
            return BatchWriter.Batch(records: transaction.records(content.records, marks: content.marks))
        case .sign, .order: break
        case .end(let end):
            audit = order.ending(context, end, pace.progress, at: now.wall)
        }
        audit?.job = transaction.job
        return BatchWriter.Batch(records: transaction.records(audit: audit))
    }

    package mutating func written(_ aim: PublicationAim, now: Moment) -> [Action] {
        switch aim {
        case .open:
            pace.beginBatch()
            return rules == nil ? [] : [.startLetters(plan.chosenRanges)]
        case .part:
            batch.become(.replayed)
            switch batch.parts.first {
            case .letters(let letters)?:
                pace.published(letters.map(\.replay))
                for event in earlyRetries { pace.receive(event) }
                for result in earlyResults { pace.receive(result) }
                (earlyResults, earlyRetries) = ([], [])
            case .resolved(_, let offsets)?: pace.progress.replayed += offsets.count
            case nil: break
            }
            partDone()
        case .sign, .order, .end: break
        }
        return []
    }

    private mutating func partDone() { if let count = batch.removeFirst() { pace.dealtWith(count) } }

    package mutating func recovery(
        from failure: BatchWriter.Failure, _ aim: PublicationAim?, after count: Int
    ) -> PublicationRecovery {
        if aim == .open { return .end(.failed(context.beginFailure(failure))) }
        if failure.needsClaim, count < Self.claimLimit {
            if aim == .part { batch.become(.inDoubt) }
            return .again(cause: "", isCounted: true)
        }
        let end = self.end(aim, after: failure.end(order.kind))
        guard case .refused(let error) = failure else { return .end(end) }
        transaction.refused()
        if case .end = aim { return .end(end) }
        guard error.kind == .tooLarge, case .letters? = batch.parts.first else { return .close(end) }
        if !batch.makeSmaller() {
            batch.become(.tooLarge)
            pace.progress.tooLarge += 1
            partDone()
        }
        return .goOn
    }

    /// How a job ends that can't write this: of last words only those of a job that is complete are missed.
    func end(_ aim: PublicationAim?, after end: PublicationEnd) -> PublicationEnd {
        if case .end(let former) = aim, former != .complete { return former }
        return end
    }
}
