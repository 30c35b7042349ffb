package import HeraldKafka

extension KafkaError {
    /// Whether it is of a topic that was just made, or of a leader that moves.
    package var passesSoon: Bool {
        [
            Code.notLeaderForPartition, Code.leaderNotAvailable, Code.unknownTopicOrPartition, Code.unknownPartition,
        ].contains(code)
    }
}
