public import HeraldEvents
import HeraldHub
public import HeraldTime

/// A kind of backend: how an event becomes a request, and what an answer means.
///
/// Each kind has a folder beside this file. An object that never changes: using it costs no reference count for each of
/// its parts. Each caller has its own, which shows the credentials of the moment.
public protocol Target: AnyObject, Sendable {
    /// Whether a call without an answer may be repeated, because the other side knows a notification again.
    var repeatsUnanswered: Bool { get }
    /// Whether results say what the target calls a message: see ``messageID(in:)``.
    var keepsMessageIDs: Bool { get }
    /// Registrations of devices that name the user; `nil` where the backend knows users by their own credentials.
    func registrar(_ configuration: BackendConfiguration) -> HubRegistrationClient?

    /// The same that shows this value of `Authorization`; `nil` leaves it out.
    ///
    /// - Parameter session: tells callers apart, whose tokens may be the same.
    func showing(_ authorization: String?, of configuration: BackendConfiguration, session: UInt64) -> Self

    /// The parts of a notification beside its message that reach this push service; results name the others.
    func carries(to pushService: String) -> ContentFields

    /// Writes the request of a call into the memory that `begin` gives.
    ///
    /// - Parameters:
    ///   - scratch: empty memory, which is used again.
    ///   - begin: begins the call; not called when there is none to make.
    /// - Returns: how a call has ended for which no request is made.
    func write(
        _ call: borrowing TargetCall, of event: borrowing DecodedEvent, value: RawSpan, scratch: inout [UInt8],
        begin: (_ write: (inout [UInt8]) -> Void) -> Void
    ) -> CallResult?

    /// The meaning of an answer that is no success; `nil` when the status alone decides.
    ///
    /// - Parameter detail: what its body says, as one line.
    func verdict(on status: Int, hasRetryAfter: Bool, detail: String?) -> CallVerdict?
    /// The text for people about a call that was no success.
    func detail(_ detail: String?, ofCall token: UInt64) -> String?
    /// The target's id of a message, from the header `Location` of its answer.
    func messageID(in location: String) -> String?
}

extension Target {
    /// They do not.
    public var keepsMessageIDs: Bool { false }
    /// None.
    public func registrar(_ configuration: BackendConfiguration) -> HubRegistrationClient? { nil }
    /// The message alone.
    public func carries(to pushService: String) -> ContentFields { [] }
    /// Its status says it all.
    public func verdict(on status: Int, hasRetryAfter: Bool, detail: String?) -> CallVerdict? { nil }
    /// The same.
    public func detail(_ detail: String?, ofCall token: UInt64) -> String? { detail }
    /// Nothing.
    public func messageID(in location: String) -> String? { nil }
}

extension TargetOutage {
    /// The outages of every kind of target that has some.
    public static let all = ofHub
}

/// A call of an event for one push service.
public struct TargetCall {
    /// The caller's number for it; comes back with its end.
    public var token: UInt64
    /// The push service, as events name it.
    public var pushService: [UInt8]
    /// The call's own trace context in place of the event's; empty without one.
    public var traceparent: [UInt8]
    /// The time by the clock of the wall.
    public var now: WallTime

    /// A call that begins now.
    public init(token: UInt64, pushService: [UInt8], traceparent: [UInt8] = [], now: WallTime) {
        self.token = token
        self.pushService = pushService
        self.traceparent = traceparent
        self.now = now
    }
}
