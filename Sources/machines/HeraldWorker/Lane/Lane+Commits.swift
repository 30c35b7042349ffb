import HeraldCore
import HeraldKafka
import HeraldKernel
import HeraldTelemetry
import HeraldTime

extension Lane {
    func commit(_ sequence: UInt64, now: Moment) {
        let positions = commitPositions()
        if configuration.isAtomic {
            io.commitTransaction(sequence, positions, by: member)
        } else if let error = io.commit(sequence, positions) {
            logger.warning("the commit was not sent: \(error)")
            noteCommit(.failedForNow, error)
            engine.committed(sequence: sequence, .failedForNow, now: now)
        }
    }

    /// The engine's commit positions, in the client's terms.
    func commitPositions() -> [CommitPosition] {
        engine.commitPositions.map {
            CommitPosition(partition: topicPartition($0.partition), offset: $0.offset, metadata: $0.metadata)
        }
    }

    func receiveCommitOutcomes(now: Moment) {
        io.commitOutcomes { sequence, error in
            let outcome = Self.outcome(ofCommit: error)
            noteCommit(outcome, error)
            engine.committed(sequence: sequence, outcome, now: now)
            if let error { logger.warning("the commit failed: \(error)") }
        }
        carryOut(now: now)
    }

    private static func outcome(ofCommit error: KafkaError?) -> TransactionOutcome {
        guard let error else { return .acknowledged }
        return error.isOfMembership ? .refused : .failedForNow
    }
}
