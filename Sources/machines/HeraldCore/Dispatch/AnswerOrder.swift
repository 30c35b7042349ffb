import HeraldTime

/// A call to a push service and its answer, as evidence of the bearable rate.
struct AnsweredCall: BitwiseCopyable, Sendable {
    /// Calls sent earlier have lower numbers.
    var sequence: UInt64
    var user: UInt64
    var sentAt: MonotonicTime
    /// Whether the event has failed before.
    var isRetry: Bool
    /// Whether the backend said that it can't take more.
    var isRefused = false
    /// The requested pause, if any.
    var retryAfter: Milliseconds?
}

/// Brings the answers of a push service into the order of their calls while some of them are refusals.
///
/// A refusal takes another time than a delivery. Of calls sent together the quicker kind is answered first, all in a
/// row, which looks like a backend that refuses everything, or nothing. So an answer is held until all earlier calls
/// are answered, or an answer of the slower kind would have come.
struct AnswerOrder: Sendable {
    /// The longest time for either kind, and the most held answers.
    static let longest: Milliseconds = .milliseconds(500)
    static let most = 128

    /// By ``AnsweredCall/sequence``.
    private var held: Ring<AnsweredCall>
    /// The usual durations of the two kinds (nanoseconds).
    private var deliveryTakes: Int64 = 0
    private var refusalTakes: Int64 = 0
    /// The end of the holding.
    private var endsAt = MonotonicTime.distantPast
    /// The latest call delivered without being held, and the latest held one.
    private var passedBy: UInt64 = 0
    private var heldBy: UInt64 = 0

    init() {
        let nobody = AnsweredCall(sequence: 0, user: 0, sentAt: .distantPast, isRetry: false)
        held = Ring(capacity: 0, filler: nobody)
    }

    var isEmpty: Bool { held.isEmpty }

    /// Takes an answer; true when it counts at once.
    ///
    /// A refusal is no evidence when a later call was delivered before any answer was held.
    mutating func add(_ call: AnsweredCall, now: MonotonicTime) -> Bool {
        let took = min(now.nanoseconds - call.sentAt.nanoseconds, Self.longest.nanoseconds)
        if call.isRefused {
            refusalTakes = Self.usual(refusalTakes, took)
            endsAt = now.advanced(by: AdaptiveRate.rememberedTime)
            if call.sequence > passedBy { hold(call) }
            return false
        }
        deliveryTakes = Self.usual(deliveryTakes, took)
        guard now < endsAt || !held.isEmpty else {
            passedBy = max(passedBy, call.sequence)
            return true
        }
        hold(call)
        return false
    }

    /// The next held answer, when it is due.
    mutating func next(now: MonotonicTime) -> AnsweredCall? {
        guard let first = held.first else { return nil }
        let usual = max(deliveryTakes, refusalTakes)
        let wait = usual + usual / 4 + 2_000_000
        guard
            first.sequence <= max(passedBy, heldBy) + 1 || now.nanoseconds - first.sentAt.nanoseconds >= wait
                || held.count > Self.most
        else { return nil }
        heldBy = max(heldBy, first.sequence)
        return held.popFirst()
    }

    /// The usual duration of a call, weighted towards the latest ones.
    private static func usual(_ usual: Int64, _ took: Int64) -> Int64 {
        usual == 0 ? took : usual + ((took - usual) >> 3)
    }

    private mutating func hold(_ call: AnsweredCall) {
        held.append(call)
        var place = held.count - 1
        while place > 0, held[place - 1].sequence > call.sequence {
            held[place] = held[place - 1]
            place -= 1
        }
        held[place] = call
    }
}
