import HeraldTime

/// A call to a push service and its answer, as far as they say how many calls it bears.
struct AnsweredCall: BitwiseCopyable, Sendable {
    /// Of the calls sent earlier it is lower.
    var sequence: UInt64
    var user: UInt64
    var sentAt: MonotonicTime
    /// Whether the event has failed before.
    var isRetry: Bool
    /// Whether the backend said that it can't take more.
    var isRefused = false
    /// How long it wants quiet, if it said so.
    var retryAfter: Milliseconds?
}

/// Brings the answers of a push service into the order in which their calls were sent, while some of them are refusals.
///
/// A refusal takes another time than a delivery. Of calls sent together the quicker kind is answered first, one behind the
/// other, which looks like a backend that takes nothing any more, or like one that refuses nothing. So an answer is held until
/// those to all earlier calls are there, or one of the slower kind would have come.
struct AnswerOrder: Sendable {
    /// No kind is taken to take longer, and no more answers are held.
    static let longest: Milliseconds = .milliseconds(500)
    static let most = 128

    /// By ``AnsweredCall/sequence``.
    private var held: Ring<AnsweredCall>
    /// How long the two kinds take as a rule (nanoseconds).
    private var deliveryTakes: Int64 = 0
    private var refusalTakes: Int64 = 0
    /// Answers are held until then.
    private var endsAt = MonotonicTime.distantPast
    /// The latest of the calls that were delivered without being held, and of those that were held.
    private var passedBy: UInt64 = 0
    private var heldBy: UInt64 = 0

    init() {
        let nobody = AnsweredCall(sequence: 0, user: 0, sentAt: .distantPast, isRetry: false)
        held = Ring(capacity: 0, filler: nobody)
    }

    var isEmpty: Bool { held.isEmpty }

    /// Takes an answer; true when it has its say at once.
    ///
    /// A refusal says nothing when a call that was sent later was delivered before any answer was held.
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

    /// The next of the answers that are held, when it is time.
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

    /// What a call takes as a rule: mostly what the last ones took.
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
