import HeraldBackend
import HeraldCommandLine
import HeraldDoctor
import HeraldEvents
import HeraldFeedback
import HeraldHTTP
import HeraldHub
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTime

struct ConfiguredHub: ConfiguredTarget {
    let settings: Settings
    private var hub: SettingsSection<SettingsTable.Backend.Hub> { settings.backend.hub }

    var registersUsers: Bool { true }
    var wantsFeedback: Bool { hub.telemetry }
    var hasSecretFiles: Bool { true }
    var isNamed: Bool { hub.name != nil }

    func carries(to pushService: String) -> ContentFields { settings.backend.hubFormats[pushService]?.content ?? [] }

    func configuration(connectionLimit: Int) throws -> BackendConfiguration {
        let backend = settings.backend
        let sending = try HubSending(
            try connectionString(), hub: hub.name ?? "", tag: hub.tag,
            formats: backend.hubFormats,
            keepsMessageIDs: hub.telemetry)
        return try BackendConfiguration(
            hub: sending, repeatsUnanswered: hub.retryUnanswered, timeout: backend.timeout,
            connectTimeout: backend.connectTimeout, connectionLimit: connectionLimit,
            versions: settings.backend.http, proxy: settings.backendProxy(), tls: settings.backendTLSFiles,
            statuses: settings.statusTable)
    }

    func notificationAddress() throws -> (HTTPAddress, path: String)? {
        let configuration = try configuration(connectionLimit: 1)
        return (try HTTPAddress(configuration.address.origin), configuration.path)
    }

    /// What cannot be used of the connection string is one of its findings.
    func examiner() throws -> @Sendable () -> any Examiner {
        let client: HubClient
        do {
            client = try self.client()
        } catch {
            let mistake = "\(error)"
            return { BrokenHubExaminer(mistake: mistake) }
        }
        // Asks without credentials.
        let backend = settings.backend
        let network = try BackendConfiguration(
            url: client.connectionString.origin, path: "\(client.connectionString.basePath)/\(client.hub)/messages/",
            timeout: backend.timeout, connectTimeout: backend.connectTimeout, connectionLimit: 1,
            versions: settings.backend.http, proxy: settings.backendProxy(), tls: settings.backendTLSFiles,
            credentials: .none)
        let asksForTelemetry = hub.telemetry
        return { HubExaminer(client, network: network, asksForTelemetry: asksForTelemetry) }
    }

    func feedbackConfiguration() throws -> FeedbackConfiguration {
        guard hub.telemetry else {
            throw CommandFailure(
                "backend.hub.telemetry: without it results do not say what the hub calls its messages; set it to true, "
                    + "for the workers, too", status: .badSettings)
        }
        // A mistake is said before anything is consumed.
        let first: HubConnectionString
        do {
            first = try connectionString()
        } catch {
            throw CommandFailure("\(error)", status: .badSettings)
        }
        var engine = FeedbackEngine.Configuration()
        engine.asksPerSecond = Double(settings.feedback.asksPerSecond)
        let interval = settings.feedback.containerInterval
        return FeedbackConfiguration(
            topics: settings.topicNames, readerProperties: KafkaClientSettings.feedbackReader(settings),
            writerProperties: KafkaClientSettings.feedbackWriter(settings), connectionString: connectionString,
            hub: hub.name ?? "",
            connections: ConnectionOptions(
                origin: first.origin, limit: engine.inFlightLimit,
                connectTimeout: Milliseconds(settings.backend.connectTimeout), proxy: try settings.backendProxy(),
                tls: settings.backendTLSFiles),
            timeout: Milliseconds(settings.backend.timeout), engine: engine,
            containerInterval: interval == .zero ? nil : interval)
    }

    /// The hub's connection string as its file holds it now.
    @Sendable private func connectionString() throws -> HubConnectionString {
        guard let path = hub.connectionStringFile else {
            throw InvalidArgument("backend.hub.connectionStringFile is not set")
        }
        let text = try SecretSource.file(path).current().reveal()
        do throws(InvalidArgument) {
            return try HubConnectionString(text)
        } catch {
            throw InvalidArgument("backend.hub.connectionStringFile: \(error)")
        }
    }

    /// Single requests to the hub, with the connection string as its file holds it now.
    private func client() throws -> HubClient {
        guard let name = hub.name else { throw InvalidArgument("backend.hub.name is not set") }
        let timeout = max(.milliseconds(1), Milliseconds(settings.backend.timeout))
        return HubClient(
            try connectionString(), hub: name, timeout: timeout, proxy: try settings.backendProxy(),
            tls: settings.backendTLSFiles, versions: settings.backend.http)
    }
}
