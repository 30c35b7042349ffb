internal import HeraldEvents

/// Which outcomes of replayed dead letters are still to come: pure, fed with replays and results.
struct OutcomeBook: Sendable {
    private struct Key: Hashable {
        var origin: Origin
        var replays: Int
    }

    private struct Open {
        /// None when the event did not decode: then one result ends it.
        var pushServices: [String]
        var batch: Int
    }

    /// What came of the replays, in outcomes.
    struct Counts: Sendable, Equatable {
        var expected = 0
        var delivered = 0
        var failed = 0

        var known: Int { delivered + failed }
        var open: Int { expected - known }
    }

    private var entries: [Key: [Open]] = [:]
    /// The whole job's.
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
        entries[Key(origin: replay.origin, replays: replay.replays), default: []].append(
            Open(pushServices: replay.pushServices, batch: batchNumber))
    }

    /// Takes a result; whether it was waited for.
    mutating func take(_ result: NotificationResult) {
        let key = Key(origin: result.origin, replays: result.replays)
        guard var open = entries[key] else { return }
        let isGood = result.isGoodReplay
        if let name = result.pushService {
            guard let index = open.firstIndex(where: { $0.pushServices.contains(name) }) else { return }
            count(1, isGood, open[index].batch)
            open[index].pushServices.removeAll { $0 == name }
            if open[index].pushServices.isEmpty { open.remove(at: index) }
        } else {
            count(max(1, open[0].pushServices.count), isGood, open[0].batch)
            open.remove(at: 0)
        }
        entries[key] = open.isEmpty ? nil : open
    }

    private mutating func count(_ outcomes: Int, _ isGood: Bool, _ number: Int) {
        if isGood { total.delivered += outcomes } else { total.failed += outcomes }
        guard number == batchNumber else { return }
        if isGood { batch.delivered += outcomes } else { batch.failed += outcomes }
    }
}
