/// What is to happen in virtual time: earliest first, and in the order of adding at one moment.
struct Agenda<Step> {
    private var heap: [(at: Int64, number: Int, step: Step)] = []
    private var added = 0

    mutating func add(_ step: Step, at moment: Int64) {
        added += 1
        heap.append((moment, added, step))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(child, parent) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (at: Int64, step: Step)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                var child = 2 * parent + 1
                guard child < heap.count else { break }
                if child + 1 < heap.count, isBefore(child + 1, child) { child += 1 }
                guard isBefore(child, parent) else { break }
                heap.swapAt(child, parent)
                parent = child
            }
        }
        return (first.at, first.step)
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].at, heap[left].number) < (heap[right].at, heap[right].number)
    }
}
