internal import HeraldEvents
internal import HeraldTime
internal import HeraldTools

/// How the replays of a job and of its present batch have ended: pure, fed with replays and results.
struct ReplayTally: Sendable {
    struct Counts: Sendable, Equatable {
        var expected = 0
        var delivered = 0
        var suppressed = 0
        var failed = 0
        /// Those that wait for the end of their users' quiet hours.
        var asleep = 0

        var known: Int { delivered + suppressed + failed }
        var open: Int { expected - known }
        /// What is open, and nobody knows why.
        var awaited: Int { open - asleep }
    }

    private struct Notification: Hashable {
        var origin: Origin
        var replays: Int
        var pushService: String
    }

    private var tracker = OutcomeTracker<Int>()
    private(set) var total = Counts()
    /// The present batch's.
    private(set) var batch = Counts()
    private var batchNumber = 0
    private var asleep: [Notification: (batch: Int, until: WallTime)] = [:]
    /// The dead letters of the present batch that have come to wait for quiet hours, and whether some came since they were
    /// asked for.
    private var sleepers: (letters: Set<Origin>, areNew: Bool) = ([], false)

    /// From now on what is expected belongs to the next batch.
    mutating func beginBatch() {
        batchNumber += 1
        batch = Counts()
        sleepers = ([], false)
    }

    mutating func expect(_ replay: ReplayRules.Replay) {
        let outcomes = max(1, replay.pushServices.count)
        total.expected += outcomes
        batch.expected += outcomes
        tracker.expect(batchNumber, origin: replay.origin, replays: replay.replays, pushServices: replay.pushServices)
    }

    /// Takes a result, if it was expected.
    mutating func receive(_ result: NotificationResult) {
        guard let (number, pushServices) = tracker.receive(result) else { return }
        for name in pushServices {
            wake(Notification(origin: result.origin, replays: result.replays, pushService: name))
        }
        // An event that did not decode has one outcome.
        let outcomes = max(1, pushServices.count)
        let path: WritableKeyPath<Counts, Int> =
            switch result.outcome.replayEnd {
            case .delivered: \.delivered
            case .suppressed: \.suppressed
            case .failed: \.failed
            }
        total[keyPath: path] += outcomes
        if number == batchNumber { batch[keyPath: path] += outcomes }
    }

    /// Takes what went to a retry topic, if it was expected: it waits for quiet hours, or does not any more.
    mutating func receive(_ event: RetriedEvent) {
        for name in event.pushServices {
            let notification = Notification(origin: event.origin, replays: event.replays, pushService: name)
            wake(notification)
            guard let until = event.quietUntil,
                let number = tracker.event(of: event.origin, replays: event.replays, pushService: name)
            else { continue }
            asleep[notification] = (number, until)
            total.asleep += 1
            guard number == batchNumber else { continue }
            batch.asleep += 1
            if sleepers.letters.insert(event.origin).inserted { sleepers.areNew = true }
        }
    }

    private mutating func wake(_ notification: Notification) {
        guard let former = asleep.removeValue(forKey: notification) else { return }
        total.asleep -= 1
        if former.batch == batchNumber { batch.asleep -= 1 }
    }

    /// How many dead letters of the present batch have come to wait for quiet hours; 0 when none has since this was asked.
    mutating func takeSleepers() -> Int {
        defer { sleepers.areNew = false }
        return sleepers.areNew ? sleepers.letters.count : 0
    }

    /// When the first of those that wait for quiet hours is called; `nil` when none does.
    var asleepUntil: WallTime? { asleep.values.map(\.until).min() }
}
