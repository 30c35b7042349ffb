import FoundationEssentials
import HeraldHTTP
import HeraldText
import HeraldTime

/// The addresses of the reference backend; the names are compared without regard to case, as ASP.NET does.
enum BackendRoute: Equatable {
    case newRegistration
    case registration(id: String)
    case notifications
    case inbox(handle: String)
    case misbehaviour
    case calls
    case unknown

    init(_ request: HTTPRequest) {
        let segments = request.target.segments
        let names = segments.prefix(2).map { $0.lowercased() }
        switch (names, segments.count) {
        case (["api", "register"], 2): self = .newRegistration
        case (["api", "register"], 3): self = .registration(id: segments[2])
        case (["api", "notifications"], 2): self = .notifications
        case (["api", "inbox"], 3): self = .inbox(handle: segments[2])
        case (["sandbox", "misbehaviour"], 2): self = .misbehaviour
        case (["sandbox", "calls"], 2): self = .calls
        default: self = .unknown
        }
    }

    /// Whether it belongs to the backend proper, which may misbehave, and not to the sandbox's controls.
    var isAPI: Bool {
        switch self {
        case .newRegistration, .registration, .notifications, .inbox: true
        case .misbehaviour, .calls, .unknown: false
        }
    }

    /// The proper answer to an authenticated caller.
    func reply(to request: HTTPRequest, caller: String, state: inout BackendState) -> BackendReply {
        switch (self, request.method) {
        case (.newRegistration, "POST"): return Self.giveID(request, state: &state)
        case (.registration(let id), "PUT"): return Self.put(id, request, caller: caller, state: &state)
        case (.registration(let id), "DELETE"):
            state.devices.delete(id)
            return .ok
        case (.notifications, "POST"): return Self.notify(request, caller: caller, state: &state)
        case (.inbox(let handle), "GET"):
            let dropped = state.inbox.droppedCount(of: handle)
            return BackendReply(
                status: 200, headers: dropped > 0 ? ["Sandbox-Dropped": "\(dropped)"] : [:],
                json: state.inbox.entries(of: handle).json)
        case (.misbehaviour, _), (.calls, _): return Self.control(self, request, state: &state)
        case (.unknown, _): return .failure(404, "there is nothing at \(request.target.path)")
        case (.newRegistration, _), (.registration, _), (.notifications, _), (.inbox, _):
            return .failure(405, "\(request.method) is not possible at \(request.target.path)")
        }
    }

    private static func giveID(_ request: HTTPRequest, state: inout BackendState) -> BackendReply {
        let handles = request.target.values(of: "handle")
        guard handles.count < 2 else { return .failure(400, "more than one handle") }
        // ASP.NET reads an empty value as none.
        let handle = handles.first.flatMap { $0.isEmpty ? nil : $0 }
        guard let id = state.devices.giveID(forHandle: handle) else {
            return .failure(503, "the reference backend keeps at most \(DeviceRegistry.limit) registrations")
        }
        return BackendReply(status: 200, json: JSONBytes.string(id))
    }

    private static func put(
        _ id: String, _ request: HTTPRequest, caller: String, state: inout BackendState
    ) -> BackendReply {
        guard let device = try? JSONDecoder().decode(DeviceDescription.self, from: Data(request.body)) else {
            return .failure(400, #"expected {"Platform": "...", "Handle": "...", "Tags": ["..."]}"#)
        }
        guard let platform = PushPlatform(rawValue: device.platform) else {
            return .failure(400, "the platform is none of wns, gcm, apns")
        }
        guard !device.handle.isEmpty else { return .failure(400, "the handle is empty") }
        let outcome = state.devices.put(id, platform: platform, handle: device.handle, tags: device.tags, owner: caller)
        switch outcome {
        case .done: return .ok
        case .foreignTag: return .failure(403, "a tag names another user")
        case .gone: return .failure(410, "the registration is gone")
        }
    }

    private static func notify(_ request: HTTPRequest, caller: String, state: inout BackendState) -> BackendReply {
        let services = request.target.values(of: "pns")
        let users = request.target.values(of: "to_tag")
        if services.isEmpty, users.isEmpty, request.body.isEmpty {
            state.greet(caller, at: SystemClock.wall())
            return .ok
        }
        guard services.count == 1, users.count == 1, let name = services.first, let user = users.first, !name.isEmpty,
            !user.isEmpty
        else { return .failure(400, "expected pns and to_tag, once each, or no query and no body") }
        guard let message = try? JSONDecoder().decode(String.self, from: Data(request.body)) else {
            return .failure(400, "the body is not a JSON string")
        }
        guard let platform = PushPlatform(rawValue: name.lowercased()) else {
            return .failure(500, "the push service is none of wns, gcm, apns")
        }
        state.notify(user, on: platform, message: message, from: caller, at: SystemClock.wall())
        return .ok
    }

    private static func control(
        _ route: BackendRoute, _ request: HTTPRequest, state: inout BackendState
    ) -> BackendReply {
        guard request.isFromLoopback else { return .failure(403, "only this machine may control the sandbox") }
        switch (route, request.method) {
        case (.misbehaviour, "GET"):
            return BackendReply(status: 200, json: Misbehaviour.json(state.rules.misbehaviours))
        case (.misbehaviour, "PUT"):
            do {
                state.rules = MisbehaviourRules(try Misbehaviour.rules(json: request.body))
                return .ok
            } catch {
                return .failure(400, error.description)
            }
        case (.misbehaviour, "DELETE"):
            state.rules = MisbehaviourRules([])
            return .ok
        case (.calls, "GET"):
            let lines = state.calls.elements.flatMap { $0.jsonLine + [UInt8(ascii: "\n")] }
            return BackendReply(status: 200, headers: ["Content-Type": "application/jsonl; charset=utf-8"], json: lines)
        case (.calls, "DELETE"):
            state.forgetCalls()
            return .ok
        default: return .failure(405, "\(request.method) is not possible at \(request.target.path)")
        }
    }
}
