import HeraldEvents
import HeraldHub
import HeraldTime

/// Calls of a hub in a lane's form, written into reused memory.
struct HubCalls {
    private let writer: HubRequestWriter
    private var body: [UInt8] = []
    private var output: [UInt8] = []
    /// The total length of the calls.
    private(set) var bytes = 0

    init(_ writer: HubRequestWriter) {
        self.writer = writer
    }

    /// Writes the call of an event for `apns`.
    mutating func write(_ event: borrowing DecodedEvent, value: RawSpan, wall: WallTime) {
        body.removeAll(keepingCapacity: true)
        output.removeAll(keepingCapacity: true)
        guard let service = writer.service(named: Self.name.span.bytes) else {
            preconditionFailure("the hub has no format for the push service")
        }
        let options = DeliveryOptions(
            expiresAt: event.expiresAt, isUrgent: event.options.isUrgent,
            pushType: Self.copy(event.bytes(of: event.options.pushType, value: value)),
            collapseID: Self.copy(event.bytes(of: event.options.collapseID, value: value)))
        let excess = writer.appendBody(
            service: service, message: event.bytes(of: event.message, value: value), options: options, now: wall,
            to: &body)
        precondition(excess == nil, "the notification is too large")
        writer.append(
            service: service, user: event.bytes(of: event.user, value: value), body: body, options: options, now: wall,
            token: UInt64(truncatingIfNeeded: bytes), to: &output)
        bytes += output.count
    }

    private static let name = Array("apns".utf8)

    private static func copy(_ bytes: RawSpan) -> [UInt8] {
        bytes.byteCount == 0 ? [] : bytes.withUnsafeBytes { Array($0) }
    }
}
