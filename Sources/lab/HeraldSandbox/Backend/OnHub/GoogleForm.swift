import HeraldHub

/// The interface by which a hub reaches devices of the platform `gcm`.
package enum GoogleForm: String, Sendable, CaseIterable {
    case fcmv1
    /// The legacy interface of the tutorial, which Google has shut down.
    case gcm
}

extension PushPlatform {
    func device(_ handle: String, _ google: GoogleForm) -> HubDevice {
        switch (self, google) {
        case (.wns, _): .windows(channel: handle)
        case (.apns, _): .apple(token: handle)
        case (.gcm, .fcmv1): .fcmV1(token: handle)
        case (.gcm, .gcm): .gcm(token: handle)
        }
    }

    /// The value of the `ServiceBusNotification-Format` header.
    func format(_ google: GoogleForm) -> String {
        switch self {
        case .wns: "windows"
        case .apns: "apple"
        case .gcm: google.rawValue
        }
    }

    var mediaType: String { self == .wns ? "application/xml" : "application/json;charset=utf-8" }

    /// The push service's headers beside the payload.
    var hubHeaders: [(name: String, value: String)] { self == .wns ? [("X-WNS-Type", "wns/toast")] : [] }

    /// The tutorial's payload; FCM v1 has the same data in a message.
    func payload(for message: BackendMessage, _ google: GoogleForm) -> [UInt8] {
        let payload = message.payload(on: self)
        return Array((self == .gcm && google == .fcmv1 ? #"{"message":\#(payload)}"# : payload).utf8)
    }
}
