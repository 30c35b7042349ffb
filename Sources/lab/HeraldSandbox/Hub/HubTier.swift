/// A hub's pricing tier; figures from Azure's limits page, those per minute second-hand and unverified.
package enum HubTier: String, CaseIterable, Sendable {
    case free
    case basic
    case standard

    package var pushQuota: Int {
        switch self {
        case .free: 1_000_000
        case .basic, .standard: 10_000_000
        }
    }

    /// The maximum number of registrations; the standard tier's ten million would not fit in memory here.
    package var registrationLimit: Int {
        switch self {
        case .free: 500
        case .basic, .standard: 200_000
        }
    }

    package var sendsPerMinute: Int {
        switch self {
        case .free: 100
        case .basic: 900
        case .standard: 11_500
        }
    }

    /// Whether the tier has message ids, telemetry, feedback and scheduled sends.
    var hasTelemetry: Bool { self == .standard }
    var hasBatches: Bool { self != .free }
}
