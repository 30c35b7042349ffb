import HeraldBackend
import HeraldCommandLine
import HeraldDoctor
import HeraldEvents
import HeraldFeedback
import HeraldSettings

struct ConfiguredHTTP: ConfiguredTarget {
    let settings: Settings

    var registersUsers: Bool { false }
    var wantsFeedback: Bool { false }

    var hasSecretFiles: Bool { settings.backend.hasSecretFile }
    var isNamed: Bool { settings.backend.url != nil }

    func carries(to pushService: String) -> ContentFields { settings.backend.body.content }

    func configuration(connectionLimit: Int) throws -> BackendConfiguration {
        let backend = settings.backend
        return try BackendConfiguration(
            HTTPTarget(body: backend.body), url: url, path: backend.path, registerPath: backend.registerPath,
            timeout: backend.timeout,
            connectTimeout: backend.connectTimeout, connectionLimit: connectionLimit,
            versions: settings.backend.http, proxy: settings.backendProxy(), tls: settings.backendTLSFiles,
            credentials: backend.credentials(), statuses: settings.statusTable, users: backend.users)
    }

    func notificationAddress() -> (HTTPAddress, path: String)? {
        settings.backend.url.map { ($0, settings.backend.path) }
    }

    func examiner() throws -> @Sendable () -> any Examiner {
        let configuration = try configuration(connectionLimit: 1)
        return { [url] in BackendExaminer(url: url, configuration) }
    }

    func feedbackConfiguration() throws -> FeedbackConfiguration {
        throw CommandFailure(
            "backend.kind: only a hub says what became of its messages; set backend.kind to azure-hub, with "
                + "backend.hub.connectionStringFile and backend.hub.name", status: .badSettings)
    }

    private var url: String { settings.backend.url?.description ?? "" }
}
