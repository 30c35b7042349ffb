/// The future steps in virtual time: the earliest first, and in the order of adding at one moment.
struct Agenda<Step> {
    private struct Entry {
        var at: Int64
        var number: Int
        var place: Int
    }

    /// A heap of small entries; the steps themselves stay in place.
    private var heap: [Entry] = []
    private var steps: [Step?] = []
    private var freePlaces: [Int] = []
    private var added = 0

    mutating func add(_ step: Step, at moment: Int64) {
        added += 1
        let place: Int
        if let free = freePlaces.popLast() {
            place = free
            steps[place] = step
        } else {
            place = steps.count
            steps.append(step)
        }
        heap.append(Entry(at: moment, number: added, place: place))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(child, parent) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (at: Int64, step: Step)? {
        guard let first = heap.first, let step = steps[first.place] else { return nil }
        steps[first.place] = nil
        freePlaces.append(first.place)
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.at, step)
    }

    /// The next step, if it is due.
    mutating func next(until moment: Int64) -> Step? {
        guard let first = heap.first, first.at <= moment else { return nil }
        return next()?.step
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, isBefore(child + 1, child) { child += 1 }
            guard isBefore(child, parent) else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].at, heap[left].number) < (heap[right].at, heap[right].number)
    }
}
