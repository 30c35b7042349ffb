/// Finds the known name nearest to a mistyped one, for "Did you mean …?".
public enum Suggestion {
    /// Longer names are not compared: mistyped names are short, and the comparison is quadratic.
    private static let longestName = 64

    /// The candidate nearest to `name`; nil when none is near enough.
    ///
    /// Edits are insert, delete, replace, and swap of neighbours; case is ignored. The first of several equally near
    /// candidates wins.
    public static func nearest(to name: String, in candidates: some Sequence<String>) -> String? {
        guard name.utf8.count <= longestName else { return nil }
        let wanted = Array(name.lowercased().utf8)
        var best: (name: String, distance: Int)?
        for candidate in candidates where candidate.utf8.count <= longestName {
            let letters = Array(candidate.lowercased().utf8)
            let limit = max(1, min(wanted.count, letters.count) / 3)
            let distance = Self.distance(wanted, letters)
            if distance <= limit, distance < (best?.distance ?? .max) { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Optimal string alignment distance: the number of replaced, deleted, inserted or swapped letters.
    package static func distance<Letter: Equatable>(_ left: [Letter], _ right: [Letter]) -> Int {
        var beforePrevious = [Int](repeating: 0, count: right.count + 1)
        var previous = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for column in right.indices {
                let replaced = previous[column] + (left[row] == right[column] ? 0 : 1)
                var cost = min(replaced, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforePrevious[column - 1] + 1)
                }
                current.append(cost)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }
}
