internal import Glibc

extension KafkaError {
    /// Whether it is of a topic that was just made, or of a leader that moves.
    package var passesSoon: Bool {
        [
            Code.notLeaderForPartition, Code.leaderNotAvailable, Code.unknownTopicOrPartition, Code.unknownPartition,
        ].contains(code)
    }

    /// Whether it says that the topic is not what it was: missing, forbidden, or another one of the same name.
    ///
    /// A client reports it only when it has lasted for a while (`topic.metadata.propagation.max.ms`).
    public var isOfTopic: Bool {
        [
            Code.topicAuthorizationFailed, Code.unknownTopicOrPartition, Code.unknownTopic, Code.unknownPartition,
            Code.offsetOutOfRange, Code.autoOffsetReset,
        ].contains(code)
    }

    /// Asks again for so long while a topic that was just made, or a leader that moves, is not known everywhere.
    package static func outwaiting<Answer>(
        within patience: Duration, _ ask: () throws(KafkaError) -> Answer
    ) throws(KafkaError) -> Answer {
        let deadline = ContinuousClock.now + patience
        while true {
            do throws(KafkaError) {
                return try ask()
            } catch {
                guard error.passesSoon, ContinuousClock.now < deadline else { throw error }
                // Nothing tells when it is known.
                usleep(100_000)
            }
        }
    }
}
