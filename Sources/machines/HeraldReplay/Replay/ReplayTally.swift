internal import HeraldEvents
internal import HeraldTools

/// How the replays of a job and of its present batch have ended: pure, fed with replays and results.
struct ReplayTally: Sendable {
    struct Counts: Sendable, Equatable {
        var expected = 0
        var delivered = 0
        var suppressed = 0
        var failed = 0

        var known: Int { delivered + suppressed + failed }
        var open: Int { expected - known }
    }

    private var tracker = OutcomeTracker<Int>()
    private(set) var total = Counts()
    /// The present batch's.
    private(set) var batch = Counts()
    private var batchNumber = 0

    /// From now on what is expected belongs to the next batch.
    mutating func beginBatch() {
        batchNumber += 1
        batch = Counts()
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
}
