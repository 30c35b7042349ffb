import HeraldTime

/// Whether refusals depend on the user or on the rate.
///
/// A backend that bears fewer calls refuses any of them: a user who was refused before gets through as often as others do at the
/// same moment. One that refuses some users refuses them again, while others get through. Only calls of the same moment are
/// held against each other, because a limit by the second or by the minute refuses all calls for a while (the test of Cochran,
/// Mantel and Haenszel).
struct UserContrast: Sendable, Equatable {
    /// A moment has so many calls if it is at least as long as the first and no longer than the second.
    static let calls = 20
    static let moment: ClosedRange<Milliseconds> = .milliseconds(100)...(.seconds(1))
    /// Of users who were refused before so large a share is refused again when it depends on them.
    static let again = 0.9
    /// By so many standard deviations that is more than of all.
    static let clear = 4.0
    /// So many refusals more, at least.
    static let least = 4.0
    /// So many calls for such users tell that it does not depend on them.
    static let enough = 40.0
    /// What a moment leaves of those before.
    static let memory = 0.98

    /// Calls of this moment: for users who were refused before, and for others.
    private var known = 0
    private var knownRefused = 0
    private var others = 0
    private var othersRefused = 0
    private var began = MonotonicTime.distantPast

    /// Of moments that had both kinds of calls: how many there were for such users, how many were refused, and how many would have been by
    /// the share of all.
    private var asked = 0.0
    private var refused = 0.0
    private var usual = 0.0
    private var variance = 0.0
    /// The same of others.
    private var othersAsked = 0.0
    private var othersDenied = 0.0

    /// The share of others' calls that was refused.
    var shareOfOthers: Double { othersDenied / max(othersAsked, 1) }

    /// Users who were refused before are refused again while others get through.
    var dependsOnUser: Bool {
        refused >= Self.again * asked && refused - usual >= max(Self.least, Self.clear * variance.squareRoot())
    }

    /// They get through as often as others, although many are refused.
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
