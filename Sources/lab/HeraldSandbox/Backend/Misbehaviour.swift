package import HeraldTime

/// One rule of misbehaviour for the reference backend or the emulated hub, in demonstrations and tests.
///
/// Rules are tried in order for every authenticated call with a matching path. A rule with only a latency delays the
/// answer and lets later rules go on; the first applicable rule with an ``effect`` ends the search.
package struct Misbehaviour: Sendable, Equatable {
    package enum Effect: Sendable, Equatable {
        case respond(status: Int)
        /// Carries out the request and holds the answer until it is released or the rules change.
        case hold
        /// Never answers; the connection stays open.
        case hang
        /// Closes the connection without an answer.
        case hangUp
    }

    /// The paths it applies to; `*` matches anything, `nil` only the path of notifications.
    package var path: String?
    /// The users (`to_tag`) it applies to; `*` matches anything.
    package var user: String?
    /// The push services it applies to; `*` matches anything.
    package var pns: String?
    package var calls: Int?
    /// The number of first calls of each idempotency key it applies to; calls without a key are left alone.
    package var callsPerKey: Int?
    /// The share of calls it applies to, 0 to 1, chosen by ``seed``.
    package var share: Double?
    /// The seed of the random numbers for ``share`` and for a latency's range.
    package var seed: UInt64 = 1
    package var perSecond: Int?
    package var latency: ClosedRange<Milliseconds>?
    /// The effect instead of the proper answer; `nil` for a rule that only delays.
    package var effect: Effect?
    /// The `Retry-After` header of a status, sent unchanged; `date+30` becomes the date 30 seconds later.
    package var retryAfter: String?
    /// Whether devices get the notification before the rule takes effect, as when only the answer is lost.
    package var isCarriedOut = false

    package static func status(_ status: Int, _ change: (inout Self) -> Void = { _ in }) -> Self {
        made(.respond(status: status), change)
    }

    package static func hold(_ change: (inout Self) -> Void = { _ in }) -> Self { made(.hold, change) }

    package static func hang(_ change: (inout Self) -> Void = { _ in }) -> Self { made(.hang, change) }

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
