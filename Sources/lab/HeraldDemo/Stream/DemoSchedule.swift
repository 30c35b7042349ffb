import HeraldTime

/// When which event is published and when the demo is over, as a value; its time comes in.
struct DemoSchedule {
    enum Kind {
        /// Every scene once, as fast as it goes.
        case once
        /// One scene after another, again and again, at a pace to be watched.
        case live
    }

    enum Step: Equatable {
        /// Publish so many of the next events, then ask again.
        case publish(Int)
        /// Ask again at that moment, or when something has happened.
        case wait(until: Milliseconds)
        /// All is published and settled, or has taken too long.
        case end
    }

    /// A live demo publishes for this long.
    static let liveTime: Milliseconds = .seconds(30)
    private static let liveInterval: Milliseconds = .milliseconds(600)
    /// What is not settled so long after the last event was published never will be.
    private static let patience: Milliseconds = .seconds(12)
    /// The worker has to be at work by then.
    private static let startLimit: Milliseconds = .seconds(12)

    private let kind: Kind
    private let sceneCount: Int
    private var published = 0
    private var begin: Milliseconds?
    private var lastPublication = Milliseconds.zero
    private var isStopped = false

    init(_ kind: Kind, sceneCount: Int) {
        self.kind = kind
        self.sceneCount = sceneCount
    }

    private(set) var isPublishing = true

    /// Ends it at the next step.
    mutating func stop() { isStopped = true }

    /// The next step.
    ///
    /// - Parameters:
    ///   - isSettled: whether all that was published has its outcomes.
    ///   - now: how long it is since the demo's start.
    mutating func next(isSettled: Bool, now: Milliseconds) -> Step {
        if isStopped { return .end }
        if published == 0 { return publish(1, now: now) }
        guard let begin else {
            // The first event's outcome shows that the worker has joined its group: the moments in later events hold.
            guard isSettled else {
                return now >= Self.startLimit ? .end : .wait(until: Self.startLimit)
            }
            self.begin = now
            return next(isSettled: isSettled, now: now)
        }
        if isPublishing {
            let due = lastPublication + Self.liveInterval
            if kind == .once || now - begin >= Self.liveTime { isPublishing = false }
            if kind == .once { return publish(sceneCount - 1, now: now) }
            if isPublishing { return now < due ? .wait(until: due) : publish(1, now: now) }
        }
        if isSettled { return .end }
        let limit = lastPublication + Self.patience
        return now >= limit ? .end : .wait(until: limit)
    }

    private mutating func publish(_ count: Int, now: Milliseconds) -> Step {
        published += count
        lastPublication = now
        return .publish(count)
    }
}
