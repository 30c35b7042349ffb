internal import HeraldTime

/// The shared connections of a pool (HTTP/2): the places of each, and the silent ones.
///
/// It is a part of ``PoolState``, by its slots, and knows no socket and no clock.
struct SharedConnections {
    enum Silence: Equatable {
        case none
        /// Ask the other side for a sign of life.
        case ask
        /// Nothing came in time.
        case over
    }

    private struct Entry {
        /// The number of calls that it takes at once; 0 until the other side has sent it.
        var places = 0
        var takenCount = 0
        /// Whether it takes no more calls, and ends with its last one.
        var isLeaving = false
        var isGreeted = false
        /// The time of the latest arrival, or of the first call's begin.
        var quietSince = MonotonicTime(nanoseconds: 0)
        /// The time since which an answer to a question is owed.
        var askedAt: MonotonicTime?
    }

    /// The most calls that share a connection while another one is possible: they all wait when one packet is lost.
    ///
    /// docs/PERFORMANCE.md has the figures behind it.
    static let placesLimit = 16
    /// The silence of a connection with calls before it is asked.
    static let silence: Milliseconds = .seconds(3)
    /// The same for one without calls.
    static let idleSilence: Milliseconds = .seconds(15)
    static let patience: Milliseconds = .seconds(5)

    /// The entries by slot; those of other connections are unused.
    private var entries: [Entry] = []
    /// The slots of connections that are made and not ended.
    private(set) var slots: [Int] = []
    /// The start of the search for a free place: the connection that got the last call, until that was written.
    private var cursor = 0
    /// The number of calls that it got since the search came to it.
    private var together = 0
    /// The probable number of calls of the next connection; `nil` while it is unknown whether it will be shared.
    private(set) var expectedPlaces: Int?

    init(_ versions: HTTPVersions) {
        switch versions {
        case .http1: expectedPlaces = 1
        case .agreed: expectedPlaces = nil
        case .http2: expectedPlaces = Self.placesLimit
        }
    }

    /// Notes a connection that carries one call at a time.
    mutating func madeAnother() { expectedPlaces = 1 }

    mutating func expectAgreement() { expectedPlaces = nil }

    /// Notes a new connection; the other side has to greet before it takes calls.
    mutating func made(_ slot: Int, now: MonotonicTime) {
        while entries.count <= slot { entries.append(Entry()) }
        entries[slot] = Entry(quietSince: now)
        slots.append(slot)
        expectedPlaces = expectedPlaces ?? Self.placesLimit
    }

    mutating func offers(_ slot: Int, places: Int) {
        entries[slot].places = places
        entries[slot].isGreeted = true
        expectedPlaces = max(1, min(places, Self.placesLimit))
    }

    /// A connection with a free place and fewer than `limit` calls.
    ///
    /// Such connections take turns, and each gets as many calls as it has room for in its turn, so that they are
    /// written at once.
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

    /// Sends the next call to another connection: the last one's calls are written, or enough for one write.
    mutating func turn() {
        cursor += 1
        together = 0
    }

    mutating func take(_ slot: Int, now: MonotonicTime) {
        if entries[slot].takenCount == 0 { entries[slot].quietSince = now }
        entries[slot].takenCount += 1
        together += 1
    }

    /// Frees a call's place; true when the connection ends now.
    mutating func release(_ slot: Int) -> Bool {
        entries[slot].takenCount -= 1
        return entries[slot].isLeaving && entries[slot].takenCount == 0
    }

    /// Takes the connection out of use; true when it ends now.
    mutating func leave(_ slot: Int) -> Bool {
        entries[slot].isLeaving = true
        return entries[slot].takenCount == 0
    }

    mutating func ended(_ slot: Int) {
        slots.removeAll { $0 == slot }
    }

    mutating func heard(_ slot: Int, now: MonotonicTime) {
        entries[slot].quietSince = now
        entries[slot].askedAt = nil
    }

    /// The consequence of a connection's silence; asking is noted.
    ///
    /// - Parameter greetingTimeout: the time for the other side to greet.
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
