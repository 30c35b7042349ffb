internal import HeraldKafka
import HeraldTime
internal import HeraldTools

/// Transactions that are begun and aborted: what they write no reader of committed records ever sees.
final class TransactionProbe {
    struct Trial: Sendable {
        /// Why the broker would not have taken it; `nil` when it would.
        var refusal: KafkaError?
        /// How long the abort took, which a broker ends a transaction by as it does by a commit.
        var endDuration: Milliseconds
    }

    /// A broker's default allows 4 096 characters; a string on the wire has at most 32 767.
    private static let refusedMetadata = String(repeating: "x", count: 30_000)
    /// A first transaction may find its coordinator still starting.
    private static let claimTimeout = Milliseconds.seconds(6)
    private static let callTimeout = Milliseconds.seconds(4)
    private static let stepLength = Milliseconds.milliseconds(50)

    private let producer: Producer
    private let timeLeft: TimeLeft
    private var report: KafkaError??

    init(properties: ClientProperties, id: String, timeLeft: TimeLeft) throws(KafkaError) {
        self.timeLeft = timeLeft
        producer = try Producer(properties: properties + [("transactional.id", id)])
    }

    /// Claims the name, which no other producer has.
    func claim() throws(KafkaError) {
        let limit = timeLeft.step(atMost: Self.claimTimeout)
        try producer.blocking(pollingReports: serve(wait:)) { (producer) throws(KafkaError) in
            try producer.initTransactions(timeout: limit)
        }
    }

    /// Writes a record to a topic under a name of its own, waits until the broker has it, and takes it back.
    ///
    /// A topic that is refused breaks its producer (librdkafka 2.0 aborts what the broker has not begun), so no two share one.
    static func write(
        to partition: TopicPartition, properties: ClientProperties, id: String, timeLeft: TimeLeft
    ) -> Trial {
        do throws(KafkaError) {
            let probe = try TransactionProbe(properties: properties, id: id, timeLeft: timeLeft)
            defer { probe.close() }
            try probe.claim()
            return probe.write(to: partition.topic, partition: partition.partition)
        } catch {
            return Trial(refusal: error, endDuration: .zero)
        }
    }

    private func write(to topic: String, partition: Int32) -> Trial {
        trial { () throws(KafkaError) in
            report = nil
            let bytes = Array("herald doctor: aborted".utf8)
            if let refusal = producer.produce(
                topic: try producer.topic(topic), partition: partition, key: bytes.span.bytes, value: bytes.span.bytes,
                token: 1)
            {
                throw refusal
            }
            let end = ContinuousClock.now + timeLeft.step(atMost: Self.callTimeout).duration
            while ContinuousClock.now < end {
                serve(wait: Self.stepLength)
                // What keeps the transaction from going on comes first: its records are only given up for that.
                if let error = transactionError() { throw error }
                if let report {
                    if let error = report { throw error }
                    return
                }
            }
            throw KafkaError(code: KafkaError.Code.timedOut)
        }
    }

    /// Sends an offset of the group that the broker refuses for what is noted with it, after it has looked at the permissions.
    ///
    /// - Returns: its trial; the refusal is `OFFSET_METADATA_TOO_LARGE` when the permissions are there.
    func sendRefusedOffset(of partition: TopicPartition, group: GroupMetadata) -> Trial {
        let limit = timeLeft.step(atMost: Self.callTimeout)
        return trial { () throws(KafkaError) in
            let position = CommitPosition(partition: partition, offset: 0, metadata: Self.refusedMetadata)
            try producer.blocking(pollingReports: serve(wait:)) { (producer) throws(KafkaError) in
                try producer.sendOffsets([position], group: group, timeout: limit)
            }
        }
    }

    private func trial(_ body: () throws(KafkaError) -> Void) -> Trial {
        var refusal: KafkaError?
        do throws(KafkaError) {
            _ = producer.takeNotices()
            try producer.beginTransaction()
            try body()
        } catch {
            refusal = error
        }
        let begin = ContinuousClock.now
        let limit = timeLeft.step(atMost: Self.callTimeout)
        do throws(KafkaError) {
            try producer.blocking(pollingReports: serve(wait:)) { (producer) throws(KafkaError) in
                try producer.abortTransaction(timeout: limit)
            }
        } catch {
            refusal = refusal ?? error
        }
        return Trial(refusal: refusal, endDuration: Milliseconds(.now - begin))
    }

    /// What keeps the transaction from going on, which librdkafka says in its log before any call does.
    private func transactionError() -> KafkaError? {
        for notice in producer.takeNotices().notices where notice.text.hasPrefix("TXNERR") {
            let known = [
                KafkaError.Code.topicAuthorizationFailed, KafkaError.Code.transactionalIDAuthorizationFailed,
                KafkaError.Code.unknownTopicOrPartition, KafkaError.Code.clusterAuthorizationFailed,
            ].map { KafkaError(code: $0) }
            return known.first { notice.text.contains($0.name) || notice.text.contains($0.message) }
                ?? KafkaError(code: KafkaError.Code.state, message: notice.text)
        }
        return nil
    }

    private func serve(wait: Milliseconds) {
        producer.reports(wait: wait) { report = .some($0.error) }
    }

    func close() { producer.close() }
}
