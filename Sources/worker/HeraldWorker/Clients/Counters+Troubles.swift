import HeraldCore
import HeraldEvents

extension Counters {
    /// What has happened since that people want to know of.
    func troubles(since before: Counters, services: Int) -> [(reason: TroubleLog.Reason, count: Int)] {
        var troubles: [(reason: TroubleLog.Reason, count: Int)] = []
        for reason in DeadLetterReason.allCases {
            let count = deadLetters(reason) - before.deadLetters(reason)
            if count > 0 { troubles.append((.deadLetters(reason), count)) }
        }
        for end in [CallEnd.refused, .reset, .timeout, .brokenHTTP] {
            let count = (0..<services).reduce(0) { sum, service in
                sum + calls(end, service: service) - before.calls(end, service: service)
            }
            if count > 0 { troubles.append((.unanswered(end), count)) }
        }
        return troubles
    }
}
