import HeraldCore
import HeraldKafka
import HeraldTelemetry

extension Lane {
    /// Says what the engine wants people to know: one line at each change.
    func tell(_ notice: Notice) {
        switch notice {
        case .holdBegan(let reason):
            let told = reason == .tokenUnavailable ? tokenTrouble.map { "there is no access token: \($0)." } : nil
            logger.error(
                "holding: \(told ?? reason.sentence(status: engine.hold?.status ?? 0)) "
                    + "Nothing is taken and nothing is lost; it goes on by itself.",
                ["hold": .string(reason.word)])
        case .holdEnded(let reason):
            logger.info("the backend is well again, going on", ["hold": .string(reason.word)])
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

extension Logger {
    /// Passes on what librdkafka says: its errors as warnings, because it mends most of them by itself.
    func kafka(_ notice: ClientNotice) {
        let fields: LogFields = ["part": "librdkafka"]
        // Levels as syslog has them: up to 4 (warning) somebody may want to know.
        if notice.level <= 4 { warning(notice.text, fields) } else { debug(notice.text, fields) }
    }
}
