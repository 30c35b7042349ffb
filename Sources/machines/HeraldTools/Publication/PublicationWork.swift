package import HeraldDriver
package import HeraldEvents
package import HeraldTime

/// What a publication wants done: its transactions, and what its source and ledger are asked for.
package protocol PublicationAction: Sendable {
    static func write(_ action: BatchWriter.Action) -> Self
}

/// What a transaction is for.
package enum PublicationAim: Sendable, Equatable {
    /// What a publication says that begins.
    case open
    /// What is published, or marked.
    case part
    /// That it lives.
    case sign
    /// An order of its own to what it publishes.
    case order
    /// The last words.
    case end(PublicationEnd)
}

/// What comes next, when the writer is free.
package enum PublicationStep: Sendable {
    case write(PublicationAim)
    /// So much of the source at most may be in the next transaction.
    case gather(Int)
    /// The source is read.
    case gathering
    case wait(JobWaitReason)
    case end(PublicationEnd)
    /// It begins anew, to read what it does not yet.
    case beginAnew
    /// It can't go on.
    case giveWay(ToolFailure)
}

/// What a transaction that was not written leads to.
package enum PublicationRecovery: Sendable {
    /// It rests, claims the name again, and reads what is done.
    ///
    /// - Parameter isCounted: whether a few of these in a row are too many.
    case again(cause: String, isCounted: Bool)
    /// It goes on with less.
    case goOn
    /// The last words are still to be written.
    case close(PublicationEnd)
    /// Nothing more can be written.
    case end(PublicationEnd)
}

/// The source of a ``PublicationMachine`` and the ledger of what was done of it: dead letters and their marks, an audience
/// and the campaign's progress, a hub's answers and the group's offsets.
///
/// Pure. What is read arrives by methods of the machine that its work's module adds.
package protocol PublicationWork: Sendable {
    associatedtype Action: PublicationAction

    /// A living publication writes something so often.
    static var signInterval: Milliseconds { get }
    /// Whether the ledger has a lease, which is to be given back; else whoever has the name may publish.
    static var hasLease: Bool { get }
    /// What is read of what was done before.
    static var ledger: JobWaitReason.Reading { get }
    /// What is read of the source.
    static var source: JobWaitReason.Reading { get }
    /// Asks who has the lease.
    static var look: Action? { get }
    /// Tells that something is tried again because of this.
    mutating func retries(_ cause: String) -> Action?

    /// The name is its own: what is read first.
    mutating func claimed() -> (phase: PublicationPhase, action: Action)
    /// What a transaction holds; `nil` where there is nothing to write.
    mutating func batch(_ aim: PublicationAim, now: Moment) -> BatchWriter.Batch?
    /// A transaction is durable; what is done then.
    mutating func written(_ aim: PublicationAim, now: Moment) -> [Action]
    /// A transaction was refused or lost; `nil` for the claim of a publication that has not begun.
    ///
    /// - Parameter count: how many in a row were, and are counted.
    mutating func recovery(
        from failure: BatchWriter.Failure, _ aim: PublicationAim?, after count: Int
    ) -> PublicationRecovery
    /// What it has to ask, whatever comes next.
    mutating func questions(now: Moment) -> [Action]
    mutating func nextStep(isStopping: Bool, now: Moment) -> PublicationStep
    /// Nothing is gathered now.
    mutating func holdSource()
    /// So much of the source at most is wanted.
    mutating func gather(_ limit: Int, now: Moment) -> [Action]
    /// Whether more of the source is wanted.
    var isGathering: Bool { get }
    /// It comes to its end: what is read before the last words.
    mutating func close(_ end: PublicationEnd, now: Moment) -> Action?
    /// Its last words follow, or it ends without them.
    mutating func noteOutcomes()
    /// Until when, at most, it reads before its last words.
    var lookEnd: MonotonicTime? { get }
    /// When something changes by itself, and nothing comes.
    func wakes(now: Moment) -> [MonotonicTime?]
    /// The outcomes that are waited for.
    var openOutcomes: JobWaitReason.Outcomes { get }
    /// Why it waits while it watches another.
    func watching(until: WallTime) -> JobWaitReason
    /// What the commands that change its waits are about.
    var campaign: String? { get }
    /// Whether it shows that it lives.
    var signs: Bool { get }
}

extension PublicationWork {
    package static var look: Action? { nil }
    package mutating func retries(_ cause: String) -> Action? { nil }
    package mutating func questions(now: Moment) -> [Action] { [] }
    package mutating func holdSource() {}
    package mutating func gather(_ limit: Int, now: Moment) -> [Action] { [] }
    package var isGathering: Bool { false }
    package mutating func close(_ end: PublicationEnd, now: Moment) -> Action? { nil }
    package mutating func noteOutcomes() {}
    package var lookEnd: MonotonicTime? { nil }
    package var openOutcomes: JobWaitReason.Outcomes { JobWaitReason.Outcomes(open: 0) }
    package func watching(until: WallTime) -> JobWaitReason { .nextTurn }
    package var campaign: String? { nil }
    package var signs: Bool { true }
}
