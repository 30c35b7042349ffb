package import HeraldKafka
package import HeraldKernel

extension KafkaError {
    /// What follows a transactional call that failed with this error: the one table for delivery, replays, campaigns
    /// and feedback.
    ///
    /// | error | outcome |
    /// |---|---|
    /// | fatal | `fatal`: a new producer |
    /// | the group does not count the caller as a member | `refused`: an abort |
    /// | abortable | `abortable`: an abort |
    /// | retriable, or no broker answers | `failedForNow`: the same call again |
    /// | any other | `fatal`: what librdkafka has no word for leaves the transaction in an unknown state |
    ///
    /// Sources: librdkafka's `rd_kafka_error_is_fatal`, `rd_kafka_error_txn_requires_abort`, `rd_kafka_error_is_retriable`;
    /// KIP-98, KIP-447.
    package var outcome: CallOutcome {
        if isFatal { return .fatal(isFenced: kind == .fenced) }
        if isOfMembership { return .refused }
        if isAbortable { return .abortable }
        if isRetriable || kind == .unreachable { return .failedForNow }
        return .fatal(isFenced: kind == .fenced)
    }
}
