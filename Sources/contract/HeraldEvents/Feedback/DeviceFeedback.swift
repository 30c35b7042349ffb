import HeraldBytes
import HeraldText
public import HeraldTime

/// A record of the feedback topic about a device that a push service no longer knows, or knows by another handle.
///
/// The handle is personal data: it stands for one device. It is written unchanged, because a service with registrations
/// of its own can only find them by it.
public struct DeviceFeedback: Equatable, Sendable {
    /// The hub's name of the platform, such as `apns`, `gcm` or `wns`.
    public var platform: String
    /// The handle, as the hub wrote it.
    public var handle: String
    /// The handle that the push service wants instead.
    public var newHandle: String?
    /// The hub's id of the registration.
    public var registrationID: String?
    /// The hub's id of the installation.
    public var installationID: String?
    /// The reason, in the hub's words: `ExpiredChannel`.
    public var reason: String?
    /// The hub's id of the notification that showed it, if known.
    public var backendID: String?
    /// The time at which the hub learned it, if known.
    public var at: WallTime?
    /// The time at which it was read.
    public var checkedAt: WallTime

    /// A hub's feedback on a device.
    public init(
        platform: String, handle: String, newHandle: String? = nil, registrationID: String? = nil,
        installationID: String? = nil, reason: String? = nil, backendID: String? = nil, at: WallTime? = nil,
        checkedAt: WallTime
    ) {
        self.platform = platform
        self.handle = handle
        self.newHandle = newHandle
        self.registrationID = registrationID
        self.installationID = installationID
        self.reason = reason
        self.backendID = backendID
        self.at = at
        self.checkedAt = checkedAt
    }

    /// The key of its record: the handle, so that one device's records stay in order.
    public var recordKey: [UInt8] { Array(handle.utf8) }

    init(_ fields: RecordFields) throws(InvalidArgument) {
        platform = try fields.required("platform")
        handle = try fields.required("handle")
        newHandle = try fields.string("newHandle")
        registrationID = try fields.string("registrationId")
        installationID = try fields.string("installationId")
        reason = try fields.string("reason")
        backendID = try fields.string("backendId")
        at = try fields.time("at")
        checkedAt = try fields.requiredTime("checkedAt")
    }

    /// The value of its record: one line of JSON.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        var writer = JSONObjectWriter()
        writer.append("type", plain: FeedbackRecord.Kind.device.rawValue, to: &output)
        writer.append("platform", platform, to: &output)
        writer.append("handle", handle, to: &output)
        writer.append("newHandle", present: newHandle, to: &output)
        writer.append("registrationId", present: registrationID, to: &output)
        writer.append("installationId", present: installationID, to: &output)
        writer.append("reason", present: reason, to: &output)
        writer.append("backendId", present: backendID, to: &output)
        if let at { writer.append("at", at, to: &output) }
        writer.append("checkedAt", checkedAt, to: &output)
        writer.end(&output)
        return output
    }
}
