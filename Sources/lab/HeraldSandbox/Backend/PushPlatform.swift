import HeraldHub

/// A push service that the reference backend knows, and what a device of it receives.
enum PushPlatform: String, CaseIterable, Sendable {
    case wns
    case gcm
    case apns

    /// The payload in the platform's own form with the text escaped for it.
    func payload(for text: String) -> String {
        switch self {
        case .wns:
            #"<toast><visual><binding template="ToastText01"><text id="1">"# + XMLText.escaped(text)
                + "</text></binding></visual></toast>"
        case .apns: #"{"aps":{"alert":\#(JSONBytes.text(text))}}"#
        case .gcm: #"{"data":{"message":\#(JSONBytes.text(text))}}"#
        }
    }
}
