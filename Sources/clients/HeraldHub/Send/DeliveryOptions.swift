public import HeraldTime

/// What a notification asks of its push service beside being shown; each service uses what it knows.
public struct DeliveryOptions: Sendable, Hashable {
    /// How long the push service tries.
    public var expiresAt: WallTime?
    /// Whether it is urgent; `nil` leaves that to the push service.
    public var isUrgent: Bool?
    /// APNs' kind of notification, `alert` when empty: 1 to 32 lower-case letters.
    public var pushType: [UInt8]
    /// A later notification with the same id takes this one's place on the device; none when empty: 1 to 64 printable
    /// characters of ASCII.
    public var collapseID: [UInt8]

    /// Options of an event.
    public init(
        expiresAt: WallTime? = nil, isUrgent: Bool? = nil, pushType: [UInt8] = [], collapseID: [UInt8] = []
    ) {
        self.expiresAt = expiresAt
        self.isUrgent = isUrgent
        self.pushType = pushType
        self.collapseID = collapseID
    }
}
