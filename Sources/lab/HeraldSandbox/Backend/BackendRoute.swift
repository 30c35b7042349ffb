import HeraldHTTP
import HeraldText
import HeraldTime

/// The addresses of the reference backend; names are case-insensitive, as in ASP.NET.
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

    /// Carries out an authenticated caller's action in memory.
    func reply(
        to request: HTTPRequest, _ action: BackendAction, caller: String, state: inout BackendState
    ) -> BackendReply {
        switch action {
        case .giveID(let handle):
            guard let id = state.devices.giveID(forHandle: handle) else {
                return .failure(503, "the reference backend keeps at most \(DeviceRegistry.limit) registrations")
            }
            return BackendReply(status: 200, json: JSONValue.string(id).bytes)
        case .put(let id, let platform, let handle, let tags):
            switch state.devices.put(id, platform: platform, handle: handle, tags: tags, owner: caller) {
            case .done: return .ok
            case .foreignTag: return .foreignTag
            case .gone: return .gone
            }
        case .delete(let id):
            state.devices.delete(id)
            return .ok
        case .notify(let platform, let user, let message):
            state.notify(user, on: platform, message: message, from: caller, at: SystemClock.wall())
            return .ok
        case .greet:
            state.greet(caller, at: SystemClock.wall())
            return .ok
        case .inbox(let handle):
            let dropped = state.inbox.droppedCount(of: handle)
            return BackendReply(
                status: 200, headers: dropped > 0 ? ["Sandbox-Dropped": "\(dropped)"] : [:],
                json: state.inbox.entries(of: handle).json)
        case .control: return Self.control(self, request, state: &state)
        case .decided(let reply): return reply
        }
    }

    private static func control(
        _ route: BackendRoute, _ request: HTTPRequest, state: inout BackendState
    ) -> BackendReply {
        guard request.isFromLoopback else { return .failure(403, "only this machine may control the sandbox") }
        switch (route, request.method) {
        case (.misbehaviour, _):
            return state.rules.reply(to: request)
        case (.calls, "GET"):
            let lines = state.shownCalls(now: SystemClock.wall()).flatMap { $0.jsonLine + [UInt8(ascii: "\n")] }
            return BackendReply(status: 200, headers: ["Content-Type": "application/jsonl; charset=utf-8"], json: lines)
        case (.calls, "DELETE"):
            state.forgetCalls()
            return .ok
        default: return .failure(405, "\(request.method) is not possible at \(request.target.path)")
        }
    }
}
