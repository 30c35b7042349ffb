package import HeraldEvents
internal import HeraldKafka
package import HeraldTime

extension BatchWriter {
    /// The reason why its owner waits for it; `nil` when nothing is under way.
    package func waiting(now: Moment) -> JobWaitReason? {
        func broker(_ cause: KafkaError, since: MonotonicTime, until: MonotonicTime?) -> JobWaitReason {
            .broker(cause: cause.words, since: now.wall(since), until: until.map(now.wall))
        }
        func reason(_ attempt: Attempt, until: MonotonicTime?) -> JobWaitReason {
            attempt.cause.map { broker($0, since: attempt.since, until: until) }
                ?? .transaction(since: now.wall(attempt.since))
        }
        switch state {
        case .unclaimed, .ready, .lost: return nil
        case .claiming(let since, let end, let cause?): return broker(cause, since: since, until: end)
        case .claiming(_, let end, nil): return .claiming(until: end.map(now.wall))
        case .producing(let attempt): return reason(attempt, until: nil)
        case .committing(let attempt, let again): return reason(attempt, until: again)
        case .aborting(let attempt, let cause, let again):
            return broker(attempt.cause ?? cause.error, since: attempt.since, until: again)
        case .pausing(let attempt, let end): return reason(attempt, until: end)
        }
    }
}
