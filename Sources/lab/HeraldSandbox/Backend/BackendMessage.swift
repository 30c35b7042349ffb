import HeraldHub
import HeraldText

/// The body of a notification: a text, or an object with the text and more.
struct BackendMessage: Sendable, Equatable {
    /// Members that are texts, beside `message`.
    private static let texts = ["title", "link", "image", "sound", "category"]

    var text: String
    /// The other members of an object, in the order of the contract.
    private(set) var content: [JSONValue.Member] = []

    init(_ text: String) { self.text = text }

    /// Reads a body; throws with what is wrong in it.
    ///
    /// Members that the contract does not know are ignored.
    init(_ body: JSONValue?) throws(InvalidArgument) {
        if case .string(let text)? = body {
            self.text = text
            return
        }
        guard let members = body?.members, case .string(let text)? = members["message"] else {
            throw InvalidArgument("the body is neither a JSON string nor an object with a string message")
        }
        self.text = text
        for name in Self.texts {
            guard let value = members[name] else { continue }
            guard case .string = value else { throw InvalidArgument("\(name) is no string") }
            content.append(.init(name, value))
        }
        if let badge = members["badge"] {
            guard case .integer = badge else { throw InvalidArgument("badge is no whole number") }
            content.append(.init("badge", badge))
        }
        if let data = members["data"] {
            guard let texts = data.members, texts.values.allSatisfy({ if case .string = $0 { true } else { false } })
            else { throw InvalidArgument("data is no object of strings") }
            content.append(.init("data", data))
        }
    }

    /// The same with another text.
    func saying(_ text: String) -> Self {
        var message = self
        message.text = text
        return message
    }

    private func value(_ name: String) -> JSONValue? { content.first { $0.name == name }?.value }

    private func members(_ names: [String]) -> [JSONValue.Member] { content.filter { names.contains($0.name) } }

    private var data: [JSONValue.Member] { if case .object(let data)? = value("data") { data } else { [] } }

    /// The payload in a platform's own form, escaped.
    func payload(on platform: PushPlatform) -> String {
        switch platform {
        case .apns:
            let alert = value("title").map { JSONValue.object([.init("title", $0), .init("body", .string(text))]) }
            let aps = [.init("alert", alert ?? .string(text))] + members(["badge", "sound", "category"])
            return JSONValue.object([.init("aps", .object(aps))] + members(["link", "image"]) + data).compact
        case .gcm:
            let message = [.init("message", .string(text))] + members(["title", "link", "image"]) + data
            return JSONValue.object([.init("data", .object(message))]).compact
        case .wns:
            guard case .string(let title)? = value("title") else {
                return #"<toast><visual><binding template="ToastText01"><text id="1">"# + XMLText.escaped(text)
                    + "</text></binding></visual></toast>"
            }
            return #"<toast><visual><binding template="ToastText02"><text id="1">"# + XMLText.escaped(title)
                + #"</text><text id="2">"# + XMLText.escaped(text) + "</text></binding></visual></toast>"
        }
    }
}
