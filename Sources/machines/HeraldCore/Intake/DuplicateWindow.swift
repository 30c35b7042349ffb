import HeraldEvents
import HeraldTime

/// The fate of an earlier notification, as one byte.
enum FirstFate: Equatable {
    /// It is in this engine's memory, not decided.
    case underWay
    /// An earlier owner of its partition settled it; its outcome is unknown.
    case dealtWith
    /// It ended with this outcome; a failure does not make a later event a duplicate.
    case ended(Outcome)
    /// It waits in the retry topic of this delay.
    case retrying(delay: Int)

    /// The bytes with one meaning; all later ones are delays.
    private enum Code: UInt8, CaseIterable {
        case underWay, dealtWith, delivered, expired, cancelled, deadLettered, suppressed

        static let firstDelay = UInt8(allCases.count)
    }

    init(rawValue: UInt8) {
        switch Code(rawValue: rawValue) {
        case .underWay: self = .underWay
        case .dealtWith: self = .dealtWith
        case .delivered: self = .ended(.delivered)
        case .expired: self = .ended(.expired)
        case .cancelled: self = .ended(.cancelled)
        case .deadLettered: self = .ended(.deadLettered)
        case .suppressed: self = .ended(.suppressed)
        case nil: self = .retrying(delay: Int(rawValue - Code.firstDelay))
        }
    }

    var rawValue: UInt8 {
        switch self {
        case .underWay: Code.underWay.rawValue
        case .dealtWith, .ended(.duplicate): Code.dealtWith.rawValue
        case .ended(.delivered): Code.delivered.rawValue
        case .ended(.expired): Code.expired.rawValue
        case .ended(.cancelled): Code.cancelled.rawValue
        case .ended(.deadLettered): Code.deadLettered.rawValue
        case .ended(.suppressed): Code.suppressed.rawValue
        case .retrying(let delay): Code.firstDelay + UInt8(clamping: min(delay, 200))
        }
    }

    /// Whether an event that came before this one is a duplicate of it, too: only when its end is known.
    ///
    /// One that an earlier owner dealt with may have ended as a duplicate of the one before it, which waits in a retry topic.
    var makesDuplicates: Bool {
        switch self {
        case .dealtWith, .underWay, .retrying: false
        case .ended(let outcome): outcome.makesDuplicates
        }
    }
}

/// Remembers the last notifications and their fates, limited by number and by time.
///
/// A ring in the order of arrival, of hashes with the fate in their last byte, with the low half of its event's offset
/// beside each, an index that finds a hash in it, and marks in time: 17⅓ bytes for each notification and 16 KiB, and
/// eight more for each that may be a duplicate of one remembered. Everything grows by doubling up to its limit;
/// afterwards nothing is allocated. An event counts each time it comes: what is remembered are the last `size` events,
/// not the last `size` different ones.
///
/// Of a hash 56 bits count: among n that are remembered, an event is taken for another with a chance of n / 2⁵⁶,
/// 1.4 × 10⁻¹¹ for a million.
///
/// What the window has passed is forgotten at once but leaves the tables little by little, two for each event that
/// comes: only growing takes more than a moment, and the last time comes at half of the limit.
struct DuplicateWindow {
    private static let smallestCapacity = 1_024

    /// The most events that are remembered; 0 when nothing is.
    private let limit: Int
    private var arrivals: ArrivalTimes
    private var index = PositionIndex(capacity: 0)
    /// The ring of hashes, with the fate of each in the bits that the index ignores.
    private var hashes: [UInt64] = []
    /// For each of them which event it was, of those with this identity.
    private var origins: [UInt32] = []
    /// The notification that each may duplicate.
    private var links = DuplicateLinks()
    /// The position of the oldest event in the ring.
    private var oldest = 0
    /// The number of events in the ring.
    private var held = 0
    /// The number that the next event gets.
    private var next = 0

    /// A memory of at most `size` events within a `window`; with none of either it remembers nothing.
    init(size: Int, window: Milliseconds) {
        limit = window > .zero ? min(max(size, 0), PositionIndex.largestCapacity) : 0
        arrivals = ArrivalTimes(window: max(window, .milliseconds(1)))
    }

    /// The number of events that are remembered.
    var count: Int { next - max(firstHeld, arrivals.first ?? next) }

    /// The bytes that the tables take.
    var byteCount: Int {
        hashes.capacity * MemoryLayout<UInt64>.stride + origins.capacity * MemoryLayout<UInt32>.stride
            + links.byteCount + index.byteCount + arrivals.byteCount
    }

    /// The latest notification of an identity before the one that came now.
    struct Former {
        var number: Int
        var origin: UInt32
        var fate: FirstFate
    }

