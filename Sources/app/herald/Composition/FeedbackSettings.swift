import HeraldCommandLine
import HeraldFeedback
import HeraldHTTP
import HeraldHub
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTime

extension Settings {
    /// The follower's group: its offsets must not be mixed up with those of the workers.
    var feedbackGroup: String { kafka.group + "-feedback" }

    /// What the follower of a hub's telemetry needs.
    ///
    /// - Throws: a ``CommandFailure`` when the settings name no hub, or its connection string can't be read.
    func feedbackConfiguration() throws -> FeedbackConfiguration {
        guard backend.kind == .azureHub, let hub = backend.hub.name else {
            throw CommandFailure(
                "backend.kind: only a hub says what became of its messages; set backend.kind to azure-hub, with "
                    + "backend.hub.connectionStringFile and backend.hub.name", status: .badSettings)
        }
        guard backend.hub.telemetry else {
            throw CommandFailure(
                "backend.hub.telemetry: without it results do not say what the hub calls its messages; set it to true, "
                    + "for the workers, too", status: .badSettings)
        }
        let readConnectionString: @Sendable () throws -> HubConnectionString = { try self.hubConnectionString() }
        // A mistake is said before anything is consumed.
        let first: HubConnectionString
        do {
            first = try readConnectionString()
        } catch {
            throw CommandFailure("\(error)", status: .badSettings)
        }
        var engine = FeedbackEngine.Configuration()
        engine.asksPerSecond = Double(feedback.asksPerSecond)
        let timeout = KafkaClientSettings.feedbackWriter(self)["transaction.timeout.ms"].flatMap { Int($0) } ?? 10_000
        return FeedbackConfiguration(
            topics: topicNames, readerProperties: KafkaClientSettings.feedbackReader(self),
            writerProperties: KafkaClientSettings.feedbackWriter(self), transactionTimeout: .milliseconds(timeout),
            connectionString: readConnectionString, hub: hub,
            connections: ConnectionOptions(
                origin: first.origin, limit: engine.inFlightLimit,
                connectTimeout: Milliseconds(backend.connectTimeout), proxy: try backendProxy(),
                tls: backendTLSFiles),
            timeout: Milliseconds(backend.timeout), engine: engine,
            containerInterval: feedback.containerInterval == .zero ? nil : feedback.containerInterval)
    }
}
