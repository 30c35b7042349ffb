import HeraldHub

/// A push service by its name in installations, with its names in registrations and telemetry.
package enum HubPlatform: String, CaseIterable, Sendable {
    case apns
    case mpns
    case wns
    case gcm
    case adm
    case fcmv1
    case baidu
    case browser
    case xiaomi

    /// The prefixes of registration and count names: `AppleRegistrationDescription`, `ApnsOutcomeCounts`.
    var names: (registration: String, counts: String) {
        switch self {
        case .apns: ("Apple", "Apns")
        case .wns: ("Windows", "Wns")
        case .fcmv1: ("FcmV1", "FcmV1")
        case .mpns, .gcm, .adm, .baidu, .browser, .xiaomi: (capitalized, capitalized)
        }
    }

    private var capitalized: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    /// The elements of a registration's handle, in the order of its data contract.
    var handleFields: [String] {
        switch self {
        case .apns: ["DeviceToken"]
        case .mpns, .wns: ["ChannelUri", Self.optionalHandleField]
        case .gcm: ["GcmRegistrationId"]
        case .adm: ["AdmRegistrationId"]
        case .fcmv1: ["FcmV1RegistrationId"]
        case .baidu: ["BaiduUserId", "BaiduChannelId"]
        case .browser: ["Endpoint", "P256DH", "Auth"]
        case .xiaomi: ["XiaomiRegistrationId"]
        }
    }

    static let optionalHandleField = "SecondaryTileName"

    /// The element of the handle that identifies the device.
    var identity: String { self == .baidu ? "BaiduChannelId" : handleFields[0] }

    /// The additional elements of a template registration, in the order of its data contract.
    var templateFields: [String] {
        switch self {
        case .apns: ["BodyTemplate", "Expiry", "TemplateName", "Priority", "ApnsHeaders"]
        case .wns: ["BodyTemplate", "WnsHeaders", "TemplateName"]
        case .mpns: ["BodyTemplate", "MpnsHeaders", "TemplateName"]
        case .gcm, .adm, .fcmv1, .baidu, .browser, .xiaomi: ["BodyTemplate", "TemplateName"]
        }
    }

    var format: String {
        switch self {
        case .apns: "apple"
        case .wns: "windows"
        case .mpns: "windowsphone"
        case .gcm, .adm, .fcmv1, .baidu, .browser, .xiaomi: rawValue
        }
    }

    /// The payload limit of the push service in bytes; `nil` where none is known.
    func payloadLimitBytes(isVoIP: Bool) -> Int? {
        self == .adm ? 6_144 : NotificationFormat(rawValue: format)?.byteLimit(isVoIP: isVoIP)
    }

    init?(installation name: String) { self.init(rawValue: name.lowercased()) }

    init?(format name: String) {
        let name = name.lowercased()
        guard let found = Self.allCases.first(where: { $0.format == name }) else { return nil }
        self = found
    }
}
