/// What a hub's price decides; figures of Azure's limits page, those a minute second-hand and unverified.
package enum HubTier: String, CaseIterable, Sendable {
    case free
    case basic
    case standard

    /// Pushes in a month.
    package var pushQuota: Int {
        switch self {
        case .free: 1_000_000
        case .basic, .standard: 10_000_000
        }
    }

    /// Registrations; the service allows ten million in the standard tier, which no memory here would hold.
    package var registrationLimit: Int {
        switch self {
        case .free: 500
        case .basic, .standard: 200_000
        }
    }

    /// Sends in a minute.
    package var sendsPerMinute: Int {
        switch self {
        case .free: 100
        case .basic: 900
        case .standard: 11_500
        }
    }

    /// Whether there are message ids, telemetry, feedback and scheduled sends.
    var hasTelemetry: Bool { self == .standard }
    /// Whether batches are taken.
    var hasBatches: Bool { self != .free }
}
