internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKernel
internal import HeraldTime
internal import HeraldTools

/// What a job does next under its lease, which it claims and gives back.
extension ReplayMachine {
    /// The lease, unless no process lives behind it.
    func livingLease(_ holder: Lease.Life) -> Lease? {
        guard let lease = known.lease, !lease.isOver, holder != .ended else { return nil }
        return lease
    }

    mutating func claim(_ aim: Aim, _ now: Moment) {
        phase.become(.claiming(aim))
        writer.claim(now: now.monotonic)
        takeWriterActions()
    }

    /// The name is its own, so these are all marks that will ever come of others.
    mutating func marksRead(_ aim: Aim, _ now: Moment) {
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

    mutating func finish(_ end: End) {
        pace.noteOutcomes()
        phase.become(.ended(end))
    }

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
    mutating func work(_ now: Moment) {
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

    mutating func end(_ end: ReplayEnd, _ now: Moment) {
        pace.noteOutcomes()
        journal.end()
        write(.end(end), now)
    }
}