    /// Remembers an event as of now.
    ///
    /// - Parameter time: When it came. Before the event before it, it counts as having come with that one; ahead of the
    ///   clock, it may hide older events until ``evict(now:)`` sets it right.
    /// - Returns: The number by which ``note(_:_:)`` knows it, and the one with the same identity that was remembered
    ///   and within the window already.
    mutating func insert(
        _ hash: UInt64, origin: UInt32, fate: FirstFate, at time: WallTime
    ) -> (number: Int, former: Former?) {
        guard limit > 0 else { return (-1, nil) }
        let firstInWindow = arrivals.note(next, at: time)
        var former: Former?
        if let position = index.find(hash, in: hashes), number(at: position) >= firstInWindow {
            former = entry(at: position)
        }
        let firstRemembered = arrivals.first ?? next
        for _ in 0..<2 where held > 0 && firstHeld < firstRemembered { dropOldest() }
        if held == hashes.count { if held < limit { grow() } else { dropOldest() } }
        let position = wrapped(oldest &+ held)
        hashes[position] = hash & PositionIndex.hashMask | UInt64(fate.rawValue)
        origins[position] = origin
        index.place(hash, at: position, in: hashes)
        held &+= 1
        next &+= 1
        return (next &- 1, former)
    }

    /// The notification that a later one with the number may be a duplicate of.
    func linked(from number: Int) -> Former? {
        guard number >= firstHeld, let first = links.first(of: number) else { return nil }
        return position(of: first).map { entry(at: $0) }
    }

    /// Notes that the notification that was inserted last may be a duplicate of another.
    mutating func link(_ number: Int, to first: Int) {
        if number >= firstHeld { links.append(number, first: first) }
    }

    private func entry(at position: Int) -> Former {
        Former(number: number(at: position), origin: origins[position], fate: fate(at: position))
    }

    /// The fate of the notification with this number; `nil` when it has left the window's tables.
    func fate(of number: Int) -> FirstFate? {
        position(of: number).map { fate(at: $0) }
    }

    private func fate(at position: Int) -> FirstFate {
        FirstFate(rawValue: UInt8(truncatingIfNeeded: hashes[position]))
    }

    /// Notes what became of the notification with this number.
    mutating func note(_ number: Int, _ fate: FirstFate) {
        guard let position = position(of: number) else { return }
        hashes[position] = hashes[position] & PositionIndex.hashMask | UInt64(fate.rawValue)
    }

    private func position(of number: Int) -> Int? {
        guard number >= firstHeld, number < next else { return nil }
        return wrapped(oldest &+ (number &- firstHeld))
    }

    /// Forgets what is older than the window.
    ///
    /// Call it now and then with the clock's time, which is right when events say otherwise: none can have come later.
    mutating func evict(now: WallTime) {
        arrivals.expire(now: now)
    }

    /// Forgets everything.
    mutating func removeAll() {
        arrivals.removeAll()
    }

    /// The number of the oldest event in the ring.
    private var firstHeld: Int { next &- held }

    @inline(__always)
    private func wrapped(_ position: Int) -> Int {
        position < hashes.count ? position : position &- hashes.count
    }

    private func number(at position: Int) -> Int {
        firstHeld &+ (position < oldest ? position &- oldest &+ hashes.count : position &- oldest)
    }

    private mutating func dropOldest() {
        // The index leads to the newest event of an identity: of an older one nothing is left in it.
        index.remove(hashes[oldest], at: oldest, in: hashes)
        links.drop(firstHeld)
        oldest = wrapped(oldest &+ 1)
        held &-= 1
    }

    private mutating func grow() {
        let capacity = min(limit, max(Self.smallestCapacity, 2 * hashes.count))
        // The old index goes before anything new comes.
        index = PositionIndex(capacity: 0)
        hashes = grown(hashes, to: capacity)
        origins = grown(origins, to: capacity)
        oldest = 0
        index = PositionIndex(capacity: capacity)
        for place in 0..<held { index.place(hashes[place], at: place, in: hashes) }
    }

    private func grown<Element: FixedWidthInteger>(_ ring: [Element], to capacity: Int) -> [Element] {
        var larger = [Element](repeating: 0, count: capacity)
        for place in 0..<held {
            let position = oldest + place
            larger[place] = ring[position < ring.count ? position : position - ring.count]
        }
        return larger
    }
}

/// The identity of an event: its source, its identifier and its user, in one request partition.
enum DuplicateIdentity {
    /// The identity as 64 bits.
    ///
    /// - Parameters:
    ///   - source: The hash of the event's source; 0 when it is absent, which is another identity than empty.
    ///   - user: The hash of its user.
    ///   - salt: What tells the partition from all others.
    /// - seed: A secret of the process, so that no publisher can choose an event that is taken for another's.
    static func hash(
        source: UInt64, id: RawSpan, user: UInt64, partition salt: UInt64, seed: UInt64
    ) -> UInt64 {
        var hasher = ByteHash(seed: seed)
        hasher.add(salt)
        hasher.add(source)
        hasher.add(user)
        hasher.add(field: id)
        return hasher.finish()
    }

    /// The identity of the event's notification to one push service.
    static func hash(_ event: UInt64, service: Int) -> UInt64 {
        event &+ UInt64(service) &* 0x9E37_79B9_7F4A_7C15
    }
}
