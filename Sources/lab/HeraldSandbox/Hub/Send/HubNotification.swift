struct HubNotification: Sendable {
    enum Audience: Sendable {
        case everybody
        case tags(TagExpression)
        case handles([String])
    }

    /// The format in lower case; `template` has no platform.
    var format: String
    var platform: HubPlatform?
    var audience: Audience
    var tags: String?
    var isTest = false
    /// The scheduled time in milliseconds of Unix time.
    var scheduledAt: Int64?
    var headers: [HubHeader]
    var contentType: String
    var body: [UInt8]
    /// The members of a template send, by their lower-case names: templates are case-insensitive.
    var properties: [String: String] = [:]
}

package struct HubHeader: Sendable, Equatable {
    package let name: String
    package let value: String
}
