public import HeraldText

/// How notifications are sent over a hub.
public struct HubSending: Sendable {
    /// The hub's address and our credentials.
    public let connectionString: HubConnectionString
    /// The hub's name.
    public let hub: String
    /// The tag that devices are registered with.
    package let tag: HubTagTemplate
    let formats: [String: NotificationFormat]
    /// Whether the hub's id of each notification is kept.
    public let keepsMessageIDs: Bool

    /// Checks the parts; throws with the first that cannot work.
    ///
    /// - Parameters:
    ///   - tag: holds `{user}` exactly once, and else only what a tag may hold: an expression could reach all users.
    ///   - formats: by the push services' names.
    ///   - keepsMessageIDs: hubs of the Standard tier give one.
    public init(
        _ connectionString: HubConnectionString, hub: String, tag: String = "username:{user}",
        formats: [String: NotificationFormat], keepsMessageIDs: Bool = false
    ) throws(InvalidArgument) {
        try HubClient.check(hub: hub)
        self.connectionString = connectionString
        self.hub = hub
        self.tag = try HubTagTemplate(tag)
        self.formats = formats
        self.keepsMessageIDs = keepsMessageIDs
    }

    /// Whether `gcm` is Google's former interface here, and not FCM v1.
    package var registersLegacyGCM: Bool { formats["gcm"] == .gcm }

    /// Where notifications are posted.
    public var path: String { "\(connectionString.basePath)/\(hub)/messages/" }
}
