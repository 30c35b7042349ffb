/// A send as it was asked for.
struct HubNotification: Sendable {
    /// Whom it is for.
    enum Audience: Sendable {
        case everybody
        case tags(TagExpression)
        case handles([String])
    }

    /// The format in small letters; `template` has no platform.
    var format: String
    var platform: HubPlatform?
    var audience: Audience
    /// The tag expression as it was sent.
    var tags: String?
    var isTest = false
    /// The moment that the sender wants, in milliseconds of Unix time.
    var scheduledAt: Int64?
    /// The headers for the push service, as they were sent.
    var headers: [HubHeader]
    var contentType: String
    var body: [UInt8]
    /// The members of a template send, by their names in small letters: templates name them in any case.
    var properties: [String: String] = [:]
}

/// A header for the push service.
package struct HubHeader: Sendable, Equatable {
    package let name: String
    package let value: String
}
