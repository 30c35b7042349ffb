package import HeraldKafka
package import HeraldKernel

/// What became of a transactional call.
package enum TransactionReport: Sendable {
    /// The producer has its name, and what an earlier holder of it left open is ended.
    ///
    /// - Parameter lateClaims: how many of its claims have no answer: each may arrive later, and fences the holder then.
    case ready(lateClaims: Int)
    /// No broker makes it ready at the moment; it is asked for again.
    case waiting(KafkaError)
    /// It can't be made ready, and waiting will not help.
    case notReady(KafkaError)
    /// A commit, or the question what became of one.
    case committed(sequence: UInt64, KafkaError?, CallOutcome)
    /// An abort.
    case aborted(KafkaError?, CallOutcome)

    /// Whether a transaction's records are durable now.
    package var isCommitted: Bool {
        if case .committed(_, _, .acknowledged) = self { true } else { false }
    }
}
