internal import HeraldTime

/// The addresses of one name: which of them the next connection goes to, and when the name is to be looked up again.
///
/// Knows no socket, clock or chance: moments and random bits come in as arguments.
struct AddressCache {
    /// One address, for as long as the name has it.
    struct Number: Equatable {
        fileprivate let value: Int
    }

    /// Where a connection is to go.
    enum Choice: Equatable {
        case address(Number, text: String)
        /// The name has to be looked up first.
        case unknown
    }

    /// An answer is used for so long without another look.
    static let freshTime: Milliseconds = .seconds(30)
    /// An older one is used, too, while the name is looked up again; up to this age.
    static let usableTime: Milliseconds = .minutes(5)
    /// After a look-up that failed the next one waits for so long.
    static let failurePause: Milliseconds = .seconds(1)
    /// An address that took no connection is left alone for so long, twice as long each time.
    static let skips: ClosedRange<Milliseconds> = .seconds(1)...(.seconds(30))
    /// More addresses than this are not remembered.
    static let limit = 64

    private struct Entry {
        var number: Number
        /// As a URL writes it: an IPv6 address in brackets.
        var text: String
        /// Connections made or being made.
        var count = 0
        var failures = 0
        var skippedUntil = MonotonicTime(nanoseconds: .min)
    }

    private var entries: [Entry] = []
    private var lastNumber = 0
    private var lookedUpAt: MonotonicTime?
    private var noLookUpBefore = MonotonicTime(nanoseconds: .min)
    private let isFixed: Bool
    /// The last refusal was answered with another try.
    private var isSecondTry = false

    /// A cache of a name of which nothing is known yet.
    init() {
        isFixed = false
    }

    /// A cache of one address that never changes.
    init(fixed address: String) {
        isFixed = true
        entries = [Entry(number: Number(value: 0), text: address)]
    }

    /// Whether any address is known.
    var isEmpty: Bool { entries.isEmpty }

    // MARK: Looking the name up

    /// Whether the name should be looked up now.
    func wantsLookUp(_ now: MonotonicTime) -> Bool {
        guard !isFixed, now >= noLookUpBefore else { return false }
        guard let lookedUpAt else { return true }
        return now >= lookedUpAt.advanced(by: Self.freshTime)
    }

    /// When a look-up that is not allowed yet will be.
    var nextLookUp: MonotonicTime { noLookUpBefore }

    /// Takes the name's addresses; those that it had already keep what is known of them.
    mutating func lookedUp(_ addresses: [String], now: MonotonicTime) {
        let known = entries
        entries = []
        for text in addresses.prefix(Self.limit) where !entries.contains(where: { $0.text == text }) {
            if let entry = known.first(where: { $0.text == text }) {
                entries.append(entry)
            } else {
                lastNumber += 1
                entries.append(Entry(number: Number(value: lastNumber), text: text))
            }
        }
        lookedUpAt = now
    }

    /// A look-up failed.
    ///
    /// - Parameter isGone: the name has no address any more; else that is unknown, and the former addresses stay in
    ///   use.
    mutating func lookUpFailed(isGone: Bool, now: MonotonicTime) {
        noLookUpBefore = now.advanced(by: Self.failurePause)
        if isGone || entries.isEmpty {
            entries.removeAll()
            lookedUpAt = nil
        } else {
            // As old as an answer may be that is used while the name is looked up again.
            lookedUpAt = now.advanced(by: -Self.freshTime)
        }
    }

    // MARK: Choosing

    /// The address for the next connection: of those that are not left alone the one with the fewest connections.
    ///
    /// When all are left alone it is the one whose time ends first: one call has to find out. It counts as in use until
    /// ``released(_:)``.
    ///
    /// - Parameter entropy: breaks ties, so that many caches do not all begin with the same address.
    mutating func choose(_ now: MonotonicTime, entropy: UInt64) -> Choice {
        if let lookedUpAt, now >= lookedUpAt.advanced(by: Self.usableTime) { return .unknown }
        guard !entries.isEmpty else { return .unknown }
        let start = Int(entropy % UInt64(entries.count))
        var best = start
        for step in 1..<max(1, entries.count) {
            let index = (start + step) % entries.count
            if isBetter(entries[index], than: entries[best], now) { best = index }
        }
        entries[best].count += 1
        return .address(entries[best].number, text: entries[best].text)
    }

    private func isBetter(_ left: Entry, than right: Entry, _ now: MonotonicTime) -> Bool {
        switch (left.skippedUntil > now, right.skippedUntil > now) {
        case (false, false): left.count < right.count
        case (true, true): left.skippedUntil < right.skippedUntil
        case (false, true): true
        case (true, false): false
        }
    }

    /// A connection was made to the address.
    mutating func connected(_ number: Number) {
        isSecondTry = false
        guard let index = index(of: number) else { return }
        entries[index].failures = 0
        entries[index].skippedUntil = MonotonicTime(nanoseconds: .min)
    }

    /// No connection was made to the address: it is left alone for a while.
    ///
    /// Returns whether there is another one that is not.
    mutating func failed(_ number: Number, now: MonotonicTime, entropy: UInt64) -> Bool {
        if let index = index(of: number), entries[index].skippedUntil <= now {
            let doublings = min(entries[index].failures, 10)
            let longest = min(Self.skips.lowerBound.doubled(times: doublings), Self.skips.upperBound)
            entries[index].failures += 1
            // Between half and all of it, so that lanes and workers do not come back together.
            let half = longest / 2
            let wait = half + .milliseconds(entropy % UInt64(half.count + 1))
            entries[index].skippedUntil = now.advanced(by: wait)
        }
        return entries.contains { $0.skippedUntil <= now }
    }

    /// The last address that there was to try refused the connection.
    ///
    /// The backend cannot have seen the request: true when it is sent again at once, without counting. Every second time it
    /// is false, and a call has failed: a backend that is down must not be asked in circles.
    mutating func allowsAnotherTry() -> Bool {
        isSecondTry.toggle()
        return isSecondTry
    }

    /// A connection to the address is gone, or was not made.
    mutating func released(_ number: Number) {
        guard let index = index(of: number) else { return }
        entries[index].count -= 1
    }

    /// The address as a URL writes it, as long as the name has it.
    func text(of number: Number) -> String? { index(of: number).map { entries[$0].text } }

    private func index(of number: Number) -> Int? { entries.firstIndex { $0.number == number } }
}
