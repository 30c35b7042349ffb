import HeraldTime

/// Events of which a record was refused, in transactions: which of them are tried together next.
///
/// A broker refuses a whole batch for one record, and many clients are not told for which one. So events that were refused
/// together are divided: half of them are tried, then half of those, or of the rest if these were taken. One culprit among n
/// costs some log n transactions, and the innocent become durable on the way. What is tried goes along with no other event.
struct Suspects: Sendable {
    /// In the order in which they are tried.
    private var waiting: [SlotID] = []
    /// One or more of the first so many are refused; 0: nothing is known.
    private var doubtful = 0
    /// So many are tried where nothing is known: twice as many each time that they are taken.
    private var step = 1
    /// Those that were refused in the transaction under way.
    private var refused: [SlotID] = []

    /// Those that are refused as everything is that goes to their topic: one of them is tried now and then.
    private var held: [SlotID] = []
    private var nextTrial = MonotonicTime.distantPast
    private var takesNewest = false

    /// Whether any waits for nothing but its turn.
    var isWaiting: Bool { !waiting.isEmpty || !refused.isEmpty }

    /// When some are tried next; `nil` without any.
    var due: MonotonicTime? {
        if !waiting.isEmpty { return .distantPast }
        return held.isEmpty ? nil : nextTrial
    }

    /// The event may be tried alone now.
    mutating func add(_ id: SlotID) { waiting.append(id) }

    /// It was refused in the transaction under way, perhaps for another one's record.
    mutating func refuse(_ id: SlotID) { refused.append(id) }

    /// It waits for its topic, which takes nothing.
    mutating func hold(_ id: SlotID, until next: MonotonicTime) {
        held.append(id)
        nextTrial = next
    }

    /// The topic takes nothing: these wait for it.
    mutating func hold(until next: MonotonicTime, where concerns: (SlotID) -> Bool) {
        held += waiting.filter(concerns) + refused.filter(concerns)
        waiting.removeAll(where: concerns)
        refused.removeAll(where: concerns)
        doubtful = 0
        nextTrial = next
    }

    /// The topic takes records again.
    mutating func release(where concerns: (SlotID) -> Bool) {
        waiting += held.filter(concerns)
        held.removeAll(where: concerns)
    }

    /// Those that are tried now, of no transaction larger than that.
    mutating func take(atMost room: Int, now: MonotonicTime) -> [SlotID] {
        if !held.isEmpty, now >= nextTrial {
            // One that is refused for its own sake must not hide that others would be taken.
            takesNewest.toggle()
            return [takesNewest ? held.removeLast() : held.removeFirst()]
        }
        let count = min(waiting.count, room, doubtful == 0 ? step : max(1, doubtful / 2))
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    /// So many that were tried are durable.
    mutating func passed(_ count: Int) {
        doubtful = max(0, doubtful - count)
        step = min(2 * step, .max / 4)
    }

    /// A transaction has failed.
    ///
    /// - Parameter tried: those that were tried in it and not refused; `nil` when it was not theirs.
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

    /// The partitions are gone.
    mutating func removeAll() { self = Self() }
}
