import FoundationEssentials
import HeraldHTTP

/// A request to the backend proper, read and checked; a separate step carries it out, in memory or on a hub.
enum BackendAction {
    case giveID(handle: String?)
    case put(id: String, platform: PushPlatform, handle: String, tags: [String])
    case delete(id: String)
    case notify(PushPlatform, user: String, message: String)
    /// Greets the caller's own devices on every push service.
    case greet
    case inbox(handle: String)
    case control
    /// Nothing to carry out: the reply is already known.
    case decided(BackendReply)

    /// Reads the request of an authenticated caller.
    init(_ request: HTTPRequest, _ route: BackendRoute) {
        switch (route, request.method) {
        case (.newRegistration, "POST"): self = Self.giveID(request)
        case (.registration(let id), "PUT"): self = Self.put(id, request)
        case (.registration(let id), "DELETE"): self = .delete(id: id)
        case (.notifications, "POST"): self = Self.notify(request)
        case (.inbox(let handle), "GET"): self = .inbox(handle: handle)
        case (.misbehaviour, _), (.calls, _): self = .control
        case (.unknown, _): self = .decided(.failure(404, "there is nothing at \(request.target.path)"))
        case (.newRegistration, _), (.registration, _), (.notifications, _), (.inbox, _):
            self = .decided(.failure(405, "\(request.method) is not possible at \(request.target.path)"))
        }
    }

    /// The text of a notification, unless it is longer than an event's message can be.
    var message: String? {
        guard case .notify(_, _, let message) = self, message.utf8.count <= Self.longestMessage else { return nil }
        return message
    }

    /// In bytes of UTF-8; it bounds the memory of each recorded call.
    private static let longestMessage = 4_096

    /// A tag that names a user other than the caller, whom it must not reach.
    static func foreignTag(_ tags: [String], caller: String) -> String? {
        tags.first { $0.hasPrefix("username:") && $0 != "username:" + caller }
    }

    private static func giveID(_ request: HTTPRequest) -> Self {
        let handles = request.target.values(of: "handle")
        guard handles.count < 2 else { return .decided(.failure(400, "more than one handle")) }
        // ASP.NET treats an empty value as a missing one.
        return .giveID(handle: handles.first.flatMap { $0.isEmpty ? nil : $0 })
    }

    private static func put(_ id: String, _ request: HTTPRequest) -> Self {
        guard let device = try? JSONDecoder().decode(DeviceDescription.self, from: Data(request.body)) else {
            return .decided(.failure(400, #"expected {"Platform": "...", "Handle": "...", "Tags": ["..."]}"#))
        }
        guard let platform = PushPlatform(rawValue: device.platform) else {
            return .decided(.failure(400, "the platform is not one of wns, gcm, apns"))
        }
        guard !device.handle.isEmpty else { return .decided(.failure(400, "the handle is empty")) }
        return .put(id: id, platform: platform, handle: device.handle, tags: device.tags)
    }

    private static func notify(_ request: HTTPRequest) -> Self {
        let services = request.target.values(of: "pns")
        let users = request.target.values(of: "to_tag")
        if services.isEmpty, users.isEmpty, request.body.isEmpty { return .greet }
        guard services.count == 1, users.count == 1, let name = services.first, let user = users.first, !name.isEmpty,
            !user.isEmpty
        else { return .decided(.failure(400, "expected pns and to_tag, once each, or no query and no body")) }
        guard !user.contains(where: { "|&!()".contains($0) }) else {
            return .decided(.failure(400, "no user can have this name: it would be an expression of tags"))
        }
        guard let message = try? JSONDecoder().decode(String.self, from: Data(request.body)) else {
            return .decided(.failure(400, "the body is not a JSON string"))
        }
        guard let platform = PushPlatform(rawValue: name.lowercased()) else {
            return .decided(.failure(500, "the push service is not one of wns, gcm, apns"))
        }
        return .notify(platform, user: user, message: message)
    }
}

/// The body of `PUT /api/register/{id}`; names are case-insensitive, as in ASP.NET.
struct DeviceDescription: Decodable {
    var platform: String
    var handle: String
    var tags: [String]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func key(_ name: String) -> Key {
            container.allKeys.first { $0.stringValue.lowercased() == name } ?? Key(stringValue: name)
        }
        platform = try container.decode(String.self, forKey: key("platform"))
        handle = try container.decode(String.self, forKey: key("handle"))
        tags = try container.decodeIfPresent([String].self, forKey: key("tags")) ?? []
    }
}
