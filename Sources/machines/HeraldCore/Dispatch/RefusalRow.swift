/// The users that one push service refused in a row: it accepted no call that was sent after theirs.
struct RefusalRow: Sendable {
    private struct Refusal: Sendable {
        /// The number of the user's latest refused call.
        var sequence: UInt64
        var user: UInt64
    }

    /// The latest refusals, one of each user.
    private var refusals: [Refusal] = []
    /// The number of the first call of the row.
    private(set) var first: UInt64 = 0
    /// The sender of all of its events; `nil` when there are several.
    private(set) var sender: UInt64?

    var isEmpty: Bool { refusals.isEmpty }

    /// The number of users, as far as they are told apart.
    var count: Int { refusals.count }

    /// The users whose calls were sent after the one with this number.
    func users(after sequence: UInt64) -> Set<UInt64> {
        Set(refusals.lazy.filter { $0.sequence > sequence }.map(\.user))
    }

    /// Adds the refused call with this number.
    ///
    /// - Parameter most: the number of users that are told apart.
    mutating func add(_ sequence: UInt64, user: UInt64, sender: UInt64, most: Int) {
        if refusals.isEmpty { (first, self.sender) = (sequence, sender) }
        first = min(first, sequence)
        if self.sender != sender { self.sender = nil }
        refusals.removeAll { $0.user == user }
        if refusals.count == most { refusals.removeFirst() }
        refusals.append(Refusal(sequence: sequence, user: user))
    }

    /// Notes that the call with this number was accepted: refusals of earlier ones were their users' own.
    mutating func accept(_ sequence: UInt64) {
        refusals.removeAll { $0.sequence < sequence }
        first = max(first, refusals.map(\.sequence).min() ?? 0)
    }

    mutating func removeAll() { refusals.removeAll(keepingCapacity: true) }
}
