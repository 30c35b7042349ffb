import HeraldCore
import HeraldEvents
import HeraldTime

/// One push service of one request record, which has to get exactly one final result.
struct Duty {
    /// The request record.
    var origin: RecordName
    /// The request record that was published first, which results name.
    var source: RecordName
    /// The push service's index; -1 for an event that does not decode.
    var service: Int

    /// The number of the event's campaign.
    var campaign: Int?
    /// The event's user, and its number in the order of publication.
    var user = 0
    var event = 0
    var subject = Subject()
    var publishedAt: Int64 = 0
    var firstCalledAt: Int64?
    /// The time from its publication to its first call (milliseconds); `nil` without a call.
    var delay: Int64? { firstCalledAt.map { $0 - publishedAt } }

    /// Final results that readers can see.
    var finals: [Outcome] = []
    /// Retry records that readers can see and that are not settled.
    var lives: [RecordName] = []

    /// Calls that count as an attempt.
    var calls = 0
    /// Calls since the duty was settled last: lost with the worker that made them.
    var callsOfStay = 0
    /// Calls that faults allow on top of what is configured.
    var allowance = 0
    /// Attempts that the workers should have counted.
    var heard = 0
    /// Its worker died, lost it, or ran into a deadline while it was under way.
    var isExcused = false
    /// A worker has heard its final answer.
    var isAnswered = false
    var wasDelivered = false
    var wasRejected = false
    /// A call that must not be repeated was left without an answer.
    var wasUnanswered = false
    var firstRefusal: Int64?
    var hasHeardRefusal = false
    /// It was refused again, with the current credentials.
    var wasRefusedAgain = false
    /// The outcome of the original in its result, if it is a duplicate.
    var firstOutcome: Outcome?
    /// Its record was deleted with its topic: it need not have a result.
    var isGone = false
    /// Whether its result was recorded is unknown.
    var mayRepeat = false
    /// The longest wait that an answer has asked for.
    var longestRetryAfter: Int64 = 0
    /// It waits for another call, which must not come before this moment.
    var notBefore: Int64?
}

/// Knows the truth and checks the engines against the promises of the design.
///
/// | file | part |
/// |---|---|
/// | `Checkers+Records.swift` | the content of the logs: promises 1 and 2 |
/// | `Checkers+Calls.swift` | promises 3 and 4 |
/// | `Checkers+Waiting.swift` | engines' reasons for waiting |
/// | `Simulation+Jobs.swift` | each of a hub's messages is reported once |
struct Checkers {
    var violations: [String] = []
    var duties: [Duty] = []

    let isAtomic: Bool
    let maximumCalls: Int
    let immediate: Int
    let delays: [Int64]
    let ordering: Ordering
    /// The largest difference between two clocks.
    let tolerance: Int64
    /// The same list as the cluster's.
    private(set) var topics: [String]
    /// The topics that are deleted.
    private var deletedTopics: Set<Int> = []
    private let services: [String]

    /// Offsets of consumed partitions whose records are settled and visible.
    var settled: [Place: Set<Int64>] = [:]
    /// The partition that has another's name since its log was cut off, and the number of its remaining records.
    private var successors: [Place: (place: Place, kept: Int64)] = [:]
    /// Records that are settled and visible in part, with these duties.
    var partly: [RecordName: Set<Int>] = [:]
    /// The moment at which a credential was last accepted.
    var lastAcceptance: Int64 = 0
    /// The latest record that was called first, for each line of events that are kept in order.
    var lastFirstCall: [OrderLine: Int64] = [:]
    var called: Set<RecordName> = []
    /// Records of the same event, by the first of them.
    var twins: [RecordName: [RecordName]] = [:]
    /// The first of each repeated event.
    private var firstOfTwins: [RecordName: RecordName] = [:]
    /// The duties of each record.
    private var dutiesOf: [RecordName: [Int]] = [:]
    /// Partitions have changed hands, and their former owner's memory of earlier events is gone.
    var isKnowledgeLost = false

    /// Campaigns that were paused once, and cancelled ones.
    var pausedCampaigns: Set<Int> = []
    var cancelledCampaigns: Set<Int> = []

    /// The deliveries that caps count.
    var caps: CapLedger

    /// The number of visible reports of each of the hub's messages, and of all of them.
    var told: [String: Int] = [:]
    var toldCount = 0
    /// The visible replays of each dead letter, by job.
    var replayed: [String: Set<RecordName>] = [:]
    /// The push services that each dead letter was replayed for; the empty name stands for an unreadable event.
    var replayedServices: [RecordName: Set<String>] = [:]
    /// Letters that were dealt with in another way.
    var resolved: Set<RecordName> = []
    /// The keys of all marks.
    var markKeys: Set<[UInt8]> = []
    /// The number of reported expired devices.
    var devicesTold = 0

