import HeraldTime

/// The times at which events are published and the demo ends, as a value; the time is a parameter.
struct DemoSchedule {
    enum Kind {
        /// Every scene once, as fast as possible.
        case once
        /// One scene after another, again and again, at a pace that a person can follow.
        case live
    }

    enum Step: Equatable {
        /// Publish this many of the next events, then ask again.
        case publish(Int)
        /// Ask again at that moment, or after any change.
        case wait(until: Milliseconds)
        /// Everything is published and either settled or overdue.
        case end
    }

    static let liveTime: Milliseconds = .seconds(30)
    private static let liveInterval: Milliseconds = .milliseconds(600)
    /// The time after the last publication at which an unsettled event counts as lost.
    private static let patience: Milliseconds = .seconds(12)
    /// The time by which the worker must be running.
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

    mutating func stop() { isStopped = true }

    /// The next step.
    ///
    /// - Parameters:
    ///   - isSettled: whether everything published has its outcomes.
    ///   - now: the time since the demo's start.
    mutating func next(isSettled: Bool, now: Milliseconds) -> Step {
        if isStopped { return .end }
        if published == 0 { return publish(1, now: now) }
        guard let begin else {
            // The first outcome shows that the worker has joined its group, so the times in later events hold.
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
