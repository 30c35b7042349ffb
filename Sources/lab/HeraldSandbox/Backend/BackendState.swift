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

    init(
        prefix: String, inboxLimit: Int, callLimit: Int, misbehaviour: [Misbehaviour],
        recordOfCall: (@Sendable (String) -> RecordedCall.Record?)? = nil
    ) {
        self.recordOfCall = recordOfCall
        devices = DeviceRegistry(prefix: prefix)
        inbox = Inbox(entryLimit: inboxLimit)
        rules = MisbehaviourRules(misbehaviour)
        calls = BoundedLog(limit: callLimit)
    }

    /// Sends a message to one user's devices on one service; a user without devices is not an error.
    mutating func notify(_ user: String, on platform: PushPlatform, message: String, from caller: String, at: WallTime)
    {
        deliver(
            "From \(caller): \(message)", to: devices.devices(ofUser: user).filter { $0.platform == platform }, at: at)
    }

    /// Sends a greeting to the caller's own devices on every service.
    mutating func greet(_ caller: String, at: WallTime) {
        deliver("Hello, \(caller)", to: devices.devices(ofUser: caller), at: at)
    }

    /// Numbers a call and keeps it.
    mutating func record(_ call: RecordedCall) -> RecordedCall {
        var call = call
        lastCallNumber += 1
        call.number = lastCallNumber
        calls.append(call)
        return call
    }

    /// The calls with their records; a call whose record may still become known is left out.
    func shownCalls(now: WallTime) -> [RecordedCall] {
        guard let recordOfCall else { return calls.elements }
        return calls.elements.compactMap { call in
            var call = call
            call.record = call.idempotencyKey.flatMap(recordOfCall)
            let mayCome =
                call.idempotencyKey != nil && now.milliseconds - call.receivedAt.milliseconds < Self.recordPatience
            return call.record == nil && mayCome ? nil : call
        }
    }

    /// The time within which a call's record may still become known (milliseconds).
    private static let recordPatience: Int64 = 1_000

    /// Forgets the calls so far; their numbers are not reused.
    mutating func forgetCalls() { calls.removeAll() }

    private mutating func deliver(_ text: String, to devices: [DeviceRegistry.Device], at: WallTime) {
        for device in devices {
            let entry = InboxEntry(platform: device.platform, payload: device.platform.payload(for: text), at: at)
            inbox.receive(entry, on: device.handle)
        }
    }
}
