/// The users of chance in a run, each with a stream of its own.
///
/// A stream follows from the name of its case and the run's seed alone. So a new case does not change the others'
/// numbers, and a renamed case gets new ones.
package enum Stream: Int, CaseIterable {
    // Faults of workers and brokers: their times, targets and lengths.
    case crash, stop, freeze, sessionLoss, growth, outage, coordinatorLoad, leaderLoss, refusal, retention, rival
    case recreation, cut, offsetLoss, deletion, stranger, unanswered
    case clockStep, settings
    case start, restart

    // Faults of single requests and records.
    case lostMessage, lostAcknowledgement, abortableError, fatalError, outOfStep, forgottenEnd, lateRequest
    case hiddenFence, lateMarker, refusedRecord, fullQueue, unknownLimit, batch

    // Durations, and the order of the broker's looks.
    case travel, answer, rebalance, unassignment, producer, callTimeout, retry, expiry, marker, take, unforwarded

    // Published records.
    case damage, burst, event, eventSize, invalidEvent, content, campaignOfEvent, openTransaction, twin, gap

    // What users and operators say, and of what events.
    case lastWord, lastWordNews, eventClass, source, zone, caps

    // Campaigns, and the backend.
    case campaign, campaignNews, campaignsTopic, weather, credentials, backend, connection

    // Jobs, and the hub that they ask.
    case jobFault, jobKill, jobStart, jobQuestion, hub, letters

    /// The engine's entropy.
    case entropy

    /// The moments at which an engine is asked for its events' reasons to wait.
    case waiting
}

/// A stream of chance for each purpose of a run.
package struct Streams {
    private var streams: [Chance]

    package init(seed: UInt64) {
        streams = Stream.allCases.map { Chance(seed: seed, for: "\($0)") }
    }

    /// Streams of the same names with other numbers.
    init(seed: UInt64, of owner: String) {
        streams = Stream.allCases.map { Chance(seed: seed, for: "\(owner).\($0)") }
    }

    package subscript(stream: Stream) -> Chance {
        get { streams[stream.rawValue] }
        _modify { yield &streams[stream.rawValue] }
    }
}

/// Single choices of a seed, each by its name: a new one does not change the others.
struct Choices {
    let seed: UInt64

    func below(_ bound: Int, for name: String) -> Int {
        var chance = Chance(seed: seed, for: name)
        return chance.below(bound)
    }

    func between(_ low: Int64, _ high: Int64, for name: String) -> Int64 {
        var chance = Chance(seed: seed, for: name)
        return chance.between(low, high)
    }

    func pick<Element>(_ elements: [Element], for name: String) -> Element {
        elements[below(elements.count, for: name)]
    }

    /// Whether something is so, once in `times` times.
    func once(in times: Int, for name: String) -> Bool { below(times, for: name) == 0 }
}
