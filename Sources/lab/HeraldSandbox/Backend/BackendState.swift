import HeraldHTTP
import HeraldText
import HeraldTime

/// The state of the reference backend, as a value: devices, inboxes, rules and calls.
struct BackendState: Sendable {
    var devices: DeviceRegistry
    var inbox: Inbox<InboxEntry>
    var rules: MisbehaviourRules
    private(set) var calls: BoundedLog<RecordedCall>
    private var lastCallNumber = 0
    /// The record that a call with this key is made for.
    private let recordOfCall: (@Sendable (String) -> RecordedCall.Record?)?

    init(_ configuration: ReferenceBackend.Configuration, prefix: String) {
        recordOfCall = configuration.recordOfCall
        devices = DeviceRegistry(prefix: prefix)
        inbox = Inbox(entryLimit: configuration.inboxLimit)
        rules = MisbehaviourRules(configuration.misbehaviour)
        calls = BoundedLog(limit: configuration.callLimit)
    }

    /// Carries out an authenticated caller's action in memory.
    mutating func reply(to request: HTTPRequest, _ action: BackendAction, caller: String, at now: WallTime) -> Reply {
        switch action {
        case .giveID(let handle):
            guard let id = devices.giveID(forHandle: handle) else {
                return .failure(503, "the reference backend keeps at most \(DeviceRegistry.limit) registrations")
            }
            return .json(.string(id))
        case .put(let id, let platform, let handle, let tags):
            return devices.put(id, platform: platform, handle: handle, tags: tags, owner: caller)
        case .delete(let id):
            devices.delete(id)
            return .ok
        case .notify(let platform, let user, let message):
            // A user without devices is not an error.
            deliver(
                message.saying("From \(caller): \(message.text)"), to: devices.devices(ofUser: user, on: platform),
                at: now)
            return .ok
        case .greet:
            deliver(BackendMessage("Hello, \(caller)"), to: devices.devices(ofUser: caller), at: now)
            return .ok
        case .inbox(let handle):
            var reply = Reply.json(.array(inbox.entries(of: handle).map(\.json)))
            let dropped = inbox.droppedCount(of: handle)
            if dropped > 0 { reply.headers.append(name: "Sandbox-Dropped", value: "\(dropped)") }
            return reply
        case .refused(let reply): return reply
        case .unknown: return .failure(404, "there is nothing at \(request.target.path)")
        case .preferences:
            return .failure(404, "nothing is known of preferences here; a sandbox needs --preferences-enabled true")
        case .misbehaviour, .calls:
            guard request.isFromLoopback else { return .notFromHere }
        }
        switch (action, request.method) {
        case (.misbehaviour, _): return rules.reply(to: request)
        case (_, "GET"): return .lines(shownCalls(now: now).map(\.jsonLine))
        case (_, "DELETE"):
            // The numbers of forgotten calls are not reused.
            calls.removeAll()
            return .ok
        default: return .notAllowed(request)
        }
    }

    mutating func record(_ call: RecordedCall) -> RecordedCall {
        var call = call
        lastCallNumber += 1
        call.number = lastCallNumber
        calls.append(call)
        return call
    }

    /// The calls with their records; a call whose record may still become known is left out.
    private func shownCalls(now: WallTime) -> [RecordedCall] {
        guard let recordOfCall else { return calls.elements }
        return calls.elements.compactMap { call in
            var call = call
            call.record = call.idempotencyKey.flatMap(recordOfCall)
            let mayCome = call.idempotencyKey != nil && now.time(since: call.receivedAt) < Self.recordPatience
            return call.record == nil && mayCome ? nil : call
        }
    }

    /// The time within which a call's record may still become known.
    private static let recordPatience: Milliseconds = .seconds(1)

    private mutating func deliver(_ message: BackendMessage, to devices: [DeviceRegistry.Device], at: WallTime) {
        for device in devices {
            let entry = InboxEntry(platform: device.platform, payload: message.payload(on: device.platform), at: at)
            inbox.receive(entry, on: device.handle)
        }
    }
}
