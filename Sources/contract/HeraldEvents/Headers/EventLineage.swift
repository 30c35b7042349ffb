import HeraldBytes
public import HeraldTime

/// The event that a record continues, by Herald's headers of a retry or of a replayed request.
public struct EventLineage: Hashable, Sendable {
    /// The request record of the event.
    public var origin: Origin
    /// How often the event was replayed.
    public var replays: Int
    /// The calls made so far.
    public var attempts: Int
    /// The time at which the record is due; `nil` without one.
    public var dueAt: WallTime?
    /// The push services that are still to do; `nil` when unnamed or unknown.
    public var services: PushServiceSet?

    /// A lineage with these facts.
    public init(
        origin: Origin, replays: Int = 0, attempts: Int = 0, dueAt: WallTime? = nil, services: PushServiceSet? = nil
    ) {
        self.origin = origin
        self.replays = replays
        self.attempts = attempts
        self.dueAt = dueAt
        self.services = services
    }

    /// The lineage in a record's headers; `nil` when they name no origin.
    public init?(_ headers: HeaderList, _ names: PushServices) {
        func number(_ name: HeaderName) -> Int64? { headers.lastValue(named: name.literal)?.decimal }
        guard let text = headers.lastValue(named: HeaderName.origin.literal), let origin = Origin(text.text) else {
            return nil
        }
        self.origin = origin
        replays = Int(number(.replays) ?? 0)
        attempts = Int(number(.attempts) ?? 0)
        dueAt = number(.notBefore).map { WallTime(milliseconds: $0) }
        guard let list = headers.lastValue(named: HeaderName.pushServices.literal) else { return }
        services = names.set(commaSeparated: list)
    }
}
