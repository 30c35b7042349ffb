internal import HeraldTime

/// Messages by the moment at which they are asked about: a binary heap.
struct DueHeap {
    private var entries: [(at: MonotonicTime, token: UInt64)] = []

    var first: (at: MonotonicTime, token: UInt64)? { entries.first }

    mutating func insert(_ token: UInt64, at moment: MonotonicTime) {
        entries.append((moment, token))
        var child = entries.count - 1
        while child > 0, entries[child] < entries[(child - 1) / 2] {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child] < entries[least] {
                least = child
            }
            guard least != parent else { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
