import HeraldHub

/// A registration: one device, or one of its templates, with its tags.
struct HubRegistration: Sendable, Equatable {
    /// The additional facts of a template registration.
    struct Template: Sendable, Equatable {
        var name: String?
        var body: String
        /// The headers for the push service; their values may contain `$(name)`.
        var headers: [HubHeader] = []
        /// The description's other elements, unchanged.
        var elements: [XMLElement] = []
    }

    var platform: HubPlatform
    var handle: String
    /// The other elements of the handle: a browser's keys, a tile's name.
    var handleDetails: [String: String] = [:]
    var tags: [String]
    var pushVariables: String?
    var expiresAt: Int64?
    var template: Template?

    // Added by the hub.
    var id = ""
    var number = 0
    var version = 0
    var publishedAt: Int64 = 0
    var updatedAt: Int64 = 0
    /// The installation it was created for.
    var installation: String?

    var etag: String { "W/\"\(version)\"" }

    func isMatched(by condition: String) -> Bool {
        condition == "*" || condition == etag || condition == "\"\(version)\"" || condition == "\(version)"
    }
}
