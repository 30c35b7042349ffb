public import HeraldEvents
import HeraldTime

/// The counts of an engine since its start, in plain numbers that only its lane's thread touches.
///
/// Everything is counted when it is decided; the broker has it within a commit interval.
public struct Counters: Sendable, Equatable {
    /// Records taken.
    public internal(set) var accepted = 0
    /// Records that an earlier owner of the partition had settled.
    public internal(set) var doneBefore = 0
    /// Records without a value.
    public internal(set) var tombstones = 0
    /// Offsets passed over because their records are unreadable.
    public internal(set) var unreadable = 0
    /// Calls made, repeated ones and probes included.
    public internal(set) var calls = 0
    /// Answers and acknowledgements for events that were already given up.
    public internal(set) var stale = 0
    /// The time from an event's first publication to a final outcome, once for each push service; by the place of its
    /// request topic (``RequestTopics``).
    public private(set) var endToEnd: DurationHistograms

    /// By push service, and then by outcome; the last place is for events that name no service.
    private var outcomes: [Int]
    /// By push service, and then by the call's end.
    private var callEnds: [Int]
    /// By push service: rejected calls that counted for their campaign alone.
    private var ofCampaigns: [Int]
    private var deadLetters: [DeadLetterReason: Int] = [:]
    /// By reason; the last place is for hops.
    private var retries = Array(repeating: 0, count: RetryReason.allCases.count + 1)
    /// By push service, and then by part: of delivered notifications.
    private var omitted: [Int]
    private let services: Int
    /// The number of ways in which a call can end.
    private let ends = CallEnd.allCases.count

    /// Empty counts for this many push services and request topics.
    public init(services: Int, requestTopics: Int) {
        self.services = services
        endToEnd = DurationHistograms(repeating: .ofEvents, count: requestTopics + 1)
        outcomes = Array(repeating: 0, count: (services + 1) * Outcome.allCases.count)
        callEnds = Array(repeating: 0, count: services * ends)
        ofCampaigns = Array(repeating: 0, count: services)
        omitted = Array(repeating: 0, count: services * ContentField.allCases.count)
    }

    /// Notifications of a push service with this outcome; `nil` for events that name no service.
    public func notifications(_ outcome: Outcome, service: Int?) -> Int {
        outcomes[(service ?? services) * Outcome.allCases.count + outcome.place]
    }

    /// Calls to a push service with this end.
    public func calls(_ end: CallEnd, service: Int) -> Int {
        callEnds[service * ends + end.place]
    }

    /// Rejected calls to a push service that a campaign of their own is judged by, and no push service.
    public func rejectionsOfCampaigns(service: Int) -> Int { ofCampaigns[service] }

    /// Notifications delivered to a push service without this part, which has no place there.
    public func omitted(_ field: ContentField, service: Int) -> Int {
        omitted[service * ContentField.allCases.count + field.place]
    }

    /// Dead letters for this reason.
    public func deadLetters(_ reason: DeadLetterReason) -> Int { deadLetters[reason, default: 0] }

    /// Retry records for this reason; `nil`: hops, which keep their record's reason.
    public func retries(_ reason: RetryReason?) -> Int { retries[reason?.place ?? RetryReason.allCases.count] }

    /// All retry records.
    public var retried: Int { retries.reduce(0, +) }

    /// All duplicates.
    public var duplicates: Int { (0...services).reduce(0) { $0 + notifications(.duplicate, service: $1) } }

    /// Counts a final outcome, with the place of the event's request topic and the time since its publication.
    mutating func count(_ outcome: Outcome, service: Int?, of topic: Int, after age: Milliseconds) {
        outcomes[(service ?? services) * Outcome.allCases.count + outcome.place] += 1
        endToEnd.observe(microseconds: (age * 1_000).count, at: topic)
    }

    mutating func count(omitted fields: ContentFields, service: Int) {
        if fields.isEmpty { return }
        for field in fields.fields { omitted[service * ContentField.allCases.count + field.place] += 1 }
    }

    mutating func count(_ end: CallEnd, service: Int) {
        callEnds[service * ends + end.place] += 1
    }

    mutating func countRejectionOfCampaign(service: Int) { ofCampaigns[service] += 1 }

    mutating func count(_ copy: EventCopy) {
        switch copy.destination {
        case .retry(_, _, let reason): retries[reason?.place ?? RetryReason.allCases.count] += 1
        case .deadLetter(let reason): deadLetters[reason, default: 0] += 1
        }
    }
}

extension CallEnd {
    fileprivate var place: Int {
        switch self {
        case .answered(.delivered): 0
        case .answered(.transient): 1
        case .throttled: 2
        case .answered(.credentials): 3
        case .answered(.rejected): 4
        case .unanswered(let failure): 5 + Int(failure.rawValue)
        case .oversized: 5 + CallFailure.allCases.count
        }
    }
}

// The place of each case in `allCases`, without a search.

extension Outcome {
    fileprivate var place: Int {
        switch self {
        case .delivered: 0
        case .deadLettered: 1
        case .expired: 2
        case .cancelled: 3
        case .duplicate: 4
        case .suppressed: 5
        }
    }
}

extension RetryReason {
    fileprivate var place: Int {
        switch self {
        case .transient: 0
        case .throttled: 1
        case .notBefore: 2
        case .blocked: 3
        case .paused: 4
        case .preferences: 5
        case .quietHours: 6
        case .held: 7
        }
    }
}
