import HeraldCore
import HeraldEvents
import HeraldTime

/// Properties of a record for tests, whatever its kind.
extension Production {
    enum Kind { case result, retry, deadLetter }

    var kind: Kind {
        guard let copy else { return .result }
        return if case .retry = copy.destination { .retry } else { .deadLetter }
    }

    var final: FinalOutcome? { if case .result(let final, _) = content { final } else { nil } }
    var outcome: Outcome? { final?.outcome }
    var firstOutcome: Outcome? { if case .duplicate(let first) = final { first } else { nil } }
    var delay: Int? { retry?.delay }
    var dueAt: WallTime? { retry?.dueAt }
    var retryReason: RetryReason? { retry?.reason }

    private var copy: EventCopy? { if case .copy(let copy) = content { copy } else { nil } }

    private var retry: (delay: Int, dueAt: WallTime, reason: RetryReason?)? {
        guard case .retry(let delay, let dueAt, let reason) = copy?.destination else { return nil }
        return (delay, dueAt, reason)
    }
}
