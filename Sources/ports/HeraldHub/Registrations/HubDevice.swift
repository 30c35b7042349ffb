internal import HeraldBytes
package import HeraldText

/// The address of one device at a hub: its push service, and that service's handle.
package enum HubDevice: Sendable, Hashable {
    case apple(token: String)
    /// Google's legacy interface, which Google has shut down.
    case gcm(token: String)
    case fcmV1(token: String)
    case windows(channel: String)
    /// A browser's subscription (Web Push).
    case browser(endpoint: String, p256dh: String, auth: String)

    /// The element of a description and those of its handle, in the order that the hub demands.
    var form: (name: String, fields: [(name: String, value: String)]) {
        switch self {
        // The hub returns tokens in capitals, however they were sent.
        case .apple(let token): ("Apple", [("DeviceToken", token.uppercased())])
        case .gcm(let token): ("Gcm", [("GcmRegistrationId", token)])
        case .fcmV1(let token): ("FcmV1", [("FcmV1RegistrationId", token)])
        case .windows(let channel): ("Windows", [("ChannelUri", channel)])
        case .browser(let endpoint, let p256dh, let auth):
            ("Browser", [("Endpoint", endpoint), ("P256DH", p256dh), ("Auth", auth)])
        }
    }

    /// Reads the handle of a description; `nil` for another kind (a template, a push service that is gone).
    init?(kind: String, _ field: (String) -> String?) {
        switch kind {
        case "Apple": if let token = field("DeviceToken") { self = .apple(token: token) } else { return nil }
        case "Gcm": if let token = field("GcmRegistrationId") { self = .gcm(token: token) } else { return nil }
        case "FcmV1": if let token = field("FcmV1RegistrationId") { self = .fcmV1(token: token) } else { return nil }
        case "Windows": if let channel = field("ChannelUri") { self = .windows(channel: channel) } else { return nil }
        case "Browser":
            guard let endpoint = field("Endpoint"), let p256dh = field("P256DH"), let auth = field("Auth") else {
                return nil
            }
            self = .browser(endpoint: endpoint, p256dh: p256dh, auth: auth)
        default: return nil
        }
    }

    /// Throws for a handle that the hub would reject: it is printable ASCII, and Apple's an even number of hexadecimal
    /// digits.
    package func check() throws(InvalidArgument) {
        for (name, value) in form.fields {
            guard !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw InvalidArgument("the device's \(name) must be printable ASCII without spaces, and not empty")
            }
        }
        if case .apple(let token) = self, !Self.isHexadecimal(token) {
            throw InvalidArgument("an APNs token must be an even number of hexadecimal digits")
        }
    }

    /// A handle as the hub compares it: an APNs token's digits in capitals.
    ///
    /// A search for a handle need not know its push service: no other's consists of pairs of hexadecimal digits alone.
    static func compared(_ handle: String) -> String { isHexadecimal(handle) ? handle.uppercased() : handle }

    package static func isHexadecimal(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count % 2 == 0 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}

package enum HubTags {
    package static let countLimit = 60
    package static let lengthLimit = 120

    /// The tags of a registration, each once; throws with their fault.
    package static func checked(_ tags: [String]) throws(InvalidArgument) -> [String] {
        let unique = tags.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        guard unique.count <= countLimit else {
            throw InvalidArgument("a registration has at most \(countLimit) tags, not \(unique.count)")
        }
        for tag in unique { try check(tag) }
        return unique
    }

    package static func check(_ tag: String) throws(InvalidArgument) {
        guard (1...lengthLimit).contains(tag.utf8.count), tag.utf8.allSatisfy(ASCIISet.tag.contains) else {
            throw InvalidArgument("a tag must be 1 to \(lengthLimit) characters out of A-Z a-z 0-9 _ @ # . : -")
        }
    }

    /// Those of a description's element.
    package static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { $0.drop { $0 == " " } }.map(String.init)
    }
}
