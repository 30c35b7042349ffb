import HeraldTime

extension AdaptiveRate {
    /// The limit after refusals, as a share of the calls that got through.
    static let retreat = 0.97
    /// When this share of a second's calls is refused, the earlier successes were borrowed (a bucket of tokens): only
    /// the last second counts.
    static let flood = 0.05
    /// The lowest limit (calls a second); the first limit after few calls is at least ``start``.
    static let floor = 1.0
    static let start = 10.0
    static let fewest = 50.0
    /// After a refusal the limit rests for this long at first, and twice as long each time the next one comes at about
    /// the same rate.
    static let firstRest: Milliseconds = .seconds(10)
    static let longestRest: Milliseconds = .minutes(1)
    /// The growth of a barely known limit with each call that gets through (calls a second): less where a second's
    /// quota is used up sooner.
    static let gain = 8.0
    static let smallGain = 3.0
    static let low = 200.0
    /// A limit without a refusal for this long is forgotten.
    static let forgottenAfter: Milliseconds = .minutes(10)
    /// Calls sent before the last decrease are no evidence about it, nor are those sent within this time after it: a
    /// backend that counts the calls of a second refuses the rest of that second.
    static let settlingTime: Milliseconds = .seconds(1)
    /// The same time when calls got through throughout: no second's quota was used up.
    static let mixedSettling: Milliseconds = .milliseconds(300)
    /// This many refused calls in a row meanwhile show that it takes no calls before the next second.
    static let silence = 10
    /// Retries are no evidence for this long after a first call got through.
    static let silenceOfRetries: Milliseconds = .seconds(1)
    /// After this long without an answer, activity counts from the next answer again.
    static let idleTime: Milliseconds = .seconds(3)
    /// A found dependence on the user is trusted for this long.
    static let rememberedTime: Milliseconds = .minutes(1)
    /// Meanwhile, previously refused users are no evidence for this long after another user's call got through.
    static let silenceOfUsers: Milliseconds = .seconds(10)
    /// The longest pause at first.
    static let firstPause: Milliseconds = .seconds(1)
}

extension AdaptiveRate {
    struct State: Sendable, Equatable {
        var limit: Double?
        /// The rate that got through when the limit was lowered.
        var borne = 0.0
        var rest = AdaptiveRate.firstRest
        var loweredAt = MonotonicTime.distantPast
        var settledAt = MonotonicTime.distantPast
        /// The speed of growth while too little is known to rest anywhere.
        var search = Search.none
    }

    enum Search: Sendable, Equatable {
        /// The bearable rate is known: the limit grows slowly at first.
        case none
        /// The bearable rate is known roughly: the limit doubles every second.
        case near
        /// Hardly anything is known: each call that gets through raises the limit (``AdaptiveRate/gain``), so that it
        /// doubles within a tenth of a second at first.
        case far
    }
}
