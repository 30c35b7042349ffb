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
    static let renewalInterval = Milliseconds(Lease.renewal)
    static let leasePatience = Milliseconds(Lease.patience)

    let configuration: Configuration
    let plan: ReplayPlan
    /// `nil` of what is resolved: its offsets are the plan's.
    let rules: ReplayRules?
    package internal(set) var phase = Phase.idle
    var writer: BatchWriter
    var journal: Journal
    var known = KnownState()
    var pace: ReplayPace
    var batch: LetterBatch
    var actions: [Action] = []
    /// Results of letters whose transaction is under way: it may be durable before the machine knows.
    var earlyResults: [NotificationResult] = []
    /// No letter of the plan is left to be read.
    var isAtEnd = false
    /// How many letters the next transaction may still take.
    var room = 0
    /// Up to where letters were handed over, by partition.
    private(set) var takenTo: [Int32: Int64] = [:]
    /// No further letter came for a moment.
    var isDry = false
    var isStopping = false
    var pause: ReplayPause?
    var lastWrite = MonotonicTime.distantPast
    var claimCount = 0
    /// What kept it from reading.
    var readingFailure: ToolFailure?
    /// It has taken the lease, but can't read the letters.
    var notBegun: ToolFailure?

    /// A machine that begins with the first ``advance(now:)``.
    package init(_ configuration: Configuration) {
        self.configuration = configuration
        let context = configuration.context
        writer = BatchWriter(configuration.writer)
        journal = Journal(
            context, job: configuration.job, process: configuration.process, work: configuration.work.words)
        let hasOutcomes = context.watchedTopic == nil
        switch configuration.work {
        case .replay(let plan, let rules, let options):
            (self.plan, self.rules) = (plan, rules)
            pace = ReplayPace(
                options, planned: plan.count, batchLimit: LetterBatch.transactionCount, hasOutcomes: hasOutcomes)
            batch = LetterBatch()
        case .resolve(let plan, _, _):
            (self.plan, rules) = (ReplayPlan(), nil)
            pace = ReplayPace(
                ReplayOptions(), planned: plan.count, batchLimit: LetterBatch.transactionCount, hasOutcomes: true)
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

    var renewal: MonotonicTime { lastWrite.advanced(by: Self.renewalInterval) }

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
            let end = now.monotonic.advanced(by: Self.leasePatience)
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
            let trace = configuration.context.trace
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
}
