import HeraldCore
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    func commit(_ sequence: UInt64, now: Moment) {
        let positions = commitPositions()
        if let transactionCalls {
            transactionCalls.commit(sequence, positions, group: groupMetadata)
        } else if let error = consumer.commit(positions, token: sequence, reportTo: commits) {
            logger.warning("the commit was not sent: \(error)")
            noteCommit(.failedForNow, error)
            engine.committed(sequence: sequence, .failedForNow, now: now)
        }
    }

    /// What the engine wants committed, in the client's words.
    func commitPositions() -> [CommitPosition] {
        engine.commitPositions.map { committed in
            let position = engine.position(of: committed.partition)
            return CommitPosition(
                partition: TopicPartition(topic: position.topic, partition: position.number),
                offset: committed.offset, metadata: committed.metadata)
        }
    }

    func hearCommits(now: Moment) {
        commits.commits { sequence, error, results in
            let failure = error ?? results.compactMap(\.error).first
            let outcome = Self.outcome(ofCommit: failure)
            noteCommit(outcome, failure)
            engine.committed(sequence: sequence, outcome, now: now)
            if let failure { logger.warning("the commit failed: \(failure)") }
        }
        carryOut(now: now)
    }

    private static func outcome(ofCommit error: KafkaError?) -> CommitOutcome {
        guard let error else { return .acknowledged }
        switch error.code {
        case KafkaError.Code.illegalGeneration, KafkaError.Code.unknownMemberID, KafkaError.Code.fencedInstanceID,
            KafkaError.Code.assignmentLost:
            return .refused
        default:
            return .failedForNow
        }
    }
}
