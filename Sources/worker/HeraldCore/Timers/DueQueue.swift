import HeraldTime

/// What waits for a moment, earliest first: a binary heap in one array that is allocated once.
///
/// An entry is never removed early: it names what it is for, and whoever takes it checks that it still holds.
struct DueQueue {
    /// One thing to be reminded of.
    struct Entry {
        var due: MonotonicTime
        var purpose: Purpose
    }

    /// Why the engine wants to be reminded.
    enum Purpose: Equatable {
        /// A quick retry of one push service may be called.
        case quickRetry(CallToken)
        /// An event that waited in memory may go on.
        case event(SlotID)
        /// A paused retry partition is fetched again.
        case resume(SlotID)
        /// A record that the broker would not take is produced again.
        case production(ProductionID)
        /// An event that had a record refused is offered again.
        case refusedEvent(SlotID)
        /// A call that was refused twice has waited for others' answers.
        case suspect(CallToken)
    }

    private var entries: [Entry] = []

    init(capacity: Int) {
        entries.reserveCapacity(capacity)
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The earliest moment that something waits for.
    var earliest: MonotonicTime? { entries.first?.due }

    /// The earliest moment of those that wait for a purpose: to be asked for people, because it looks at all of them.
    func earliest(where suits: (Purpose) -> Bool) -> MonotonicTime? {
        entries.reduce(nil) { earliest, entry in
            suits(entry.purpose) ? min(earliest ?? entry.due, entry.due) : earliest
        }
    }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].due < entries[parent].due else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the earliest entry if it is due.
    mutating func takeDue(at now: MonotonicTime) -> Entry? {
        guard let top = entries.first, top.due <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return top
    }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { return }
            if child + 1 < entries.count, entries[child + 1].due < entries[child].due { child += 1 }
            guard entries[child].due < entries[parent].due else { return }
            entries.swapAt(child, parent)
            parent = child
        }
    }
}
