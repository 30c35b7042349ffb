import HeraldCore
import HeraldEvents
import HeraldTime

/// One push service of one request record: what has to get exactly one final result.
struct Duty {
    /// The request record.
    var origin: RecordName
    /// The request record that was published first, of which results tell.
    var source: RecordName
    /// The push service's index; -1 for an event that does not decode.
    var service: Int

    /// The number of the event's campaign.
    var campaign: Int?
    /// Whose event it is, and its number in the order of publication.
    var user = 0
    var event = 0
    var publishedAt: Int64 = 0
    var firstCalledAt: Int64?
    /// How long after its publication it was called (milliseconds); `nil` when it never was.
    var delay: Int64? { firstCalledAt.map { $0 - publishedAt } }

    /// Final results that readers can see.
    var finals: [Outcome] = []
    /// Retry records that readers can see and that nobody has settled.
    var lives: [RecordName] = []

    /// Calls that count as an attempt.
    var calls = 0
    /// Those since the duty was settled last: lost with the worker that made them.
    var callsOfStay = 0
    /// Calls that faults allow on top of what is configured.
    var allowance = 0
    /// Attempts as the workers that made them should have counted.
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
    /// It was refused again, with the credentials that are in use.
    var wasRefusedAgain = false
    /// What its result says of the one that it is a duplicate of.
    var firstOutcome: Outcome?
    /// Its record was deleted with its topic: it need not have a result.
    var isGone = false
    /// Nobody can tell any more whether its result was recorded.
    var mayRepeat = false
    /// The longest wait that an answer has asked for.
    var longestRetryAfter: Int64 = 0
    /// It waits for another call, which must not come before this moment.
    var notBefore: Int64?
}

/// Knows the truth and holds the engines against the promises of the design.
///
/// | file | part |
/// |---|---|
/// | `Checkers+Records.swift` | what is in the logs: promises 1 and 2 |
/// | `Checkers+Calls.swift` | promises 3 and 4 |
/// | `Checkers+Waiting.swift` | what engines say of why events wait |
/// | `Simulation+Jobs.swift` | each of a hub's messages is told once |
struct Checkers {
    var violations: [String] = []
    var duties: [Duty] = []

    let isAtomic: Bool
    let maximumCalls: Int
    let immediate: Int
    let delays: [Int64]
    let ordering: Ordering
    /// How far two clocks may be apart.
    let tolerance: Int64
    /// As the cluster's list.
    private(set) var topics: [String]
    /// The topics that are deleted.
    private var deletedTopics: Set<Int> = []
    private let services: [String]

    /// Offsets of consumed partitions whose records are settled for all to see.
    var settled: [Place: Set<Int64>] = [:]
    /// What has a partition's name since its log was cut off, and how many of its records are left.
    private var successors: [Place: (place: Place, kept: Int64)] = [:]
    /// Records of which a part is settled for all to see, and which.
    var partly: [RecordName: Set<Int>] = [:]
    /// When a credential was accepted last.
    var lastAcceptance: Int64 = 0
    /// The latest record that was called first, for each line of events that are kept in order.
    var lastFirstCall: [OrderLine: Int64] = [:]
    var called: Set<RecordName> = []
    /// Records of the same event, by the first of them.
    var twins: [RecordName: [RecordName]] = [:]
    /// The first of each that is there more than once.
    private var firstOfTwins: [RecordName: RecordName] = [:]
    /// The duties of each record.
    private var dutiesOf: [RecordName: [Int]] = [:]
    /// Partitions have changed hands, and what their former owner knew of earlier events is gone.
    var isKnowledgeLost = false

    /// Campaigns that were paused once, and that are cancelled.
    var pausedCampaigns: Set<Int> = []
    var cancelledCampaigns: Set<Int> = []

    /// How often each of the hub's messages was told, for all to see, and how often all of them.
    var told: [String: Int] = [:]
    var toldCount = 0
    /// How often each dead letter was replayed by each job, for all to see.
    var replayed: [String: Set<RecordName>] = [:]
    /// The push services that each dead letter was replayed for; the empty name is an event that can't be read.
    var replayedServices: [RecordName: Set<String>] = [:]
    /// Those that were dealt with in another way.
    var resolved: Set<RecordName> = []
    /// The keys of all marks.
    var markKeys: Set<[UInt8]> = []
    /// How many devices that are gone were told.
    var devicesTold = 0

    init(_ scenario: Scenario, topics: [String]) {
        isAtomic = scenario.isAtomic
        immediate = scenario.immediate
        delays = scenario.delays.map(\.length.count)
        maximumCalls = 1 + scenario.immediate + scenario.delays.count
        ordering = scenario.ordering
        tolerance = 2 * scenario.skew.count
        self.topics = topics
        services = scenario.pushServices.names
    }

    /// A record repeats another one of its partition.
    mutating func repeats(_ twin: RecordName, _ name: RecordName) {
        let first = firstOfTwins[name] ?? name
        firstOfTwins[first] = first
        firstOfTwins[twin] = first
        twins[first, default: [first]].append(twin)
    }

    func duties(of name: RecordName) -> [Int] { dutiesOf[name] ?? [] }

    mutating func note(_ duties: [Int], of name: RecordName) { dutiesOf[name] = duties }

    /// The duties of the same event that is there once more, for the same push service.
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

    /// A topic is deleted with these records, and has another number of that name.
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

    /// The logs of a topic's partitions were cut off, with these records before, and have other names: so many are left.
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

    /// What is settled in a log that was cut off is settled in what is left of it.
    mutating func settle(_ name: RecordName) {
        settled[name.place, default: []].insert(name.offset)
        if let (place, kept) = successors[name.place], name.offset < kept {
            settle(RecordName(place: place, offset: name.offset))
        }
    }

    func isDeleted(_ place: Place) -> Bool { deletedTopics.contains(place.topic) }

    /// These need have no results.
    mutating func gone(_ duties: [Int]) {
        for duty in duties { self.duties[duty].isGone = true }
    }

    /// A worker takes these for dealt with, because it could not know that their topic was recreated.
    mutating func passedUnknown(_ place: Place, _ offsets: Range<Int64>, records: [LogRecord]) {
        for offset in offsets where !isSettled(RecordName(place: place, offset: offset)) {
            settled[place, default: []].insert(offset)
            if offset < records.count { gone(records[Int(offset)].duties) }
        }
    }

    /// Nobody knows any more that these are done.
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

/// What is kept in order: a user's events, or all, of one partition.
struct OrderLine: Hashable {
    var user: Int
    var place: Place
}
