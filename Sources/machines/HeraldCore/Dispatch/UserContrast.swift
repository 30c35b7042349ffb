import HeraldTime

/// Whether refusals depend on the user or on the rate.
///
/// A backend that can bear fewer calls refuses any of them: a previously refused user gets through as often as others
/// at the same moment. A backend that refuses some users refuses them again while others get through. Only calls of the
/// same moment are compared, because a limit by the second or the minute refuses all calls for a while (the test of
/// Cochran, Mantel and Haenszel).
struct UserContrast: Sendable, Equatable {
    /// A moment has so many calls if it is at least as long as the first and no longer than the second.
    static let calls = 20
    static let moment: ClosedRange<Milliseconds> = .milliseconds(100)...(.seconds(1))
    /// The share of previously refused users that is refused again when refusals depend on the user.
    static let again = 0.9
    /// The number of standard deviations by which that exceeds the share of all.
    static let clear = 4.0
    /// The least number of additional refusals.
    static let least = 4.0
    /// The number of calls for such users that shows no dependence on them.
    static let enough = 40.0
    /// The weight that a moment leaves to earlier ones.
    static let memory = 0.98

    /// The calls of this moment: for previously refused users, and for others.
    private var known = 0
    private var knownRefused = 0
    private var others = 0
    private var othersRefused = 0
    private var began = MonotonicTime.distantPast

    /// In moments with both kinds of calls: the calls for such users, the refused ones, and those expected by the share
    /// of all.
    private var asked = 0.0
    private var refused = 0.0
    private var usual = 0.0
    private var variance = 0.0
    /// The same for others.
    private var othersAsked = 0.0
    private var othersDenied = 0.0

    /// The share of others' calls that was refused.
    var shareOfOthers: Double { othersDenied / max(othersAsked, 1) }

    /// Whether previously refused users are refused again while others get through.
    var dependsOnUser: Bool {
        refused >= Self.again * asked && refused - usual >= max(Self.least, Self.clear * variance.squareRoot())
    }

    /// Whether they get through as often as others, although many calls are refused.
    var dependsOnRate: Bool {
        asked >= Self.enough && usual >= ExpectedRefusals.real * asked && usual <= 0.9 * asked
            && abs(refused - usual) <= max(2 * variance.squareRoot(), 0.2 * usual)
    }

    mutating func count(isKnown: Bool, refused: Bool, _ now: MonotonicTime) {
        if known + others == 0 {
            began = now
        } else {
            let elapsed = now.time(since: began)
            let isFull = known + others >= Self.calls && elapsed >= Self.moment.lowerBound
            if isFull || elapsed >= Self.moment.upperBound { close(now) }
        }
        if isKnown {
            known += 1
            if refused { knownRefused += 1 }
        } else {
            others += 1
            if refused { othersRefused += 1 }
        }
    }

    private mutating func close(_ now: MonotonicTime) {
        let (calls, refusals) = (Double(known + others), Double(knownRefused + othersRefused))
        if known > 0, others > 0, refusals > 0 {
            let share = refusals / calls
            asked = asked * Self.memory + Double(known)
            refused = refused * Self.memory + Double(knownRefused)
            usual = usual * Self.memory + Double(known) * share
            variance =
                variance * Self.memory + Double(known * others) * share * (1 - share) / max(calls - 1, 1)
            othersAsked = othersAsked * Self.memory + Double(others)
            othersDenied = othersDenied * Self.memory + Double(othersRefused)
        }
        (known, knownRefused, others, othersRefused) = (0, 0, 0, 0)
        began = now
    }
}
