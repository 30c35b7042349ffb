internal import Foundation
public import HeraldText
public import HeraldTime

/// What a push service told the hub of a device: a `PnsFeedback` of the feedback container.
public struct DeviceNews: Sendable, Hashable {
    /// The hub's name of the platform, such as `apns`, `gcm` or `wns`.
    public var platform: String
    /// The handle of the device.
    public var handle: String
    /// The handle that the push service wants in its place.
    public var newHandle: String?
    /// The hub's id of the registration.
    public var registrationID: String?
    /// The hub's id of the installation.
    public var installationID: String?
    /// Why, in the hub's words: `ExpiredChannel`.
    public var reason: String?
    /// The hub's id of the message that told it.
    public var messageID: String?
    /// When the hub learned it.
    public var at: WallTime?

    /// Reads a blob of the container: documents of one device each or of several, one after the other.
    ///
    /// Microsoft shows one document; whether a blob has several, and below what, is not said anywhere, so all are read.
    public static func read(blob: [UInt8]) throws(InvalidArgument) -> [DeviceNews] {
        let text = String(decoding: blob, as: UTF8.self).replacing("\u{FEFF}", with: "")
        let bare = text.replacing(/<\?xml[^>]*\?>/, with: "")
        guard !bare.allSatisfy(\.isWhitespace) else { return [] }
        let root = try XMLElement(document: Array("<all>\(bare)</all>".utf8))
        var found: [DeviceNews] = []
        try collect(root, &found)
        guard !found.isEmpty else { throw InvalidArgument("the blob holds no PnsFeedback") }
        return found
    }

    private static func collect(_ element: XMLElement, _ found: inout [DeviceNews]) throws(InvalidArgument) {
        guard element.name == "PnsFeedback" else {
            for child in element.children { try collect(child, &found) }
            return
        }
        found.append(try DeviceNews(element))
    }

    private init(_ element: XMLElement) throws(InvalidArgument) {
        func text(_ name: String) -> String? {
            guard let text = element[name]?.value?.trimmed, !text.isEmpty else { return nil }
            return text
        }
        guard let platform = text("Platform"), let handle = text("PnsHandle") else {
            throw InvalidArgument("a PnsFeedback has no Platform or no PnsHandle")
        }
        self.platform = platform
        self.handle = handle
        newHandle = text("NewPnsHandle")
        registrationID = text("RegistrationId")
        installationID = text("InstallationId")
        reason = text("NotificationSystemError")
        messageID = text("NotificationId")
        at = text("FeedbackTime").flatMap(Self.moment)
    }

    /// .NET writes seven digits of a second, and sometimes no zone, which is UTC then.
    private static func moment(_ text: String) -> WallTime? {
        RFC3339.parse(text.utf8.span.bytes) ?? RFC3339.parse((text + "Z").utf8.span.bytes)
    }
}
