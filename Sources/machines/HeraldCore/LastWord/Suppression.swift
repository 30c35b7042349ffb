import HeraldEvents
import HeraldTime

/// Why an event is not called: by the user's word, a recall, or a cap.
enum Suppression: Sendable, Equatable {
    /// What the user has opted out of.
    enum OptedOut: Sendable, Equatable {
        /// Of everything, of promotional events, of this push service, or of this source's promotional events.
        case all, promotional, pushService, source
    }

    /// The user opted out.
    case optedOut(OptedOut)
    /// The event or its campaign was recalled; the number is that of the words about it.
    case recalled(UInt32)
    /// The event expires before the user's quiet hours end, which is then.
    case quietExpired(WallTime)
    /// This rule of caps is used up until that moment.
    case capped(rule: Int, next: WallTime)

    /// The word for it in the result.
    var reason: SuppressionReason {
        switch self {
        case .optedOut: .optedOut
        case .recalled: .recalled
        case .quietExpired: .quietExpired
        case .capped: .capped
        }
    }
}
