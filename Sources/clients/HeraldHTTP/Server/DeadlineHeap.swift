import HeraldTime

/// A binary heap of moments: the earliest is found at once, adding and taking cost the logarithm of the count.
struct DeadlineHeap {
    private var entries: [(due: MonotonicTime, id: UInt64)] = []

    /// The earliest moment.
    var first: MonotonicTime? { entries.first?.due }

    /// Adds a moment and says whether it is now the earliest.
    mutating func insert(id: UInt64, due: MonotonicTime) -> Bool {
        entries.append((due, id))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].due < entries[parent].due else { break }
            entries.swapAt(child, parent)
            child = parent
        }
        return child == 0
    }

    /// Takes the earliest entry out if its moment has come.
    mutating func removeFirst(dueAt now: MonotonicTime) -> UInt64? {
        guard let first = entries.first, first.due <= now else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first.id }
        entries[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].due < entries[smallest].due { smallest = child }
            }
            guard smallest != parent else { return first.id }
            entries.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
