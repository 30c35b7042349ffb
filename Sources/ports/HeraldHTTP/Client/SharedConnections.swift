internal import HeraldTime

/// The connections of a pool that carry many calls at once (HTTP/2): how many places each has, and which is silent.
///
/// A part of ``PoolState``, by its slots. Knows no socket and no clock.
struct SharedConnections {
    /// What is to be done about a connection that is silent.
    enum Silence: Equatable {
        case none
        /// Ask the other side for a sign of life.
        case ask
        /// Nothing came in time.
        case over
    }

    private struct Entry {
        /// How many calls it takes at once; 0 until the other side has said so.
        var places = 0
        var takenCount = 0
        /// It takes no call any more, and ends with its last one.
        var isLeaving = false
        var isGreeted = false
        /// When something came, or when the first of its calls began.
        var quietSince = MonotonicTime(nanoseconds: 0)
        /// Since when an answer to a question is owed.
        var askedAt: MonotonicTime?
    }

    /// More calls than these share no connection while there may be another one: so many wait when one packet is lost.
    ///
    /// docs/PERFORMANCE.md has the figures that it was chosen by.
    static let placesLimit = 16
    /// So long a connection with calls may be silent before it is asked.
    static let silence: Milliseconds = .seconds(3)
    /// The same of one without calls.
    static let idleSilence: Milliseconds = .seconds(15)
    /// So long it may take to answer.
    static let patience: Milliseconds = .seconds(5)

    /// By slot; those of other connections are not used.
    private var entries: [Entry] = []
    /// Those that are made and not ended.
    private(set) var slots: [Int] = []
    /// Where the search for a free place begins: with the connection that got the last call, until that was written.
    private var cursor = 0
    /// So many calls it got since the search came to it.
    private var together = 0
    /// How many calls the next connection is likely to carry; `nil` while it is not known whether it will be shared.
    private(set) var expectedPlaces: Int?

    /// - Parameter versions: what may be spoken.
    init(_ versions: HTTPVersions) {
        switch versions {
        case .http1: expectedPlaces = 1
        case .agreed: expectedPlaces = nil
        case .http2: expectedPlaces = Self.placesLimit
        }
    }

    /// A connection was made that carries one call at a time.
    mutating func madeAnother() { expectedPlaces = 1 }

    /// The next connection may be of either kind.
    mutating func expectAgreement() { expectedPlaces = nil }

    /// A connection was made; the other side has to greet before it takes calls.
    mutating func made(_ slot: Int, now: MonotonicTime) {
        while entries.count <= slot { entries.append(Entry()) }
        entries[slot] = Entry(quietSince: now)
        slots.append(slot)
        expectedPlaces = expectedPlaces ?? Self.placesLimit
    }

    /// The other side takes so many calls at once.
    mutating func offers(_ slot: Int, places: Int) {
        entries[slot].places = places
        entries[slot].isGreeted = true
        expectedPlaces = max(1, min(places, Self.placesLimit))
    }

    /// A connection with a free place and fewer than so many calls.
    ///
    /// Those with one take turns, and in its turn each gets as many as it has room for, so that they are written at once.
    mutating func nextFree(below limit: Int = placesLimit) -> Int? {
        if together >= Self.placesLimit { turn() }
        for step in slots.indices {
            let place = (cursor + step) % slots.count
            let entry = entries[slots[place]]
            if entry.takenCount < min(entry.places, limit), !entry.isLeaving, entry.askedAt == nil {
                if step > 0 { (cursor, together) = (place, 0) }
                return slots[place]
            }
        }
        return nil
    }

    /// The next call goes to another connection: what the last one got is written, or enough for one write.
    mutating func turn() {
        cursor += 1
        together = 0
    }

    mutating func take(_ slot: Int, now: MonotonicTime) {
        if entries[slot].takenCount == 0 { entries[slot].quietSince = now }
        entries[slot].takenCount += 1
        together += 1
    }

    /// A call has left its place; true when the connection ends now.
    mutating func release(_ slot: Int) -> Bool {
        entries[slot].takenCount -= 1
        return entries[slot].isLeaving && entries[slot].takenCount == 0
    }

    /// The connection takes no call any more; true when it ends now.
    mutating func leave(_ slot: Int) -> Bool {
        entries[slot].isLeaving = true
        return entries[slot].takenCount == 0
    }

    /// The connection is gone.
    mutating func ended(_ slot: Int) {
        slots.removeAll { $0 == slot }
    }

    /// Something came from the other side.
    mutating func heard(_ slot: Int, now: MonotonicTime) {
        entries[slot].quietSince = now
        entries[slot].askedAt = nil
    }

    /// What is to be done about a connection's silence; asking is taken note of.
    ///
    /// - Parameter greetingTimeout: how long the other side may take to greet.
    mutating func silence(_ slot: Int, greetingTimeout: Milliseconds, now: MonotonicTime) -> Silence {
        let entry = entries[slot]
        guard entry.isGreeted else {
            return now < entry.quietSince.advanced(by: greetingTimeout) ? .none : .over
        }
        if let askedAt = entry.askedAt {
            return now < askedAt.advanced(by: Self.patience) ? .none : .over
        }
        let limit = entry.takenCount > 0 ? Self.silence : Self.idleSilence
        if now < entry.quietSince.advanced(by: limit) { return .none }
        entries[slot].askedAt = now
        return .ask
    }
}
