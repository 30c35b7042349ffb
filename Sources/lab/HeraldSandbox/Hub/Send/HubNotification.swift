/// A requested send.
struct HubNotification: Sendable {
    /// The recipients.
    enum Audience: Sendable {
        case everybody
        case tags(TagExpression)
        case handles([String])
    }

    /// The format in lower case; `template` has no platform.
    var format: String
    var platform: HubPlatform?
    var audience: Audience
    /// The tag expression as sent.
    var tags: String?
    var isTest = false
    /// The scheduled time in milliseconds of Unix time.
    var scheduledAt: Int64?
    /// The headers for the push service as sent.
    var headers: [HubHeader]
    var contentType: String
    var body: [UInt8]
    /// The members of a template send, by their lower-case names: templates are case-insensitive.
    var properties: [String: String] = [:]
}

/// A header for the push service.
package struct HubHeader: Sendable, Equatable {
    package let name: String
    package let value: String
}
