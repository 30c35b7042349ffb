import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry

extension Lane {
    /// Says what the engine wants people to know: one line at each change.
    func tell(_ notice: Notice) {
        switch notice {
        case .holdBegan(let reason):
            let told = reason == .tokenUnavailable ? tokenTrouble.map { "there is no access token: \($0)." } : nil
            logger.error(
                "outage: \(told ?? reason.sentence(status: engine.hold?.status ?? 0)) "
                    + "Nothing is taken and nothing is lost; it goes on by itself.",
                ["outage": .string(reason.word)])
        case .holdEnded(let reason):
            logger.info("the backend is well again, going on", ["outage": .string(reason.word)])
        case .foreignMetadata(let topic, let partition):
            logger.warning(
                "the group's offset carries metadata that is not Herald's, or damaged; it is ignored, and what was done "
                    + "beyond the offset may be done again",
                ["topic": .string(topic), "partition": .int(Int(partition))])
        case .recordRefused:
            logger.error(
                "a record is too large for its topic whatever is left out of it; raise the topic's max.message.bytes. "
                    + "It is offered again by itself; others go on.")
        case .rival:
            end = .failed(
                "another process writes under this worker's name: two workers must never share kafka.instance. "
                    + "Give each its own, or leave it out. Nothing is lost.")
        case .gaveUp(let events):
            logger.warning(
                "the time to drain is over; events under way will be taken again",
                ["events": .int(events)])
        }
    }
}

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
