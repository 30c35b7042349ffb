public import HeraldEvents

/// The form in which a hub takes notifications for a push service: the value of `ServiceBusNotification-Format`.
public enum NotificationFormat: String, Sendable, CaseIterable {
    /// Apple's APNs.
    case apple
    /// Google's former interface, of Firebase Cloud Messaging's legacy HTTP.
    case gcm
    /// Firebase Cloud Messaging, HTTP v1.
    case fcmv1
    /// Windows (WNS); a toast.
    case windows
    /// Web push.
    case browser

    /// The type of a body.
    var contentType: StaticString {
        self == .windows ? "application/xml" : "application/json;charset=utf-8"
    }

    /// The parts beside the message that it has a place for.
    public var content: ContentFields {
        switch self {
        case .apple: .all
        case .fcmv1: ContentFields([.title, .link, .image, .data, .sound, .category])
        case .windows: ContentFields([.title, .link, .image, .sound])
        case .gcm, .browser: ContentFields([.title, .link, .image, .data])
        }
    }

    /// The most bytes that the push service takes in one notification; APNs takes more of `voip`.
    package func byteLimit(isVoIP: Bool) -> Int {
        switch self {
        case .apple: isVoIP ? 5_120 : 4_096
        case .gcm, .fcmv1: 4_096
        case .windows: 5_120
        // Of 4096, encryption takes 103 (RFC 8291, section 4).
        case .browser: 3_993
        }
    }
}
