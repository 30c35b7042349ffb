package import HeraldEvents
package import HeraldKernel
package import HeraldTime
package import HeraldTools

/// Carries out what was planned for dead letters, under the lease: pure.
///
/// Each transaction holds the replayed records, their marks and the lease. Several jobs share one name: after it was
/// fenced, or when it is in doubt what was written, the marks say what was done, and the lease whose turn it is.
package typealias ReplayMachine = PublicationMachine<LetterPublication>

extension PublicationMachine<LetterPublication> {
    /// The job's name.
    package var job: String { work.transaction.job }

    /// How far it is; its batch is 0 before the lease is its own.
    package var progress: ReplayProgress { work.pace.progress }

    /// Whether it has come to its work; else nothing was done.
    package var hasBegun: Bool { hasOpened && !work.isWithoutLetters }

    /// Whether the next letter is wanted.
    package var mayTakeLetter: Bool { work.isGathering }
    /// Whether letters wait for more of them.
    package var hasLetters: Bool { !work.batch.letters.isEmpty }

    // MARK: The lease and the marks

    /// What the state topic says by now.
    ///
    /// - Parameter holder: what is known of the process that has the lease.
    package mutating func stateRead(_ state: KnownState, holder: Lease.Life, now: Moment) {
        switch phase {
        case .looking:
            work.known = state
            guard let lease = work.livingLease(holder) else { return claim(now) }
            if let seen = work.holder { return lease == seen ? claim(now) : finish(.failed(lease.busy)) }
            guard holder != .living else { return finish(.failed(lease.busy)) }
            work.holder = lease
            phase.become(.watching(until: now.monotonic.advanced(by: LetterPublication.leasePatience)))
            actions.append(.watchState(lease))
        case .watching:
            work.known = state
            guard let lease = work.livingLease(holder) else { return claim(now) }
            if lease != work.holder { finish(.failed(lease.busy)) }
        case .readingBack:
            work.known = state
            marksRead(now)
        case .idle, .claiming, .learning, .placing, .counting, .opening, .publishing, .closing, .finishing, .resting,
            .ended:
            break
        }
    }

    /// The name is its own, so these are all marks that will ever come of others.
    private mutating func marksRead(_ now: Moment) {
        guard hasOpened, let aim = writing else { return open(now) }
        guard work.known.lease?.job == job else { return finish(work.end(aim, after: .takenOver)) }
        if case .end(let end) = aim { phase.become(.finishing(end)) } else { phase.become(.publishing) }
        if aim == .part, work.batch.isMarked(in: work.known.marks) { return written(now) }
        write(aim, now)
    }

    /// The state topic can't be read.
    package mutating func stateNotRead(_ failure: ToolFailure, now: Moment) {
        switch phase {
        case .looking, .watching: finish(.failed(failure))
        // Whose lease it is by now is not known, so it writes nothing.
        case .readingBack: finish(work.end(writing, after: .failed(failure)))
        case .idle, .claiming, .learning, .placing, .counting, .opening, .publishing, .closing, .finishing, .resting,
            .ended:
            break
        }
    }

    // MARK: The letters

    /// Publishes nothing more until it is resumed (`nil`); the lease is kept, and outcomes are counted.
    package mutating func pause(_ pause: ReplayPause?) {
        work.pause = pause
        if pause != nil { work.pace.pause() }
    }

    /// Takes the next letter of the topic: one of the plan that no other job has dealt with meanwhile is published.
    package mutating func take(_ entry: inout DeadLetterEntry, now: Moment) { work.take(&entry, now: now) }

    /// No further letter comes for a moment: what there is goes.
    package mutating func lettersPaused() { work.isDry = true }

    /// All of the plan was handed over.
    package mutating func lettersEnded() { work.isAtEnd = true }

    /// The letters can't be read at all: it has taken the lease for nothing.
    package mutating func lettersNotStarted(_ failure: ToolFailure) {
        work.isWithoutLetters = true
        readingFailed(failure)
    }

    /// Letters or outcomes can't be read any more.
    package mutating func readingFailed(_ failure: ToolFailure) { trouble = trouble ?? failure }

    /// Takes a result of the results topic.
    package mutating func receive(_ result: NotificationResult) { work.receive(result) }

    /// Takes what went to a retry topic.
    package mutating func receive(_ event: RetriedEvent) { work.receive(event) }

    /// So many replays of others' dead letters came back as new ones.
    package mutating func cameBack(_ count: Int) { work.pace.cameBack(count) }

    /// Why a letter is not replayed or marked yet; `nil` when it is, or does not belong to the job.
    package func waiting(forPartition partition: Int32, offset: Int64, now: Moment) -> JobWaitReason? {
        guard let reason = waiting(now: now) else { return nil }
        if work.batch.contains(partition: partition, offset: offset) { return reason }
        guard let ahead = work.lettersAhead(partition: partition, offset: offset) else { return nil }
        return ahead == 0 ? reason : .turn(ahead: ahead, doing: reason.phrase)
    }
}

/// What becomes of a dead letter of the plan in a job.
package enum LetterState: String, CaseIterable, CheckedState {
    /// It is read again, in its turn.
    case planned
    /// The rules leave it out by now.
    case leftOut
    /// It is to be written.
    case gathered
    /// A transaction with it and its mark is under way.
    case writing
    /// Whether that was committed, only its mark tells.
    case inDoubt
    case replayed
    /// It is too large for its topic, and stays as it is.
    case tooLarge

    package var name: Self { self }

    package static let transitions = TransitionTable<Self>([
        .init([.planned], "it was dealt with meanwhile, or has expired", [.leftOut]),
        .init([.planned], "it is its turn", [.gathered]),
        .init([.gathered], "its transaction begins", [.writing]),
        .init([.writing], "committed", [.replayed]),
        .init([.writing], "too large with others, or with its history", [.gathered]),
        .init([.writing], "too large alone, and without its history", [.tooLarge]),
        .init([.writing], "the name was lost, or a broker does not say", [.inDoubt]),
        .init([.inDoubt], "the name is claimed, and its mark is there", [.replayed]),
        .init([.inDoubt], "the name is claimed, and its mark is not there", [.writing]),
    ])
}
