import HeraldThreads
import HeraldTime

/// What the page Now has found out, and the page Failures says beside its groups and plans.
final class TroubleBoard: Sendable {
    private struct State {
        var evidence = Evidence()
        var dead: [String] = []
    }

    private let state = Guarded(State())

    /// Notes what was seen, and of which push services every call fails now.
    func note(_ evidence: Evidence, dead: [String]) {
        state.withLock { $0 = State(evidence: evidence, dead: dead) }
    }

    /// What was delivered within the hour.
    func delivered(now: WallTime) -> TraitTally { state.withLock { $0.evidence }.delivered(now: now) }

    /// The replayed events that were answered since then and wait for their next call, the newest first.
    func openReplays(since moment: WallTime, now: WallTime) -> [OpenReplay] {
        state.withLock { $0.evidence }.openReplays.since(moment, now: now)
    }

    /// The push services of which every call fails now.
    var deadServices: [String] { state.withLock { $0.dead } }
}
