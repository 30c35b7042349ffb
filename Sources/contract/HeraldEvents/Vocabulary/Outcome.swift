/// How an event ended for a push service.
public enum Outcome: String, CaseIterable, Sendable {
    /// The backend took it.
    case delivered
    /// It is in the dead-letter topic.
    case deadLettered = "dead-lettered"
    /// It was not sent before its `expiresAt`.
    case expired
    /// Its campaign was cancelled.
    case cancelled
    /// The same event came a short while ago, and its outcome is known: it was delivered, say.
    case duplicate
}

// What follows from an outcome, decided once; code that counts, shows or judges outcomes asks here.
extension Outcome {
    /// What it says of the person.
    public enum Standing: Sendable {
        /// The notification is on its way to the person.
        case reached
        /// It could not be delivered.
        case failed
        /// It was not to be delivered any more.
        case ended
        /// Another event's outcome says it.
        case repeated
    }

    /// What it says of the person.
    public var standing: Standing {
        switch self {
        case .delivered: .reached
        case .deadLettered: .failed
        case .expired, .cancelled: .ended
        case .duplicate: .repeated
        }
    }

    /// Whether the person was not reached.
    public var isUnreached: Bool {
        switch standing {
        case .failed, .ended: true
        case .reached, .repeated: false
        }
    }

    /// Whether such an event is in the dead-letter topic too, and can be replayed.
    public var hasDeadLetter: Bool {
        switch self {
        case .deadLettered, .expired: true
        case .delivered, .cancelled, .duplicate: false
        }
    }

    /// Whether its result says why, in words.
    public var hasDetail: Bool {
        switch self {
        case .deadLettered, .expired: true
        case .delivered, .cancelled, .duplicate: false
        }
    }

    /// Whether it shows that notifications do not get through: the alert `HeraldManyFail` counts it.
    public var isAlarming: Bool {
        switch self {
        case .deadLettered, .expired: true
        case .delivered, .cancelled, .duplicate: false
        }
    }

    /// Whether a replay that ends so needs no other.
    public var isGoodReplay: Bool {
        switch self {
        case .delivered, .duplicate: true
        case .deadLettered, .expired, .cancelled: false
        }
    }

    /// Whether the same event that comes later is a duplicate, and is not called.
    public var makesDuplicates: Bool {
        switch self {
        case .delivered, .expired, .cancelled: true
        case .deadLettered, .duplicate: false
        }
    }

    /// How the console shows it.
    public var tone: Tone {
        switch self {
        case .delivered: .good
        case .deadLettered: .bad
        case .expired: .warn
        case .cancelled, .duplicate: .quiet
        }
    }
}
