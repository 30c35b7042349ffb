import HeraldTime

/// Events with a refused record, in transactions: the choice of those that are tried together next.
///
/// A broker refuses a whole batch for one record, and often does not name it. So events that were refused together are
/// divided: half of them are tried, then half of those, or of the rest if these were accepted. One culprit among n
/// costs some log n transactions, and the innocent become durable on the way. No other event joins these trials.
struct Suspects: Sendable {
    /// The events in the order of their trials.
    private var waiting: [SlotID] = []
    /// The number of first events that include a refused one; 0: nothing is known.
    private var doubtful = 0
    /// The number tried while nothing is known: it doubles each time that they are accepted.
    private var step = 1
    /// The events refused in the transaction under way.
    private var refused: [SlotID] = []

    /// The events refused like everything for their topic: one of them is tried periodically.
    private var held: [SlotID] = []
    private var nextTrial = MonotonicTime.distantPast
    private var takesNewest = false

    /// Whether any waits only for its turn.
    var isWaiting: Bool { !waiting.isEmpty || !refused.isEmpty }

    /// The time of the next trial; `nil` without any.
    var due: MonotonicTime? {
        if !waiting.isEmpty { return .distantPast }
        return held.isEmpty ? nil : nextTrial
    }

    /// Adds an event that may be tried alone now.
    mutating func add(_ id: SlotID) { waiting.append(id) }

    /// Notes a refusal in the transaction under way, perhaps for another event's record.
    mutating func refuse(_ id: SlotID) { refused.append(id) }

    /// Has an event wait for its topic, which takes nothing.
    mutating func hold(_ id: SlotID, until next: MonotonicTime) {
        held.append(id)
        nextTrial = next
    }

    /// Has these events wait for the topic, which takes nothing.
    mutating func hold(until next: MonotonicTime, where concerns: (SlotID) -> Bool) {
        held += waiting.filter(concerns) + refused.filter(concerns)
        waiting.removeAll(where: concerns)
        refused.removeAll(where: concerns)
        doubtful = 0
        nextTrial = next
    }

    /// Releases the events of a topic that takes records again.
    mutating func release(where concerns: (SlotID) -> Bool) {
        waiting += held.filter(concerns)
        held.removeAll(where: concerns)
    }

    /// Takes the events of the next trial, within a transaction of this size.
    mutating func take(atMost room: Int, now: MonotonicTime) -> [SlotID] {
        if !held.isEmpty, now >= nextTrial {
            // An event refused for its own sake must not hide that others would be accepted.
            takesNewest.toggle()
            return [takesNewest ? held.removeLast() : held.removeFirst()]
        }
        let count = min(waiting.count, room, doubtful == 0 ? step : max(1, doubtful / 2))
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    /// Notes that this many tried events are durable.
    mutating func passed(_ count: Int) {
        doubtful = max(0, doubtful - count)
        step = min(2 * step, .max / 4)
        // A topic that takes one may take all: those that wait for it are tried without a pause.
        nextTrial = .distantPast
    }

    /// Notes a failed transaction.
    ///
    /// - Parameter tried: the events tried in it and not refused; `nil` when it was not theirs.
    mutating func failed(tried: [SlotID]?) {
        defer { refused.removeAll(keepingCapacity: true) }
        guard let tried else {
            if waiting.isEmpty { doubtful = refused.count }
            waiting += refused
            return
        }
        if !refused.isEmpty || tried.isEmpty {
            doubtful = refused.count
            step = 1
        }
        waiting = refused + tried + waiting
    }

    /// Forgets the events with their partitions.
    mutating func removeAll() { self = Self() }
}
