import HeraldCore
import HeraldEvents
import HeraldTime

/// One push service of one request record.
struct Duty: Hashable, Comparable {
    var origin: String
    var service: String

    static func < (left: Self, right: Self) -> Bool {
        (left.origin, left.service) < (right.origin, right.service)
    }
}

/// Knows the truth and holds the engines against the promises of the design.
struct Checkers {
    private(set) var violations: [String] = []

    /// Final results by duty; the empty service stands for an event that did not decode.
    private(set) var results: [Duty: [String]] = [:]
    /// Retry records that are in a log and below no committed offset, by duty.
    private var liveRetries: [Duty: Set<String>] = [:]
    /// What each consumed record is about.
    private(set) var consumedDuties: [String: [Duty]] = [:]
    private var calls: [Duty: Int] = [:]
    /// Calls that may be repeated because their worker died or lost them.
    private var excused: [Duty: Int] = [:]
    private var lastFirstCall: [String: Int64] = [:]
    private var called: Set<String> = []

    /// Duties whose final answer a worker has heard.
    private var answered: Set<Duty> = []
    /// What the backend has answered to each duty's calls.
    private var statuses: [Duty: Set<Int>] = [:]
    private var firstRefusal: [Duty: Int64] = [:]
    private var lastAcceptance: Int64 = 0
    /// For each duty that waits for another call: the moment before which it must not come.
    private var notBefore: [Duty: Int64] = [:]

    let maximumCalls: Int
    private let immediate: Int
    private let delays: [Int64]
    private let ordering: Ordering
    /// How far two clocks may be apart.
    private let tolerance: Int64

    init(_ scenario: Scenario) {
        immediate = scenario.immediate
        delays = scenario.delays.map(\.milliseconds)
        maximumCalls = 1 + scenario.immediate + scenario.delays.count
        ordering = scenario.ordering
        tolerance = 2 * scenario.skew
    }

    mutating func fail(_ text: String) {
        violations.append(text)
    }

    // MARK: What is in the logs

    mutating func requestAppended(at name: String, services: [String]) {
        consumedDuties[name] = services.map { Duty(origin: name, service: $0) }
    }

    mutating func retryAppended(at name: String, origin: String, services: [String]) {
        let about = services.map { Duty(origin: origin, service: $0) }
        consumedDuties[name] = about
        for duty in about {
            if results[duty] != nil { excuse(duty, "a retry of \(duty) follows its final result") }
            liveRetries[duty, default: []].insert(name)
        }
    }

    mutating func resultAppended(_ duty: Duty, outcome: String, reason: DeadLetterReason?) {
        let seen = statuses[duty] ?? []
        if outcome == Outcome.delivered.rawValue, !seen.contains(200) {
            fail("\(duty) is said to be delivered, and the backend never took it")
        }
        // Refused credentials are an event's own fault only if others got through after its first refusal.
        let isOwnFault = firstRefusal[duty].map { $0 < lastAcceptance } ?? false
        if reason == .rejected, !seen.contains(400), !isOwnFault {
            fail("\(duty) is said to be rejected, and the backend never rejected it")
        }
        let made = calls[duty, default: 0]
        if reason == .attemptsExhausted, made < maximumCalls {
            fail("\(duty) was given up after \(made) calls, \(maximumCalls) are allowed")
        }
        results[duty, default: []].append(outcome)
    }

    /// With at-least-once a crash may leave a duty both settled and retried; without any fault it must not happen.
    private mutating func excuse(_ duty: Duty, _ text: String) {
        if excused[duty, default: 0] == 0 { fail(text) }
    }

    // MARK: Promise 1: no event is lost

    /// An offset was committed beyond the record `name`: all that it is about is final or lives on in a later retry.
    mutating func committedPast(_ name: String) {
        for duty in consumedDuties[name] ?? [] {
            liveRetries[duty]?.remove(name)
            if results[duty] == nil && liveRetries[duty, default: []].isEmpty {
                fail("promise 1: the commit passed \(name), but \(duty) is neither final nor in a retry topic")
            }
        }
    }

    /// At the end every duty has its final result.
    mutating func finish() {
        for duty in consumedDuties.values.joined().sorted() where results[duty] == nil {
            fail("promise 1: \(duty) has no final result")
        }
        for (duty, outcomes) in results.sorted(by: { $0.key < $1.key }) where outcomes.count > 1 {
            excuse(duty, "\(duty) has \(outcomes.count) final results without a fault")
        }
    }

    // MARK: Calls

    /// Calls of this duty were under way, or answered and not yet durable, when their worker died or lost them.
    mutating func faultHit(_ duty: Duty) {
        // Each fault can repeat at most what one stay in memory makes.
        excused[duty, default: 0] += maximumCalls
        notBefore[duty] = nil
    }

    mutating func called(_ duty: Duty, countsAsAttempt: Bool, now: Int64) {
        if let moment = notBefore.removeValue(forKey: duty), now < moment - tolerance {
            fail("a retry of \(duty) was \(moment - now) ms early")
        }
        if results[duty] != nil { excuse(duty, "\(duty) was called after its final result") }
        if answered.contains(duty) { excuse(duty, "promise 3: \(duty) was called again after its final answer") }
        guard countsAsAttempt else { return }
        calls[duty, default: 0] += 1
        let allowed = maximumCalls + excused[duty, default: 0]
        if calls[duty, default: 0] > allowed {
            fail("promise 3: \(duty) was called \(calls[duty, default: 0]) times, \(allowed) are allowed")
        }
    }

    /// The backend's side of a call, whether or not anybody hears of it.
    mutating func backendAnswered(_ duty: Duty, status: Int, now: Int64) {
        statuses[duty, default: []].insert(status)
        switch status {
        case 401, 403: firstRefusal[duty] = firstRefusal[duty] ?? now
        case 0: break
        default: lastAcceptance = now
        }
    }

    /// A worker has heard an answer that needs no other call.
    mutating func answeredForGood(_ duty: Duty) {
        answered.insert(duty)
    }

    /// A probe that ended a hold counts as the call that it was.
    mutating func probeCounted(_ duty: Duty) {
        calls[duty, default: 0] += 1
    }

    /// A call failed for now: when its worker has heard of it, the next one has to wait.
    ///
    /// After a fault nobody knows how many calls a worker has counted.
    mutating func failedForNow(_ duty: Duty, retryAfter: Int64?, now: Int64) {
        guard excused[duty] == nil else { return }
        var wait: Int64 = retryAfter ?? 0
        let index = calls[duty, default: 0] - 1 - immediate
        if index >= 0, index < delays.count { wait = max(wait, delays[index]) }
        notBefore[duty] = now + wait
    }

    /// An event left its request topic for a retry topic: from here on it may be overtaken.
    mutating func movedToRetry(_ name: String) {
        called.insert(name)
    }

    /// Promise 4: the first calls of one user's events come in the order of the events.
    mutating func firstCall(user: String, place: Place, offset: Int64) {
        let name = "\(place.topic)/\(place.partition)/\(offset)"
        guard called.insert(name).inserted else { return }
        let line = "\(ordering == .key ? user : "")@\(place.topic)/\(place.partition)"
        if let last = lastFirstCall[line], last > offset {
            fail("promise 4: \(name) of \(user) was first called after offset \(last) of the same user")
        }
        lastFirstCall[line] = max(lastFirstCall[line] ?? -1, offset)
    }
}

extension Checkers {
    /// What the consumed record `name` is about.
    func duties(of name: String) -> [Duty] { consumedDuties[name] ?? [] }
}
