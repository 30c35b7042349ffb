package import HeraldKernel
package import HeraldTime
package import HeraldTools

extension ReplayMachine {
    /// What a transaction is for.
    package enum Aim: Sendable, Equatable {
        /// Lease and audit entry of a job that begins.
        case open
        /// Letters or marks: the first of the machine's parts.
        case part
        /// The lease alone.
        case renewal
        /// The last words of a job that ends so.
        case end(ReplayEnd)
    }

    /// How far a job is.
    package enum Phase: CheckedState {
        case idle
        /// It reads who works on the dead letters; `since`: the lease that it has seen unchanged for long enough.
        case looking(since: Lease?)
        /// It watches whether another job's lease changes.
        case watching(Lease, until: MonotonicTime)
        /// It claims the name, to write this then.
        case claiming(Aim)
        /// It reads the marks through every open transaction.
        case reading(Aim)
        /// A transaction is under way.
        case writing(Aim)
        /// None is, and it decides what comes next.
        case working
        case ended(End)

        package enum Name: String, CaseIterable, Sendable {
            case idle, looking, watching, claiming, reading, opening, working, writing, renewing, finishing, ended
        }

        package var name: Name {
            switch self {
            case .idle: .idle
            case .looking: .looking
            case .watching: .watching
            case .claiming: .claiming
            case .reading: .reading
            case .writing(.open): .opening
            case .writing(.part): .writing
            case .writing(.renewal): .renewing
            case .writing(.end): .finishing
            case .working: .working
            case .ended: .ended
            }
        }

        package static let transitions = TransitionTable<Name>([
            .init([.idle], "at once", [.looking]),
            .init([.looking], "another job has the lease, and may live", [.watching]),
            .init([.watching], "its lease has not changed for long enough", [.looking]),
            .init([.looking, .watching], "no job that lives has it", [.claiming]),
            .init([.looking, .watching], "another job lives", [.ended]),
            .init([.claiming], "the name is its own, and what others had begun is ended", [.reading]),
            .init([.reading], "the marks are known, of a job that begins", [.opening]),
            .init([.opening], "lease and first audit entry are durable", [.working]),
            .init([.looking, .claiming, .reading, .opening], "it can't begin", [.ended]),
            .init([.working], "letters are gathered, or some of a part are left", [.writing]),
            .init([.working], "the lease is due", [.renewing]),
            .init([.writing, .renewing], "durable, or the letters are too large together", [.working]),
            .init([.writing, .renewing, .finishing], "fenced, or in doubt", [.claiming]),
            .init([.reading], "the lease is its own still, and what was in doubt is written", [.working]),
            .init(
                [.reading], "the lease is its own still, and it is not: once more", [.writing, .renewing, .finishing]),
            .init([.working, .writing, .renewing], "complete, paused, stopped or failed", [.finishing]),
            .init([.finishing], "durable, or refused", [.ended]),
            .init(
                [.claiming, .reading, .writing, .renewing, .finishing], "it is another job's, or no broker answers",
                [.ended]),
        ])
    }

    /// How it ended.
    package enum End: Sendable, Equatable {
        /// It has done nothing.
        case notBegun(ToolFailure)
        case over(ReplayEnd)
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
