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
    /// The user has opted out of it, or it was recalled: it was not called.
    case suppressed
}

/// Why an event was suppressed.
public enum SuppressionReason: String, CaseIterable, Sendable {
    /// Its user has opted out of it.
    case optedOut = "opted-out"
    /// It was recalled, or its campaign was.
    case recalled
    /// Its `expiresAt` comes before the end of its user's quiet hours.
    case quietExpired = "quiet-expired"
    /// Its user had as many promotional notifications as `preferences.caps` allows.
    case capped
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
        case .expired, .cancelled, .suppressed: .ended
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
        case .delivered, .cancelled, .duplicate, .suppressed: false
        }
    }

    /// Whether its result says why, in words.
    public var hasDetail: Bool {
        switch self {
        case .deadLettered, .expired, .suppressed: true
        case .delivered, .cancelled, .duplicate: false
        }
    }

    /// Whether it shows that notifications do not get through: the alert `HeraldManyFail` counts it.
    public var isAlarming: Bool {
        switch self {
        case .deadLettered, .expired: true
        case .delivered, .cancelled, .duplicate, .suppressed: false
        }
    }

    /// What it says of a replay.
    public enum ReplayEnd: Sendable {
        /// The person has it, and it needs no other replay.
        case delivered
        /// It was not to be delivered any more, and needs no other either.
        case suppressed
        /// It is as far as before.
        case failed
    }

    /// What it says of a replay.
    public var replayEnd: ReplayEnd {
        switch self {
        case .delivered, .duplicate: .delivered
        case .suppressed: .suppressed
        case .deadLettered, .expired, .cancelled: .failed
        }
    }

    /// Whether the same event that comes later is a duplicate, and is not called.
    public var makesDuplicates: Bool {
        switch self {
        case .delivered, .expired, .cancelled, .suppressed: true
        case .deadLettered, .duplicate: false
        }
    }

    /// How the console shows it.
    public var tone: Tone {
        switch self {
        case .delivered: .good
        case .deadLettered: .bad
        case .expired: .warn
        case .cancelled, .duplicate, .suppressed: .quiet
        }
    }
}

/// How something that ended is shown: the same word and colour wherever it stands.
public enum Tone: String, Sendable, CaseIterable {
    /// All is well.
    case good
    /// It may pass, or be meant so.
    case warn
    /// It failed.
    case bad
    /// It is neither good nor bad.
    case quiet
}

/// Why an event is in a retry topic.
public enum RetryReason: String, CaseIterable, Sendable {
    /// A call failed in a way that can pass.
    case transient
    /// The backend asked to wait.
    case throttled
    /// The event's `notBefore` is not reached.
    case notBefore = "not-before"
    /// Something holds the event back that is not its own fault.
    case blocked
    /// Its campaign is paused.
    case paused
    /// It is promotional, and it is not known what its user has said last.
    case preferences
    /// It is promotional, and its user does not want to be disturbed now.
    case quietHours = "quiet-hours"
    /// Its push service is held: it refuses every call.
    case held
}

extension RetryReason {
    /// Whether it waits because somebody wants it to, and Herald is not late.
    public var isWanted: Bool {
        switch self {
        case .notBefore, .paused, .quietHours: true
        case .transient, .throttled, .blocked, .preferences, .held: false
        }
    }

    /// Whether a call failed, or one would.
    public var isFailure: Bool {
        switch self {
        case .transient, .throttled, .held: true
        case .notBefore, .blocked, .paused, .preferences, .quietHours: false
        }
    }
}

/// Why an event is in the dead-letter topic.
public enum DeadLetterReason: String, CaseIterable, Sendable {
    /// The value is no JSON, or no CloudEvents envelope.
    case malformed
    /// A field or a header breaks its rule.
    case invalid
    /// The value or the message is too large.
    case oversized
    /// The backend refused it for good.
    case rejected
    /// All calls that the settings allow were made.
    case attemptsExhausted = "attempts-exhausted"
    /// The time that the settings allow is over.
    case timeExhausted = "time-exhausted"
    /// Its `expiresAt` is past.
    case expired
    /// It was replayed as often as the settings allow.
    case replaysExhausted = "replays-exhausted"
    /// Its call may have reached the backend, no answer came, and the settings forbid to call again by itself.
    case unanswered
    /// No consumer can read the batch that it was published in: it stands for all records from there to the batch's end.
    case unreadable
}
