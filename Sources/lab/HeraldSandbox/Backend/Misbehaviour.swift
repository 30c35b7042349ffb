package import HeraldTime

/// One rule by which the reference backend or the emulated hub misbehaves, for demonstrations and tests.
///
/// Rules are tried in their order for every authenticated call whose path matches. A rule with only a latency delays the
/// answer and lets the next rules go on; the first rule with an ``effect`` that applies ends the search.
package struct Misbehaviour: Sendable, Equatable {
    package enum Effect: Sendable, Equatable {
        case respond(status: Int)
        /// Carry out what was asked for, and keep the answer until it is released or the rules change.
        case hold
        /// Never answer; the connection stays open.
        case hang
        /// Close the connection without an answer.
        case hangUp
    }

    /// The paths that it concerns; `*` stands for anything, `nil` for the path of notifications.
    package var path: String?
    /// The users (`to_tag`) that it concerns; `*` stands for anything.
    package var user: String?
    /// The push services that it concerns; `*` stands for anything.
    package var pns: String?
    /// It applies to so many calls and then no more.
    package var calls: Int?
    /// It applies to the first so many calls of each idempotency key; calls without a key are left alone.
    package var callsPerKey: Int?
    /// It applies to this share of the calls, 0 to 1, chosen by ``seed``.
    package var share: Double?
    /// The start of the random numbers for ``share`` and for a latency's range.
    package var seed: UInt64 = 1
    /// It applies to calls beyond so many in one second.
    package var perSecond: Int?
    /// The answer is late by so many milliseconds.
    package var latency: ClosedRange<Milliseconds>?
    /// What happens instead of the proper answer, `nil` for a rule that only delays.
    package var effect: Effect?
    /// The header `Retry-After` of a status: sent as it is; `date+30` becomes the date 30 seconds from then.
    package var retryAfter: String?
    /// The devices get the notification before the rule takes effect, as when only the answer is lost.
    package var isCarriedOut = false

    /// A rule that answers with a status.
    package static func status(_ status: Int, _ change: (inout Self) -> Void = { _ in }) -> Self {
        made(.respond(status: status), change)
    }

    /// A rule that keeps the proper answers until they are released.
    package static func hold(_ change: (inout Self) -> Void = { _ in }) -> Self { made(.hold, change) }

    /// A rule that never answers.
    package static func hang(_ change: (inout Self) -> Void = { _ in }) -> Self { made(.hang, change) }

    /// A rule that closes the connection without an answer.
    package static func hangUp(_ change: (inout Self) -> Void = { _ in }) -> Self { made(.hangUp, change) }

    /// A rule that only delays.
    package static func latency(milliseconds: ClosedRange<Int>, _ change: (inout Self) -> Void = { _ in }) -> Self {
        var rule = made(nil, change)
        rule.latency = .milliseconds(milliseconds.lowerBound)...(.milliseconds(milliseconds.upperBound))
        return rule
    }

    private static func made(_ effect: Effect?, _ change: (inout Self) -> Void) -> Self {
        var rule = Self()
        rule.effect = effect
        change(&rule)
        return rule
    }
}
