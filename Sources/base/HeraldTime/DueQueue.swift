/// Entries that wait for a moment, earliest first: a binary heap in one array (Williams 1964, *Heapsort*).
///
/// An entry is never removed early: it names its purpose, and the caller that takes it checks whether that still holds.
/// Entries with the same moment have no order.
@frozen
public struct DueQueue<Purpose> {
    /// One reminder.
    @frozen
    public struct Entry {
        /// Its moment.
        public var due: MonotonicTime
        /// Its purpose.
        public var purpose: Purpose

        /// A reminder at this moment.
        @inlinable
        public init(due: MonotonicTime, purpose: Purpose) {
            self.due = due
            self.purpose = purpose
        }
    }

    @usableFromInline var entries: [Entry] = []

    /// An empty queue; up to `capacity` entries need no further allocation.
    @inlinable
    public init(capacity: Int = 0) {
        entries.reserveCapacity(capacity)
    }

    /// Whether there are no entries.
    @inlinable
    public var isEmpty: Bool { entries.isEmpty }

    /// The earliest moment of all entries.
    @inlinable
    public var earliest: MonotonicTime? { entries.first?.due }

    /// The earliest moment of entries with a suitable purpose; it reads all entries, so it is only for display.
    public func earliest(where suits: (Purpose) -> Bool) -> MonotonicTime? {
        entries.reduce(nil) { earliest, entry in
            suits(entry.purpose) ? min(earliest ?? entry.due, entry.due) : earliest
        }
    }

    /// Adds an entry and returns whether it is now the earliest.
    @inlinable
    @discardableResult
    public mutating func add(_ entry: Entry) -> Bool {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].due < entries[parent].due else { return false }
            entries.swapAt(child, parent)
            child = parent
        }
        return true
    }

    /// Takes the earliest entry if it is due.
    @inlinable
    public mutating func takeDue(at now: MonotonicTime) -> Entry? {
        guard let top = entries.first, top.due <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return top
    }

    /// Forgets all entries and keeps their memory.
    @inlinable
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
    }

    @inlinable
    mutating func sink() {
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

extension DueQueue: Sendable where Purpose: Sendable {}
extension DueQueue.Entry: Sendable where Purpose: Sendable {}
