/// The push services that a device can be registered for.
public enum Platform: String, Sendable, CaseIterable {
    /// Windows.
    case wns
    /// Google.
    case gcm
    /// Apple.
    case apns
}

/// A push service's name for one device.
public struct DeviceHandle: Sendable, Hashable {
    /// The handle as the backend gets it.
    public let text: String

    /// A handle that is text: a WNS channel's URL, a GCM token, an APNs token in hexadecimal digits.
    public init(_ text: String) {
        self.text = text
    }

    /// An APNs token as the device got it; becomes upper-case hexadecimal digits.
    public init(apnsToken: [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        text = String(decoding: apnsToken.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }
}
