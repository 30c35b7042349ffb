import HeraldTime

extension AdaptiveRate {
    /// The limit after refusals, as a share of what got through.
    static let retreat = 0.97
    /// When so large a share of a second's calls is refused, what got through before that was borrowed (a bucket of tokens):
    /// only the last second counts.
    static let flood = 0.05
    /// No limit is lower (calls a second), and the first one after so few calls not lower than ``start``.
    static let floor = 1.0
    static let start = 10.0
    static let fewest = 50.0
    /// After a refusal the limit stays for this long at first, and for twice as long each time that the
    /// next one comes at about the same rate.
    static let firstRest: Milliseconds = .seconds(10)
    static let longestRest: Milliseconds = .minutes(1)
    /// What each call that gets through adds to a limit of which hardly anything is known (calls a second): less where a
    /// second's quota is gone sooner.
    static let gain = 8.0
    static let smallGain = 3.0
    static let low = 200.0
    /// A limit that met no refusal for so long is forgotten.
    static let forgottenAfter: Milliseconds = .minutes(10)
    /// What was sent before the last decrease says nothing about it, nor what was sent so soon after it: a
    /// backend that counts the calls of a second refuses what is left of it.
    static let settlingTime: Milliseconds = .seconds(1)
    /// The same where calls got through all the while: no second's quota was used up.
    static let mixedSettling: Milliseconds = .milliseconds(300)
    /// When so many calls in a row are refused meanwhile, it takes none before the next second.
    static let silence = 10
    /// Retries say nothing for so long after a call that was none has got through.
    static let silenceOfRetries: Milliseconds = .seconds(1)
    /// After so long without an answer activity counts from the next answer again.
    static let idleTime: Milliseconds = .seconds(3)
    /// What depends on the user is believed to do so for so long.
    static let rememberedTime: Milliseconds = .minutes(1)
    /// Meanwhile users who were refused before say nothing for so long after another's call that got through.
    static let silenceOfUsers: Milliseconds = .seconds(10)
    /// No pause is longer at first.
    static let firstPause: Milliseconds = .seconds(1)
}

extension AdaptiveRate {
    struct State: Sendable, Equatable {
        var limit: Double?
        /// What got through when the limit was lowered.
        var borne = 0.0
        var rest = AdaptiveRate.firstRest
        var loweredAt = MonotonicTime.distantPast
        var settledAt = MonotonicTime.distantPast
        /// How fast the limit grows because too little is known to stay anywhere.
        var search = Search.none
    }

    enum Search: Sendable, Equatable {
        /// What is borne is known: hardly at first.
        case none
        /// About what is borne: the limit doubles every second.
        case near
        /// Hardly anything is known: each call that gets through makes room for some more (``AdaptiveRate/gain``), so that
        /// it doubles within a tenth of a second at first.
        case far
    }
}
