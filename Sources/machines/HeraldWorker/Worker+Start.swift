import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Worker {
    /// The longest time of one question to the brokers at the start.
    private static let questionTimeout = Milliseconds.seconds(5)

    /// Waits for the brokers and checks that the topics exist; `nil` when the lanes may start.
    func checkTopics(_ admin: Admin, _ watch: BrokerMonitor) -> WorkerEnd? {
        var logged: (silence: Bool, login: Bool) = (false, false)
        while !isStopping {
            do throws(KafkaError) {
                let metadata = try admin.metadata(timeout: Self.questionTimeout)
                watch.noteAnswer(metadata.brokers)
                let present = Set(metadata.topics.map(\.name))
                let missing = configuration.requiredTopics.filter { !present.contains($0) }
                if missing.isEmpty {
                    use(partitionCounts: metadata.topics.partitionCounts)
                    if let end = checkTransactions(admin) { return end }
                    checkLimits(admin)
                    return nil
                }
                return .failed(ClusterReport.missing(missing).sentence)
            } catch {
                let notices = admin.takeNotices().notices
                watch.noteSilence(error, notices)
                for notice in notices { troubles.kafka(notice, now: SystemClock.monotonic()) }
                if let finding = watch.latest.loginTrouble {
                    if !logged.login { logger.error(finding.sentence) }
                    logged = (true, true)
                } else if !logged.silence {
                    logger.warning("no broker answers yet, retrying: \(error.wordsInFull)")
                    logged.silence = true
                }
            }
        }
        return .stopped
    }

    /// Finds out what the topics take; nothing of it keeps a worker from starting.
    private func checkLimits(_ admin: Admin) {
        guard !isEmbedded(admin) else { return }
        let error = limits.ask(
            admin, about: configuration.requiredTopics, timeout: Self.questionTimeout)
        if let error {
            logger.warning(
                "how large records may be is not known, so a transaction may be refused for one and be written again "
                    + "without it; allow DescribeConfigs on Herald's topics: \(error)")
        }
    }

    /// The lane's configuration with what the topics take: no batch may be larger than that.
    func knowingTopics(_ lane: LaneConfiguration) -> LaneConfiguration {
        var lane = lane
        lane.limits = limits
        lane.reach = reach
        let written = configuration.requiredTopics.filter { !lane.engine.topics.requests.contains($0) }
        let batch = limits.batch(for: written)
        if batch < RecordLimits.largestBatch, lane.producerProperties["batch.size"] == nil {
            lane.producerProperties.append("batch.size", String(batch))
        }
        return lane
    }

    /// The lane's configuration with the admin port in the member's name; a name that the settings gave it stays.
    func carrying(_ port: UInt16?, _ lane: LaneConfiguration) -> LaneConfiguration {
        guard let port, lane.consumerProperties["client.id"] == Self.clientID else { return lane }
        var lane = lane
        lane.consumerProperties.append("client.id", AdminPortName.clientID(Self.clientID, port: port))
        return lane
    }

    /// The name of clients whose settings give them none.
    public static let clientID = "herald"

    private func isEmbedded(_ admin: Admin) -> Bool {
        admin.isOfEmbeddedBroker(timeout: Self.questionTimeout)
    }

    /// librdkafka's embedded broker answers to transactions, and throws their offsets away.
    private func checkTransactions(_ admin: Admin) -> WorkerEnd? {
        guard configuration.needsTransactions, isEmbedded(admin) else { return nil }
        return .failed(
            "this is librdkafka's embedded broker, which has no real transactions: set delivery.guarantee to at-least-once."
        )
    }
}
