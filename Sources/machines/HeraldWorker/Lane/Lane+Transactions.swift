import HeraldCore
import HeraldDriver
import HeraldKafka
import HeraldKernel
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// Replaces a producer that the broker does not know any more.
    func renewProducer() {
        logger.warning("the producer is recreated; its uncommitted records are written again")
        do {
            try io.renewProducer()
        } catch {
            end = .failed("the producer could not be recreated: \(error). Start the worker again; nothing is lost.")
        }
    }

    func beginTransaction(now: Moment) {
        do throws(KafkaError) {
            try io.beginTransaction()
            meter.transactionBegan(now: now.monotonic)
        } catch {
            // An abort has used up the producer: no broker refuses anything.
            if error.code != KafkaError.Code.inconsistent { reportOnce(error, now: now) }
            if error.isFatal {
                engine.producerLost(isFenced: error.kind == .fenced, now: now)
            } else {
                engine.transactionFailed(now: now)
            }
        }
    }

    func receive(_ report: TransactionReport, now: Moment) {
        switch report {
        case .ready(let lateClaims):
            if !isSubscribed { subscribe() }
            engine.producerReady(lateClaims: lateClaims, now: now)
        case .waiting(let error):
            logger.warning("the brokers do not make the producer ready yet, retrying: \(error)")
        case .notReady(let error):
            end = .failed(sentence(ofNotReady: error))
        case .committed(let sequence, let error, let outcome):
            if let error {
                logger.warning("the transaction was not committed: \(error)")
                if error.code == KafkaError.Code.topicAuthorizationFailed {
                    if !hasProduced { end = .failed(sentenceOfNoWriting) }
                    let topics = engine.topicsInTransaction
                    noteRefusal(error, topic: topics.count == 1 ? topics.first : nil, now: now.monotonic)
                }
            } else {
                hasProduced = true
            }
            noteCommit(outcome, error)
            engine.committed(sequence: sequence, outcome, now: now)
        case .aborted(let error, let outcome):
            isAborting = false
            if outcome == .acknowledged { meter.transactionAborted() }
            if let error { logger.warning("the transaction was not aborted: \(error)") }
            engine.aborted(outcome, now: now)
        }
    }

    private func sentence(ofNotReady error: KafkaError) -> String {
        switch error.code {
        case KafkaError.Code.transactionalIDAuthorizationFailed:
            "Herald may not use its transactional id: run "
                + "\(KafkaPermission(.write, .describe, on: .transactionalIDs(prefix: "GROUP")).command) "
                + "(GROUP is kafka.group), or set delivery.guarantee to at-least-once."
        case _ where error.kind == .unsupported:
            "the brokers have no transactions: \(error). Set delivery.guarantee to at-least-once to work without."
        case KafkaError.Code.invalidTransactionTimeout:
            "the brokers allow no transaction that is open for as long as transaction.timeout.ms says (10 s, or three "
                + "times delivery.commitInterval, unless kafka.properties sets it): raise the brokers' "
                + "transaction.max.timeout.ms, or set a shorter transaction.timeout.ms in kafka.properties."
        default:
            "the producer can't be made ready for transactions: \(error). Start the worker again; nothing is lost."
        }
    }
}
