import HeraldHub
import HeraldText

/// One device's notification: the send itself, or the device's template filled with the send's properties.
extension HubNotification {
    func delivery(to target: HubRegistration, at time: Int64) -> HubDelivery {
        guard let template = target.template else {
            return HubDelivery(platform: target.platform, headers: headers, body: body, at: time)
        }
        let own = template.headers.map { HubHeader(name: $0.name, value: filled($0.value, .plain)) }
        let body = filled(template.body, TextKind(of: template.body))
        return HubDelivery(platform: target.platform, headers: headers + own, body: Array(body.utf8), at: time)
    }

    /// The format of a template's text, which decides how a value is written into it.
    private enum TextKind {
        case json
        case xml
        case plain

        init(of text: String) {
            switch text.first(where: { !$0.isWhitespace }) {
            case "{", "[": self = .json
            case "<": self = .xml
            default: self = .plain
            }
        }
    }

    /// The text with each `$(name)` replaced by its property, or by nothing if there is none.
    private func filled(_ text: String, _ kind: TextKind) -> String {
        text.replacing(#/\$\(\s*([^)]+?)\s*\)/#) { match in
            let value = properties[match.1.lowercased()] ?? ""
            return switch kind {
            case .json: String(JSONValue.string(value).compact.dropFirst().dropLast())
            case .xml: XMLText.escaped(value)
            case .plain: value
            }
        }
    }
}

extension HubDelivery {
    var isTooLarge: Bool {
        let isVoIP = headers.contains { $0.name.lowercased() == "apns-push-type" && $0.value == "voip" }
        return platform.payloadLimitBytes(isVoIP: isVoIP).map { body.count > $0 } ?? false
    }
}