    init(_ scenario: Scenario, topics: [String]) {
        isAtomic = scenario.isAtomic
        immediate = scenario.immediate
        delays = scenario.delays.map(\.length.count)
        maximumCalls = 1 + scenario.immediate + scenario.delays.count
        ordering = scenario.ordering
        tolerance = 2 * scenario.skew.count
        caps = CapLedger(rules: scenario.capRules)
        self.topics = topics
        services = scenario.pushServices.names
    }

    /// Notes that a record repeats another one of its partition.
    mutating func repeats(_ twin: RecordName, _ name: RecordName) {
        let first = firstOfTwins[name] ?? name
        firstOfTwins[first] = first
        firstOfTwins[twin] = first
        twins[first, default: [first]].append(twin)
    }

    func duties(of name: RecordName) -> [Int] { dutiesOf[name] ?? [] }

    mutating func note(_ duties: [Int], of name: RecordName) { dutiesOf[name] = duties }

    /// The duties of the same event's other records, for the same push service.
    func others(than duty: Int) -> [Int] {
        let origin = duties[duty].origin
        guard let first = firstOfTwins[origin], let group = twins[first] else { return [] }
        return group.filter { $0 != origin }.compactMap { name in
            dutiesOf[name]?.first { duties[$0].service == duties[duty].service }
        }
    }

    mutating func fail(_ text: String) {
        violations.append(text)
    }

    // MARK: Topics that are recreated

    /// Notes that a topic is deleted with these records, and has another number under its name.
    mutating func recreated(_ places: [(place: Place, records: [LogRecord])]) {
        guard let topic = places.first?.place.topic else { return }
        topics.append(topics[topic])
        deletedTopics.insert(topic)
        for (place, records) in places {
            for (offset, record) in records.enumerated()
            where !isSettled(RecordName(place: place, offset: Int64(offset))) {
                gone(record.duties)
            }
        }
    }

    /// Notes that the logs of a topic's partitions were cut off, with these records before, and have other names:
    /// `kept` records remain.
    mutating func cut(_ places: [(former: Place, place: Place, records: [LogRecord], kept: Int64)]) {
        guard let topic = places.first?.former.topic else { return }
        topics.append(topics[topic])
        deletedTopics.insert(topic)
        for (former, place, records, kept) in places {
            successors[former] = (place, kept)
            for (offset, record) in records.enumerated() {
                let name = RecordName(place: former, offset: Int64(offset))
                if name.offset < kept {
                    note(record.duties, of: RecordName(place: place, offset: name.offset))
                    if isSettled(name) { settled[place, default: []].insert(name.offset) }
                } else if !isSettled(name) {
                    gone(record.duties)
                }
            }
        }
    }

    /// A record settled in a log that was cut off is settled in the remaining part.
    mutating func settle(_ name: RecordName) {
        settled[name.place, default: []].insert(name.offset)
        if let (place, kept) = successors[name.place], name.offset < kept {
            settle(RecordName(place: place, offset: name.offset))
        }
    }

    func isDeleted(_ place: Place) -> Bool { deletedTopics.contains(place.topic) }

    /// Notes that these need no results.
    mutating func gone(_ duties: [Int]) {
        for duty in duties { self.duties[duty].isGone = true }
    }

    /// Notes that a worker regards these as done, because it could not know that their topic was recreated.
    mutating func passedUnknown(_ place: Place, _ offsets: Range<Int64>, records: [LogRecord]) {
        for offset in offsets where !isSettled(RecordName(place: place, offset: offset)) {
            settled[place, default: []].insert(offset)
            if offset < records.count { gone(records[Int(offset)].duties) }
        }
    }

    /// Notes that the completion of these is forgotten.
    mutating func forgotten(_ duties: [Int]) {
        for duty in duties {
            faultHit(duty)
            self.duties[duty].allowance += maximumCalls
            self.duties[duty].mayRepeat = true
        }
    }

    func text(_ name: RecordName) -> String { "\(topics[name.place.topic])/\(name.place.partition)/\(name.offset)" }

    func text(_ duty: Int) -> String {
        let service = duties[duty].service
        return "\(text(duties[duty].origin)) \(service < 0 ? "(unreadable)" : services[service])"
    }
}

/// The events that are kept in order: a user's, or all, of one partition.
struct OrderLine: Hashable {
    var user: Int
    var place: Place
}
