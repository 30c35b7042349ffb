import HeraldHTTP
import HeraldText

/// A request to the reference backend, read and checked; a separate step carries it out, in memory or on a hub.
enum BackendAction {
    case giveID(handle: String?)
    case put(id: String, platform: PushPlatform, handle: String, tags: [String])
    case delete(id: String)
    case notify(PushPlatform, user: String, message: BackendMessage)
    /// Greets the caller's own devices on every push service.
    case greet
    case inbox(handle: String)
    case misbehaviour
    case calls
    /// What a user said last.
    case preferences(user: String)
    /// Nothing to carry out: the backend refuses the request.
    case refused(Reply)
    case unknown

    /// Reads a request; the names of addresses are case-insensitive, as in ASP.NET.
    init(_ request: HTTPRequest) {
        let segments = request.target.segments
        let name = segments.prefix(2).joined(separator: "/").lowercased()
        switch (name, segments.count, request.method) {
        case ("api/register", 2, "POST"): self = Self.giveID(request)
        case ("api/register", 3, "PUT"): self = Self.put(segments[2], request)
        case ("api/register", 3, "DELETE"): self = .delete(id: segments[2])
        case ("api/notifications", 2, "POST"): self = Self.notify(request)
        case ("api/inbox", 3, "GET"): self = .inbox(handle: segments[2])
        case ("sandbox/misbehaviour", 2, _): self = .misbehaviour
        case ("sandbox/calls", 2, _): self = .calls
        case ("sandbox/preferences", 3, _): self = .preferences(user: segments[2])
        case ("api/register", 2...3, _), ("api/notifications", 2, _), ("api/inbox", 3, _):
            self = .refused(.notAllowed(request))
        default: self = .unknown
        }
    }

    /// Whether it is a call for a notification, which is recorded.
    static func isNotification(_ request: HTTPRequest) -> Bool {
        request.method == "POST" && request.target.segments.map { $0.lowercased() } == ["api", "notifications"]
    }

    /// Whether it belongs to the backend proper, which may misbehave, and not to the sandbox's controls.
    var mayMisbehave: Bool {
        switch self {
        case .giveID, .put, .delete, .notify, .greet, .inbox, .refused: true
        case .misbehaviour, .calls, .preferences, .unknown: false
        }
    }

    /// Whether it concerns devices and notifications, which a hub may have.
    var isForHub: Bool {
        switch self {
        case .giveID, .put, .delete, .notify, .greet, .inbox: true
        case .misbehaviour, .calls, .preferences, .refused, .unknown: false
        }
    }

    /// What a notification says, unless it is longer than an event can be.
    var message: BackendMessage? {
        guard case .notify(_, _, let message) = self, message.text.utf8.count <= Self.longestMessage,
            JSONValue.object(message.content).compact.utf8.count <= Self.longestContent
        else { return nil }
        return message
    }

    /// In bytes of UTF-8; it bounds the memory of each recorded call.
    private static let longestMessage = 4_096
    private static let longestContent = 32_768

    /// A tag that names a user other than the caller, whom it must not reach.
    static func foreignTag(_ tags: [String], caller: String) -> String? {
        tags.first { $0.hasPrefix("username:") && $0 != "username:" + caller }
    }

    private static func refused(_ status: Int, _ fault: String) -> Self { .refused(.failure(status, fault)) }

    private static func giveID(_ request: HTTPRequest) -> Self {
        let handles = request.target.values(of: "handle")
        guard handles.count < 2 else { return refused(400, "more than one handle") }
        // ASP.NET treats an empty value as a missing one.
        return .giveID(handle: handles.first.flatMap { $0.isEmpty ? nil : $0 })
    }

    private static func put(_ id: String, _ request: HTTPRequest) -> Self {
        // Names are case-insensitive, as in ASP.NET.
        let members = (try? JSONValue(document: request.body))?.members ?? [:]
        let device = Dictionary(members.map { ($0.key.lowercased(), $0.value) }) { $1 }
        let tags = (device["tags"] ?? []).elements
        guard let platform = device["platform"]?.text, let handle = device["handle"]?.text,
            let texts = tags?.compactMap(\.text), texts.count == tags?.count
        else { return refused(400, #"expected {"Platform": "...", "Handle": "...", "Tags": ["..."]}"#) }
        guard let platform = PushPlatform(rawValue: platform) else {
            return refused(400, "the platform is not one of wns, gcm, apns")
        }
        guard !handle.isEmpty else { return refused(400, "the handle is empty") }
        return .put(id: id, platform: platform, handle: handle, tags: texts)
    }

    private static func notify(_ request: HTTPRequest) -> Self {
        let services = request.target.values(of: "pns")
        let users = request.target.values(of: "to_tag")
        if services.isEmpty, users.isEmpty, request.body.isEmpty { return .greet }
        guard services.count == 1, users.count == 1, let name = services.first, let user = users.first, !name.isEmpty,
            !user.isEmpty
        else { return refused(400, "expected pns and to_tag, once each, or no query and no body") }
        guard !user.contains(where: { "|&!()".contains($0) }) else {
            return refused(400, "no user can have this name: it would be an expression of tags")
        }
        let message: BackendMessage
        do throws(InvalidArgument) {
            message = try BackendMessage(try? JSONValue(document: request.body))
        } catch {
            return refused(400, error.description)
        }
        guard let platform = PushPlatform(rawValue: name.lowercased()) else {
            return refused(500, "the push service is not one of wns, gcm, apns")
        }
        return .notify(platform, user: user, message: message)
    }
}
