package import HeraldDriver
package import HeraldEvents
internal import HeraldKafka
internal import HeraldKernel
package import HeraldTime
package import HeraldTools

/// Carries out what was planned for dead letters, under the lease: pure.
///
/// It looks whether a living job has the lease, claims the name that all jobs on these letters share, reads the marks, and
/// writes its lease. Then it publishes and marks in the steps of a ramp, waits for outcomes, and gives the lease back. Each
/// transaction holds the replayed records, their marks and the lease. After it was fenced, or when it is in doubt what was
/// written, it claims the name again and reads the marks: they say what was done. ``Phase`` and ``LetterState`` have the
/// rest; ``ReplayPace`` decides when what is published, ``BatchWriter`` how a transaction becomes durable.
package struct ReplayMachine: JobMachine {
    /// What it wants done.
    package enum Action: Sendable {
        case write(BatchWriter.Action)
        /// Reads the state topic to its end, or through every transaction that is open: ``stateRead(_:holder:now:)``,
        /// ``stateNotRead(_:now:)``.
        case readState(throughOpenTransactions: Bool)
        /// Another job's lease is to be watched: each change is a ``stateRead(_:holder:now:)``, as is its process's end.
        case watchState(Lease)
        /// Begins to read these letters: ``lettersNotStarted(_:)`` when that fails.
        case startLetters(LetterRanges)
        /// Hands letters over, as long as ``mayTakeLetter``; those of a moment: what it wants more it asks for again.
        case gather
    }

    /// What a job does.
    package enum Work: Sendable {
        case replay(ReplayPlan, ReplayRules, ReplayOptions)
        /// Notes that they were dealt with in another way.
        case resolve(ResolvePlan, selection: String, note: String?)
    }

    /// What it keeps to.
    package struct Configuration: Sendable {
        package var context: ReplayContext
        package var work: Work
        /// The job's name, which no other job has.
        package var job: String
        package var process: ProcessIdentity
        package var writer: BatchWriter.Configuration

        package init(
            context: ReplayContext, work: Work, job: String, process: ProcessIdentity,
            writer: BatchWriter.Configuration
        ) {
            self.context = context
            self.work = work
            self.job = job
            self.process = process
            self.writer = writer
        }
    }

    /// So often in a row the name is claimed again without anything written in between.
    static let claimLimit = 10
    static let renewalMilliseconds = Int64(Lease.renewal / .milliseconds(1))
    static let leasePatienceMilliseconds = Int64(Lease.patience / .milliseconds(1))

    private let configuration: Configuration
    let plan: ReplayPlan
    /// `nil` of what is resolved: its offsets are the plan's.
    private let rules: ReplayRules?
    package private(set) var phase = Phase.idle
    private(set) var writer: BatchWriter
    private var journal: Journal
    private var known = KnownState()
    private var pace: ReplayPace
    private(set) var batch: LetterBatch
    private var actions: [Action] = []
    /// Results of letters whose transaction is under way: it may be durable before the machine knows.
    private var earlyResults: [NotificationResult] = []
    /// No letter of the plan is left to be read.
    private var isAtEnd = false
    /// How many letters the next transaction may still take.
    private var room = 0
    /// Up to where letters were handed over, by partition.
    private(set) var takenTo: [Int32: Int64] = [:]
    /// No further letter came for a moment.
    private var isDry = false
    private var isStopping = false
    private var pause: ReplayPause?
    private var lastWrite = MonotonicTime.distantPast
    private var claimCount = 0
    /// What kept it from reading.
    private var readingFailure: ToolFailure?
    /// It has taken the lease, but can't read the letters.
    private var notBegun: ToolFailure?

    /// A machine that begins with the first ``advance(now:)``.
    package init(_ configuration: Configuration) {
        self.configuration = configuration
        let context = configuration.context
        writer = BatchWriter(configuration.writer)
        journal = Journal(
            context, job: configuration.job, process: configuration.process, work: configuration.work.words)
        let isForeign = context.foreign != nil
        switch configuration.work {
        case .replay(let plan, let rules, let options):
            (self.plan, self.rules) = (plan, rules)
            pace = ReplayPace(
                options, planned: plan.count, batchLimit: LetterBatch.transactionCount, isForeign: isForeign)
            batch = LetterBatch()
        case .resolve(let plan, _, _):
            (self.plan, rules) = (ReplayPlan(), nil)
            pace = ReplayPace(
                ReplayOptions(), planned: plan.count, batchLimit: LetterBatch.transactionCount, isForeign: false)
            batch = LetterBatch(resolving: plan.chosen)
            isAtEnd = true
        }
    }

    package var isOver: Bool { phase.name == .ended }

    /// How it ended; `nil` before.
    package var end: End? { if case .ended(let end) = phase { end } else { nil } }

    /// The job's name.
    package var job: String { journal.job }

    /// How far it is; its batch is 0 before the lease is its own.
    package var progress: ReplayProgress { pace.progress }

    /// Whether the next letter is wanted.
    package var mayTakeLetter: Bool { room > 0 && pause == nil && !isAtEnd && !batch.isFull }
    /// Whether letters wait for more of them.
    package var hasLetters: Bool { !batch.letters.isEmpty }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var nextWake: MonotonicTime? {
        var moments = [writer.nextWake]
        switch phase {
        case .idle: moments.append(.distantPast)
        case .watching(_, let end): moments.append(end)
        case .working: moments += [renewal, pace.nextWake]
        case .looking, .claiming, .reading, .writing, .ended: break
        }
        return moments.compactMap { $0 }.min()
    }

    private var renewal: MonotonicTime { lastWrite.advanced(byMilliseconds: Self.renewalMilliseconds) }

    // MARK: Inputs

    /// Ends with what is written; a transaction that is under way is not left alone.
    package mutating func stop() { isStopping = true }

    /// Publishes nothing more until it is resumed (`nil`); the lease is kept, and outcomes are counted.
    package mutating func pause(_ pause: ReplayPause?) {
        self.pause = pause
        if pause != nil { pace.pause() }
    }

    package mutating func receive(_ report: BatchWriter.Report, now: Moment) {
        writer.receive(report, now: now.monotonic)
        follow(now)
    }

    /// What the state topic says by now.
    ///
    /// - Parameter holder: what is known of the process that has the lease.
    package mutating func stateRead(_ state: KnownState, holder: Lease.Life, now: Moment) {
        switch phase {
        case .looking(let seen):
            known = state
            guard let lease = livingLease(holder) else { return claim(.open, now) }
            if let seen { return lease == seen ? claim(.open, now) : finish(.notBegun(Self.busy(lease))) }
            guard holder != .living else { return finish(.notBegun(Self.busy(lease))) }
            let end = now.monotonic.advanced(byMilliseconds: Self.leasePatienceMilliseconds)
            phase.become(.watching(lease, until: end))
            actions.append(.watchState(lease))
        case .watching(let seen, _):
            known = state
            guard let lease = livingLease(holder) else { return claim(.open, now) }
            if lease != seen { finish(.notBegun(Self.busy(lease))) }
        case .reading(let aim):
            known = state
            marksRead(aim, now)
        case .idle, .claiming, .writing, .working, .ended: break
        }
    }

    /// The state topic can't be read.
    package mutating func stateNotRead(_ failure: ToolFailure, now: Moment) {
        switch phase {
        case .looking, .watching, .reading(.open): finish(.notBegun(failure))
        case .reading(.end(let end)) where end != .complete: finish(.over(end))
        // Whose lease it is by now is not known, so it writes nothing.
        case .reading: finish(.over(.failed(failure)))
        case .idle, .claiming, .writing, .working, .ended: break
        }
    }

    /// Takes the next letter of the topic: one of the plan that no other job has dealt with meanwhile is published.
    package mutating func take(_ entry: inout DeadLetterEntry, now: Moment) {
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
            let freshKey = replay.hasFreshKey ? "\(journal.job)-\(entry.partition)-\(entry.offset)" : nil
            let record =
                entry.isForeign
                ? OutgoingRecord(replay, ofForeign: entry)
                : OutgoingRecord(replay, of: entry, freshKey: freshKey, trace: configuration.context.trace)
            batch.add(
                LetterBatch.Letter(
                    state: state, record: record, replay: replay, partition: entry.partition, offset: entry.offset,
                    markCount: known.marks.replayCount(partition: entry.partition, offset: entry.offset)))
            room -= 1
        }
    }

    /// No further letter comes for a moment: what there is goes.
    package mutating func lettersPaused() { isDry = true }

    /// All of the plan was handed over.
    package mutating func lettersEnded() { isAtEnd = true }

    /// The letters can't be read at all.
    package mutating func lettersNotStarted(_ failure: ToolFailure) {
        notBegun = notBegun ?? failure
        readingFailed(failure)
    }

    /// Letters or outcomes can't be read any more.
    package mutating func readingFailed(_ failure: ToolFailure) { readingFailure = readingFailure ?? failure }

    /// Takes a result of the results topic.
    package mutating func receive(_ result: NotificationResult) {
        if batch.isUnderWay(result) { earlyResults.append(result) } else { pace.receive(result) }
    }

    /// So many replays of others' dead letters came back as new ones.
    package mutating func cameBack(_ count: Int) { pace.cameBack(count) }

    package mutating func advance(now: Moment) {
        writer.advance(now: now.monotonic)
        follow(now)
        switch phase {
        case .idle:
            phase.become(.looking(since: nil))
            actions.append(.readState(throughOpenTransactions: false))
        case .watching(let seen, let end) where end <= now.monotonic:
            // That no renewal comes only the time tells, and then the brokers' word on the end.
            phase.become(.looking(since: seen))
            actions.append(.readState(throughOpenTransactions: false))
        case .working: work(now)
        case .looking, .watching, .claiming, .reading, .writing, .ended: break
        }
        takeWriterActions()
    }

    // MARK: The lease

    /// The lease, unless no process lives behind it.
    private func livingLease(_ holder: Lease.Life) -> Lease? {
        guard let lease = known.lease, !lease.isOver, holder != .ended else { return nil }
        return lease
    }

    private mutating func claim(_ aim: Aim, _ now: Moment) {
        phase.become(.claiming(aim))
        writer.claim(now: now.monotonic)
        takeWriterActions()
    }

    /// The name is its own, so these are all marks that will ever come of others.
    private mutating func marksRead(_ aim: Aim, _ now: Moment) {
        if aim == .open {
            journal.begin(at: now.wall.milliseconds)
            return write(.open, now)
        }
        guard known.lease?.job == journal.job else { return giveUp(aim, .lost(.fenced(isLong: false))) }
        if aim == .part, batch.isMarked(in: known.marks) {
            phase.become(.working)
            return partWritten()
        }
        write(aim, now)
    }

    private mutating func finish(_ end: End) {
        pace.noteOutcomes()
        phase.become(.ended(end))
    }

    // MARK: Work

    /// What comes next.
    enum Step {
        case write(Aim)
        /// So many letters at most may be in the next transaction.
        case gather(Int)
        /// What was gathered is enough for a transaction.
        case cut
        case wait(JobWaitReason)
        case end(ReplayEnd)
    }

    mutating func nextStep(_ now: Moment) -> Step {
        if !batch.parts.isEmpty { return .write(.part) }
        if let readingFailure { return .end(.failed(readingFailure)) }
        if renewal <= now.monotonic { return .write(.renewal) }
        let verdict = pace.verdict(isAtEnd: isAtEnd && batch.isEmpty, isStopping: isStopping, pause: pause, now: now)
        switch verdict {
        case .end(let end): return .end(end)
        case .wait(let reason): return .wait(reason)
        case .publish(let count):
            let isEnough = batch.letters.count >= count || batch.isFull || isDry || isAtEnd
            return hasLetters && isEnough ? .cut : .gather(count)
        }
    }

    /// Begins what comes next.
    private mutating func work(_ now: Moment) {
        let step = nextStep(now)
        room = 0
        switch step {
        case .write(let aim): write(aim, now)
        case .end(let end): self.end(end, now)
        case .wait: break
        case .cut:
            isDry = false
            batch.cut()
            write(.part, now)
        case .gather(let count):
            isDry = false
            room = count - batch.letters.count
            actions.append(.gather)
        }
    }

    private mutating func end(_ end: ReplayEnd, _ now: Moment) {
        pace.noteOutcomes()
        journal.end()
        write(.end(end), now)
    }

    // MARK: Transactions

    private mutating func takeWriterActions() { actions += writer.takeActions().map { .write($0) } }

    private mutating func write(_ aim: Aim, _ now: Moment) {
        let records: [OutgoingRecord]
        switch aim {
        case .open:
            var audit = configuration.work.beginning(configuration.context, at: now.wall)
            audit.job = journal.job
            if let holder = known.lease, !holder.isOver { audit.tookOverFrom = holder.job }
            records = journal.transaction(audit: audit)
        case .renewal: records = journal.transaction()
        case .part:
            batch.become(.writing)
            let content = batch.content(job: journal.job, at: now.wall.milliseconds)
            records = journal.transaction(content.records, marks: content.marks)
        case .end(let end):
            var audit = configuration.work.ending(configuration.context, end, progress, at: now.wall)
            audit.job = journal.job
            records = journal.transaction(audit: audit)
        }
        phase.become(.writing(aim))
        writer.write(BatchWriter.Batch(records: records), now: now.monotonic)
        takeWriterActions()
    }

    /// Does what the writer's news mean.
    private mutating func follow(_ now: Moment) {
        for event in writer.takeEvents() {
            switch (event, phase) {
            case (.claimed, .claiming(let aim)):
                phase.become(.reading(aim))
                actions.append(.readState(throughOpenTransactions: true))
            case (.written, .writing(let aim)): written(aim, now)
            case (.refused(let error), .writing(let aim)): refused(aim, error, now)
            case (.lost(let loss), .writing(let aim)): lost(aim, loss, now)
            case (.lost(let loss), .claiming(let aim)): giveUp(aim, .lost(loss))
            case (.waiting, _), (.claimed, _), (.written, _), (.refused, _), (.lost, _): break
            }
        }
        takeWriterActions()
    }

    private mutating func written(_ aim: Aim, _ now: Moment) {
        (lastWrite, claimCount) = (now.monotonic, 0)
        switch aim {
        case .open:
            phase.become(.working)
            if rules != nil { actions.append(.startLetters(plan.chosenRanges)) }
            pace.beginBatch()
        case .part:
            phase.become(.working)
            partWritten()
        case .renewal: phase.become(.working)
        case .end(let end): finish(notBegun.map { .notBegun($0) } ?? .over(end))
        }
    }

    /// The first part is durable.
    private mutating func partWritten() {
        batch.become(.replayed)
        switch batch.parts.first {
        case .letters(let letters)?:
            pace.published(letters.map(\.replay))
            for result in earlyResults { pace.receive(result) }
            earlyResults = []
        case .resolved(_, let offsets)?: pace.progress.replayed += offsets.count
        case nil: break
        }
        partDone()
    }

    private mutating func partDone() { if let count = batch.removeFirst() { pace.dealtWith(count) } }

    /// The broker does not take what was to be written, and nothing of it is.
    private mutating func refused(_ aim: Aim, _ error: KafkaError, _ now: Moment) {
        journal.refused()
        switch aim {
        case .open: finish(.notBegun(configuration.context.beginFailure(.refused(error))))
        case .end(let end): finish(ending(end, .refused(error)))
        case .part where error.kind == .tooLarge && isPublishing:
            if !batch.makeSmaller() {
                batch.become(.tooLarge)
                pace.progress.tooLarge += 1
                partDone()
            }
            phase.become(.working)
        case .part, .renewal: end(.failed(BatchWriter.Failure.refused(error).toolFailure(configuration.work.kind)), now)
        }
    }

    private var isPublishing: Bool { if case .letters? = batch.parts.first { true } else { false } }

    /// The name is lost: it goes on when it can claim it again, unless another job has begun to work.
    private mutating func lost(_ aim: Aim, _ loss: BatchWriter.Loss, _ now: Moment) {
        let failure = BatchWriter.Failure.lost(loss)
        guard aim != .open, failure.needsClaim, claimCount < Self.claimLimit else { return giveUp(aim, failure) }
        claimCount += 1
        if aim == .part { batch.become(.inDoubt) }
        claim(aim, now)
    }

    /// The name is another job's or can't be claimed: nothing more can be written.
    private mutating func giveUp(_ aim: Aim, _ failure: BatchWriter.Failure) {
        switch aim {
        case .open: finish(.notBegun(configuration.context.beginFailure(failure)))
        case .end(let end): finish(ending(end, failure))
        case .part, .renewal: finish(.over(end(after: failure)))
        }
    }

    /// How a job ends that can't write its last words.
    private func ending(_ end: ReplayEnd, _ failure: BatchWriter.Failure) -> End {
        if let notBegun { return .notBegun(notBegun) }
        return .over(end == .complete ? self.end(after: failure) : end)
    }

    private func end(after failure: BatchWriter.Failure) -> ReplayEnd {
        if case .lost(.fenced) = failure { return .takenOver }
        return .failed(failure.toolFailure(configuration.work.kind))
    }
}
