/// Which of the places and ids that an operator has named were met: a name that is not there is mistyped.
package struct NamedLetters: Sendable {
    private var open: [(name: String, condition: Condition)]

    init(_ names: [(name: String, condition: Condition)]) { open = names }

    /// Notes a dead letter that was met.
    package mutating func note(_ entry: inout DeadLetterEntry) {
        guard !open.isEmpty else { return }
        var left: [(name: String, condition: Condition)] = []
        for name in open where !name.condition.holds(for: &entry) { left.append(name) }
        open = left
    }

    /// Those that no dead letter was met of, as they were given.
    package var missing: [String] { open.map(\.name) }
}
