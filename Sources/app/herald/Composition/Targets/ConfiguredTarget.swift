import HeraldBackend
import HeraldCampaigns
import HeraldDoctor
import HeraldEvents
import HeraldFeedback
import HeraldSettings

/// A kind of backend as the settings describe it: what the program has of it beside its ``Target``.
protocol ConfiguredTarget: Sendable {
    /// Whether devices are registered for a user that is named; else the backend knows users by their credentials.
    var registersUsers: Bool { get }
    /// Whether it is asked what became of its messages.
    var wantsFeedback: Bool { get }
    /// Whether a secret is in a file, so that it may change.
    var hasSecretFiles: Bool { get }
    /// Whether the settings say where it is: those of a console often do not.
    var isNamed: Bool { get }

    /// As ``Target/carries(to:)``, without a secret.
    func carries(to pushService: String) -> ContentFields
    /// - Throws: a ``CommandFailure`` when a secret can't be read, or a value that only the client knows to be wrong.
    func configuration(connectionLimit: Int) throws -> BackendConfiguration
    /// Where notifications are posted, for spans: an address, and the path behind it.
    func notificationAddress() throws -> (HTTPAddress, path: String)?
    func examiner() throws -> @Sendable () -> any Examiner
    func feedbackConfiguration() throws -> FeedbackConfiguration
}

extension Settings {
    /// The kind of backend that they name: a further one has a line here.
    var target: any ConfiguredTarget {
        switch backend.kind {
        case .http: ConfiguredHTTP(settings: self)
        case .azureHub: ConfiguredHub(settings: self)
        }
    }

    /// What of a campaign's notifications reaches each push service.
    var contentReach: ContentReach {
        let target = target
        guard target.isNamed else { return ContentReach() }
        return ContentReach(
            Dictionary(backend.pushServices.map { ($0, target.carries(to: $0)) }, uniquingKeysWith: { $1 }))
    }
}
