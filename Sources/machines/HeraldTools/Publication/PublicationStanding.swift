package import HeraldEvents
package import HeraldTime

/// How a publication stands in one of its turns, for those who asked for it.
///
/// What is not asked for is not found. To be let go when the turn is over: the machine goes on with what it holds.
package struct PublicationStanding<Work: PublicationWork> {
    package let machine: PublicationMachine<Work>
    package let now: Moment

    package init(_ machine: PublicationMachine<Work>, now: Moment) {
        self.machine = machine
        self.now = now
    }

    /// Whether it knows what is published, and goes on with the rest: none of its beginnings, and no rest after trouble.
    package var isPublishing: Bool {
        switch machine.phase.name {
        case .publishing, .closing, .finishing, .ended: true
        case .idle, .looking, .watching, .claiming, .learning, .placing, .readingBack, .counting, .opening, .resting:
            false
        }
    }

    /// Why it does not go on; `nil` when it has ended.
    package var waits: JobWaitReason? { machine.waiting(now: now) }

    /// The same with what ends it and what changes it; `nil` when it is at its work.
    package var wait: WaitingPage.Wait? {
        waits.flatMap { $0.kind.isAtWork ? nil : WaitingPage.Wait($0, campaign: machine.work.campaign) }
    }
}
