package import HeraldEvents
internal import HeraldTime

/// How a publisher stands in one of its turns, for those who asked for it.
///
/// What is not asked for is not found. To be let go when the turn is over: the machine goes on with what it holds.
package struct PublishStanding {
    private let machine: CampaignMachine
    private let now: Moment

    init(_ machine: CampaignMachine, now: Moment) {
        self.machine = machine
        self.now = now
    }

    /// How far it is.
    package var progress: PublishProgress { machine.progress }

    /// Whether it knows what is published, and goes on with the rest: none of its beginnings, and no rest after trouble.
    package var isPublishing: Bool {
        switch machine.phase.name {
        case .publishing, .paused, .closing, .finishing, .ended: true
        case .idle, .claiming, .learning, .placing, .readingBack, .counting, .opening, .resting: false
        }
    }

    /// Why it does not go on; `nil` when it has ended.
    package var waits: JobWaitReason? { machine.waiting(now: now) }

    /// The same with what ends it and what changes it; `nil` when it is at its work.
    package var wait: WaitingPage.Wait? {
        waits.flatMap { $0.kind.isAtWork ? nil : WaitingPage.Wait($0, campaign: machine.name) }
    }

    /// What is known of why no outcome comes, in words; `nil` while some come.
    package var silence: String? { machine.silenceWords }
}
