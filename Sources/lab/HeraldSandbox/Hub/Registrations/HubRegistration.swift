import HeraldHub

/// A registration: one device, or one of its templates, with its tags.
struct HubRegistration: Sendable, Equatable {
    /// What a template registration says beyond a native one.
    struct Template: Sendable, Equatable {
        var name: String?
        var body: String
        /// The headers for the push service; their values may hold `$(name)`.
        var headers: [HubHeader] = []
        /// What else a description said of it, as it came.
        var elements: [XMLElement] = []
    }

    var platform: HubPlatform
    var handle: String
    /// The other elements of the handle: keys of a browser, a tile's name.
    var handleDetails: [String: String] = [:]
    var tags: [String]
    var pushVariables: String?
    var expiresAt: Int64?
    var template: Template?

    // What the hub adds.
    var id = ""
    var number = 0
    var version = 0
    var publishedAt: Int64 = 0
    var updatedAt: Int64 = 0
    /// The installation that it was made for.
    var installation: String?

    /// The tag in the header `ETag`.
    var etag: String { "W/\"\(version)\"" }

    /// Whether an `If-Match` names this version.
    func isMatched(by condition: String) -> Bool {
        condition == "*" || condition == etag || condition == "\"\(version)\"" || condition == "\(version)"
    }
}
