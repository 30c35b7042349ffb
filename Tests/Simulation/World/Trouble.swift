import HeraldCore
import HeraldEvents
import HeraldTime

/// Failures of some users, events or one push service, and of no others.
///
/// The targets and the failures follow from the seed alone, and not from the order of steps: a run with trouble and one
/// without publish the same events at the same moments, and healthy calls take equally long in both.
package struct Trouble: Sendable {
    /// The backend's answer to its targets.
    enum Shape: Sendable, CustomStringConvertible {
        case status(Int, retryAfter: Milliseconds?)
        case timeout
        case reset
        /// A delivery after this time (milliseconds).
        case slow(Int64)

        var result: CallResult {
            switch self {
            case .status(let status, let retryAfter): CallResult(status: status, retryAfter: retryAfter)
            case .timeout: CallResult(failure: .timeout)
            case .reset: CallResult(failure: .reset)
            case .slow: CallResult(status: 200)
            }
        }

        /// The duration of a call (milliseconds) that would take `latency` otherwise.
        func duration(insteadOf latency: Int64) -> Int64 {
            switch self {
            case .timeout: SimulatedBackend.timeout
            case .slow(let latency): latency
            case .status, .reset: latency
            }
        }

        /// Whether many calls are under way at the same time.
        var takesLong: Bool {
            switch self {
            case .timeout, .slow: true
            case .status, .reset: false
            }
        }

        /// The backend reports an overload.
        var throttles: Bool {
            switch self {
            case .status(429, _), .status(_, retryAfter: .some): true
            case .status, .timeout, .reset, .slow: false
            }
        }

        /// Whether many such answers in a row look like a backend that hangs or is overloaded, or like a wrong
        /// password.
        var looksGeneral: Bool {
            switch self {
            case .timeout, .status(403, _), .status(429, _), .status(_, retryAfter: .some): true
            case .status, .reset, .slow: false
            }
        }

        var description: String {
            switch self {
            case .status(let status, let retryAfter?): "\(status) with Retry-After: \(retryAfter.count) ms"
            case .status(let status, nil): "\(status)"
            case .timeout: "a time-out"
            case .reset: "a reset"
            case .slow(let latency): "an answer after \(latency) ms"
            }
        }
    }

    let seed: UInt64
    /// Whether it strikes.
    var isOn = true
    /// The shares of users and of events that are hit, in thousandths.
    let users: Int
    let events: Int
    /// A push service that is hit as a whole.
    let service: Int?
    let shape: Shape
    /// Events are answered so once, and not for ever.
    let isOnce: Bool
    /// The share of events whose records are too large for a topic, in thousandths.
    let oversized: Int
    /// These events belong to users that are hit and come at once: their last attempts come together, too.
    ///
    /// Others come before them: a backend without a single success gives no evidence that it would accept others.
    let crowd: Range<Int>
    /// The number of events before a crowd comes, or calls become slow.
    private static let before = 300

    private static let shapes: [Shape] = [
        .status(429, retryAfter: nil), .status(429, retryAfter: .seconds(1)), .status(429, retryAfter: .minutes(1)),
        .status(503, retryAfter: nil), .status(503, retryAfter: .seconds(5)), .status(500, retryAfter: nil),
        .status(400, retryAfter: nil), .status(404, retryAfter: nil), .status(403, retryAfter: nil), .timeout, .reset,
        .slow(700), .slow(1_500),
    ]

    init(seed: UInt64) {
        let choices = Choices(seed: seed)
        self.seed = seed
        shape = choices.pick(Self.shapes, for: "trouble.shape")
        let hitsService = choices.once(in: 6, for: "trouble.hitsService")
        service = hitsService ? choices.below(3, for: "trouble.service") : nil
        // Near a half of all calls it cannot be distinguished from a wrong path.
        let shares =
            switch shape {
            // Refusals of users in a row are evidence against the credentials.
            case .status(403, _): [0, 20, 100]
            case .slow: [0, 350, 500, 970]
            case .status, .timeout, .reset: [0, 20, 100, 200, 350]
            }
        users = service == nil ? choices.pick(shares, for: "trouble.users") : 0
        isOnce = choices.once(in: 2, for: "trouble.isOnce")
        // Refusals near a tenth of the calls may by chance be more in some hundred.
        let most = shape.throttles && (users > 0 || !isOnce) ? 20 : 50
        events = users == 0 && service == nil ? most : choices.pick([0, 10, 10, most], for: "trouble.events")
        oversized = choices.pick([0, 0, 5, 20], for: "trouble.oversized")
        // Calls that hang in every slot at once keep others from proving that the backend works: not promised.
        let size = users > 0 && !shape.looksGeneral ? choices.pick([0, 0, 100, 400], for: "trouble.crowd") : 0
        crowd = Self.before..<Self.before + size
    }

    /// The longest delay (milliseconds) of a call outside of the trouble.
    ///
    /// Nearly always there is no delay at all.
    var bound: Int64 {
        switch shape {
        // Among a crowd all users seem to be rejected, until a probe finds one that is not.
        case .status(400, _) where !crowd.isEmpty, .status(404, _) where !crowd.isEmpty: 15_000
        // Calls that hang are overtaken first.
        case .timeout: 5_000
        // Slow calls are tried with fewer at a time, and then with ever more.
        case .slow: 10_000
        // Until it is known that it depends on the user, a lower rate is tried.
        case _ where shape.throttles && users > 20: 8_000
        // After a second without calls for other users, the credentials are suspected.
        case .status(403, _): 3_000
        case .status, .reset: 1_000
        }
    }

    func strikes(user: Int) -> Bool { happens(1, user, users) }

    /// Whether this event is hit by itself, whatever its user.
    func strikes(event: Int) -> Bool {
        crowd.contains(event) || happens(2, event, events) || size(ofEvent: event) != .usual
    }

    func size(ofEvent event: Int) -> LogRecord.Size {
        var chance = chance(3, event, 0, 0)
        return chance.below(1_000) < oversized ? chance.pick([.large, .huge, .enormous]) : .usual
    }

    /// The answer to a call and its duration (milliseconds).
    func answer(user: Int, event: Int, service: Int, attempt: Int) -> (result: CallResult, after: Int64) {
        var chance = chance(4, event, service, attempt)
        let latency = chance.between(1, 80)
        guard isOn, isHit(user: user, event: event, service: service, attempt: attempt) else {
            return (CallResult(status: 200), latency)
        }
        return (shape.result, shape.duration(insteadOf: latency))
    }

    private func isHit(user: Int, event: Int, service: Int, attempt: Int) -> Bool {
        if case .slow = shape, event < Self.before { return false }
        if strikes(user: user) || self.service == service { return true }
        return happens(2, event, events) && (attempt == 0 || !isOnce)
    }

    private func happens(_ purpose: UInt64, _ number: Int, _ thousandths: Int) -> Bool {
        var chance = chance(purpose, number, 0, 0)
        return chance.below(1_000) < thousandths
    }

    /// Chance that belongs to one purpose, and not to a moment.
    func chance(_ purpose: UInt64, _ first: Int, _ second: Int, _ third: Int) -> Chance {
        var state = seed
        for number in [purpose, UInt64(first), UInt64(second), UInt64(third)] {
            var mixer = Chance(seed: state ^ number &* 0x9E6C_63D0_876A_3F6B)
            state = mixer.bits()
        }
        return Chance(seed: state)
    }
}

extension Trouble: CustomStringConvertible {
    package var description: String {
        var parts: [String] = []
        if users > 0 { parts.append("\(users) ‰ of the users") }
        if events > 0 { parts.append("\(events) ‰ of the events\(isOnce ? ", once" : "")") }
        if let service { parts.append("push service \(service)") }
        let whom = parts.isEmpty ? "nobody" : parts.joined(separator: " and ")
        return "\(whom) get \(shape); \(oversized) ‰ oversized; \(crowd.count) come at once"
    }
}
