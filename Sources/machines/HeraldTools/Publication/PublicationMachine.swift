package import HeraldDriver
package import HeraldEvents
internal import HeraldKafka
internal import HeraldKernel
package import HeraldTime

/// Publishes what a source has to its end, or until something ends it, and records in a ledger what it has done: pure.
///
/// It claims the name that it writes under, reads what is done, says that it begins, and publishes at its pace: each
/// transaction has records and what the ledger says of them. After any trouble of a transaction it claims the name again
/// and reads what is done, as another process would after a kill. ``PublicationPhase`` has the rest; ``PublicationWork``
/// is the source and the ledger, ``BatchWriter`` says how a transaction becomes durable.
package struct PublicationMachine<Work: PublicationWork>: JobMachine {
    package typealias Action = Work.Action

    /// Before it claims its name again.
    package static var restTime: Milliseconds { .seconds(1) }

    package var phase = PublicationPhase.idle
    package var work: Work
    package var writer: BatchWriter
    package var actions: [Action] = []
    /// What the transaction is about that is under way, or in doubt.
    package var writing: PublicationAim?
    /// What keeps it from reading.
    package var trouble: ToolFailure?
    package var isStopping = false
    package var hasOpened = false
    /// How often in a row it has claimed its name again.
    private var recoveries = 0
    private var lastWrite = MonotonicTime.distantPast
    /// When there is something to do although nothing comes.
    private var workWake: MonotonicTime?

    /// A machine that begins with the first ``advance(now:)``; give the only copy of the work away, because it may be large.
    package init(_ work: consuming Work, writer: BatchWriter.Configuration) {
        self.work = work
        self.writer = BatchWriter(writer)
    }

    package var isOver: Bool { phase.name == .ended }

    /// How it ended; `nil` before.
    package var end: PublicationEnd? { if case .ended(let end) = phase { end } else { nil } }

    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var nextWake: MonotonicTime? {
        var moments = [writer.nextWake]
        switch phase {
        case .idle: moments.append(.distantPast)
        case .watching(let end), .resting(let end): moments.append(end)
        case .publishing: moments.append(workWake)
        case .closing: moments.append(work.lookEnd)
        case .looking, .claiming, .learning, .placing, .readingBack, .counting, .opening, .finishing, .ended: break
        }
        return moments.compactMap { $0 }.min()
    }

    package mutating func advance(now: Moment) {
        writer.advance(now: now.monotonic)
        follow(now)
        switch phase {
        case .idle: if Work.look != nil { look() } else { claim(now) }
        // That no renewal comes only the time tells, and then the brokers' word on the end.
        case .watching(let end): if end <= now.monotonic { look() }
        case .resting(let end): if end <= now.monotonic { claim(now) }
        case .publishing:
            goOn(now)
            let wakes = work.wakes(now: now) + [work.signs ? nextSign : nil]
            workWake = wakes.compactMap { $0 }.filter { $0 > now.monotonic }.min()
        case .closing(let end): if let lookEnd = work.lookEnd, lookEnd <= now.monotonic { writeEnd(end, now) }
        case .looking, .claiming, .learning, .placing, .readingBack, .counting, .opening, .finishing, .ended: break
        }
        takeWriterActions()
    }

    // MARK: Inputs

    /// Ends with what is written; a transaction that is under way is not left alone, and a lease is given back.
    package mutating func stop(now: Moment) {
        guard !isStopping else { return }
        isStopping = true
        switch phase {
        case .idle, .looking, .watching, .claiming, .learning, .placing, .readingBack, .counting, .resting:
            if !hasOpened || !Work.hasLease { finish(.interrupted) }
        case .opening, .publishing, .finishing: withdraw(now)
        case .closing, .ended: break
        }
    }

    /// Has what is refused for now not tried again: that would be another transaction.
    package mutating func withdraw(_ now: Moment) {
        // Another process would have to wait for the lease.
        guard !Work.hasLease else { return }
        writer.giveUp(now: now.monotonic)
        follow(now)
    }

    package mutating func receive(_ report: BatchWriter.Report, now: Moment) {
        writer.receive(report, now: now.monotonic)
        follow(now)
    }

    /// Whether it knows what is published, and goes on with the rest: none of its beginnings, and no rest after trouble.
    package var isPublishing: Bool { [.publishing, .closing, .finishing, .ended].contains(phase.name) }

    /// Why it waits, with what ends and what changes that; `nil` while it works.
    package func wait(now: Moment) -> WaitingPage.Wait? {
        waiting(now: now).flatMap { $0.kind.isAtWork ? nil : WaitingPage.Wait($0, campaign: work.campaign) }
    }

    /// Why it does not go on, found in the state that it acts on: nothing about it is kept; `nil` when it has ended.
    package func waiting(now: Moment) -> JobWaitReason? {
        guard !isOver else { return nil }
        if let reason = writer.waiting(now: now) { return reason }
        switch phase {
        case .idle, .claiming, .opening, .finishing, .ended: return .nextTurn
        case .looking: return .reading(.lease)
        case .watching(let end): return work.watching(until: now.wall(end))
        case .learning: return .reading(.campaign)
        case .placing: return .reading(.ends)
        case .readingBack: return .reading(Work.ledger)
        case .counting: return .reading(.outcomes)
        case .closing: return .lastOutcomes(work.openOutcomes, until: work.lookEnd.map { now.wall($0) })
        case .resting(let end): return .resting(until: now.wall(end))
        case .publishing:
            // The step that it would take now is found by the code that takes it, on a copy.
            var copy = self
            switch copy.nextStep(now) {
            case .wait(let reason): return reason
            case .gathering: return .reading(Work.source)
            case .gather where work.isGathering: return .reading(Work.source)
            case .gather, .write, .end, .beginAnew, .giveWay: return .nextTurn
            }
        }
    }

    // MARK: Its beginning

    private mutating func look() {
        phase.become(.looking)
        if let action = Work.look { actions.append(action) }
    }

    package mutating func claim(_ now: Moment) {
        phase.become(.claiming)
        writer.claim(now: now.monotonic)
        takeWriterActions()
    }

    /// All is known that it can't go on without.
    package mutating func open(_ now: Moment) {
        phase.become(.opening)
        write(.open, now)
    }

    // MARK: Its transactions

    private mutating func takeWriterActions() { actions += writer.takeActions().map { .write($0) } }

    package mutating func write(_ aim: PublicationAim, _ now: Moment) {
        writing = aim
        guard let batch = work.batch(aim, now: now) else { return written(now) }
        writer.write(batch, now: now.monotonic)
        takeWriterActions()
    }

    /// Does what the writer's news mean.
    private mutating func follow(_ now: Moment) {
        var events = writer.takeEvents()
        while !events.isEmpty, !isOver {
            for event in events where !isOver {
                switch event {
                case .claimed:
                    guard case .claiming = phase else { break }
                    let (next, action) = work.claimed()
                    phase.become(next)
                    actions.append(action)
                case .waiting(let error):
                    if let action = work.retries(error.words) { actions.append(action) }
                    if isStopping, !Work.hasLease { writer.giveUp(now: now.monotonic) }
                case .written: written(now)
                case .refused(let error): notWritten(.refused(error), now)
                case .lost(let loss): notWritten(.lost(loss), now)
                }
            }
            events = writer.takeEvents()
        }
        takeWriterActions()
    }

    /// What was under way is durable.
    package mutating func written(_ now: Moment) {
        lastWrite = now.monotonic
        guard let aim = writing else { return }
        writing = nil
        // A start that is written proves nothing of what was refused behind it.
        if aim != .open { recoveries = 0 }
        switch (aim, phase) {
        case (.open, .opening):
            hasOpened = true
            phase.become(.publishing)
        case (.end(let end), .finishing): return finish(end)
        case (.open, _), (.part, _), (.sign, _), (.order, _), (.end, _): break
        }
        actions += work.written(aim, now: now)
    }

    private mutating func notWritten(_ failure: BatchWriter.Failure, _ now: Moment) {
        recover(work.recovery(from: failure, hasOpened ? writing : writing ?? .open, after: recoveries), now)
    }

    package mutating func recover(_ recovery: PublicationRecovery, _ now: Moment) {
        switch recovery {
        case .again(let cause, let isCounted):
            if isCounted { recoveries += 1 }
            beginAgain(cause, now)
        case .goOn: writing = nil
        case .close(let end): close(end, now)
        case .end(let end): finish(end)
        }
    }

    // MARK: Its work

    package mutating func nextStep(_ now: Moment) -> PublicationStep {
        if let trouble { return .giveWay(trouble) }
        return work.nextStep(isStopping: isStopping, now: now)
    }

    private var nextSign: MonotonicTime { lastWrite.advanced(by: Work.signInterval) }

    /// Does what is to be done next.
    private mutating func goOn(_ now: Moment) {
        if !isStopping { actions += work.questions(now: now) }
        guard writer.isReady else { return }
        let step = nextStep(now)
        switch step {
        case .write(let aim): write(aim, now)
        case .gathering: break
        case .wait, .gather:
            work.holdSource()
            if work.signs, nextSign <= now.monotonic { return write(.sign, now) }
            if case .gather(let limit) = step { actions += work.gather(limit, now: now) }
        case .end(let end): close(end, now)
        case .beginAnew: rest(now)
        case .giveWay(let failure): giveWay(to: failure, now)
        }
    }

    // MARK: Its end, and another beginning

    package mutating func finish(_ end: PublicationEnd) {
        work.noteOutcomes()
        phase.become(.ended(end))
    }

    private mutating func close(_ end: PublicationEnd, _ now: Moment) {
        guard let action = work.close(end, now: now) else { return writeEnd(end, now) }
        phase.become(.closing(end))
        actions.append(action)
    }

    package mutating func writeEnd(_ end: PublicationEnd, _ now: Moment) {
        work.noteOutcomes()
        phase.become(.finishing(end))
        write(.end(end), now)
    }

    /// It can't read on.
    package mutating func giveWay(to failure: ToolFailure, _ now: Moment) {
        if Work.hasLease { return close(.failed(failure), now) }
        if failure.kind == .unreachable { beginAgain(failure.description, now) } else { finish(.failed(failure)) }
    }

    private mutating func beginAgain(_ cause: String, _ now: Moment) {
        if let action = work.retries(cause) { actions.append(action) }
        guard !isStopping || Work.hasLease else { return finish(.interrupted) }
        rest(now)
    }

    private mutating func rest(_ now: Moment) {
        phase.become(.resting(until: now.monotonic.advanced(by: Self.restTime)))
    }
}
