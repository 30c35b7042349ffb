import HeraldEvents
import HeraldTime

/// How a push service's newest calls ended.
struct ServiceCalls: Sendable, Equatable {
    var ends: [String: Double] = [:]
    /// When the newest ended so, as far back as is remembered.
    var lastAt: [String: WallTime] = [:]
    /// Since when calls have failed and none was delivered, as far back as is remembered.
    var nothingSince: WallTime?
    /// Whether they may have failed before that: nothing else was seen before.
    var mayBeOlder = false

    static func isDelivered(_ end: String) -> Bool { CallEnd(word: end) == .answered(.delivered) }

    /// Whether calls that end so fail for now; of an end that only a newer worker knows, that is likely.
    static func isFailing(_ end: String) -> Bool { CallEnd(word: end)?.isFailure ?? true }

    /// Whether a call that ends so, for whatever reason, delivers nothing.
    static func isUndelivered(_ end: String) -> Bool { !isDelivered(end) && CallEnd(word: end) != .oversized }

    /// Whether the backend may have done what such a call asked for.
    static func mayHaveArrived(_ end: String) -> Bool {
        if case .unanswered(let failure)? = CallEnd(word: end) { failure.mayHaveArrived } else { false }
    }

    /// When the newest of these ended; `nil` when none did.
    func last(_ isMeant: (String) -> Bool) -> WallTime? { lastAt.filter { isMeant($0.key) }.values.max() }

    var total: Double { ends.values.reduce(0, +) }

    func share(_ isMeant: (String) -> Bool) -> Double {
        let total = total
        return total > 0 ? count(isMeant) / total : 0
    }

    private func count(_ isMeant: (String) -> Bool) -> Double {
        ends.reduce(0) { $0 + (isMeant($1.key) ? $1.value : 0) }
    }

    /// Whether nothing gets through, and that is not some rejected events' own fault.
    var isDead: Bool {
        NewestCalls.isDead(
            delivered: count(Self.isDelivered), rejected: count { CallEnd(word: $0) == .answered(.rejected) },
            undelivered: count(Self.isUndelivered))
    }
}
