internal import Glibc
package import HeraldKafka

extension KafkaError {
    /// Whether it is of a topic that was just made, or of a leader that moves.
    package var passesSoon: Bool {
        [
            Code.notLeaderForPartition, Code.leaderNotAvailable, Code.unknownTopicOrPartition, Code.unknownPartition,
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

extension ToolFailure {
    /// Why a topic cannot be read.
    package init(reading topic: String, _ error: KafkaError) {
        switch error.code {
        case KafkaError.Code.topicAuthorizationFailed:
            self.init("\(topic) cannot be read: \(error); allow Read and Describe on it with kafka-acls")
        case KafkaError.Code.unknownTopicOrPartition, KafkaError.Code.unknownTopic:
            self.init("there is no topic \(topic); make it with: herald topics apply")
        default:
            self.init(
                "\(topic) cannot be read: \(error)", kind: ClusterReach.isSilence(error) ? .unreachable : .failed)
        }
    }
}
