internal import HeraldTime

/// The addresses of one name: chooses the next connection's, and decides when the name is looked up again.
///
/// It knows no socket, clock or randomness: moments and random bits come in as arguments.
struct AddressCache {
    /// One address, for as long as the name has it.
    struct Number: Equatable {
        fileprivate let value: Int
    }

    enum Choice: Equatable {
        case address(Number, text: String)
        /// The name has to be looked up first.
        case unknown
    }

    /// The time for which an answer is used without another look-up.
    static let freshTime: Milliseconds = .seconds(30)
    /// The time for which an older answer is used, too, while the name is looked up again.
    static let usableTime: Milliseconds = .minutes(5)
    static let failurePause: Milliseconds = .seconds(1)
    /// The time for which an address that took no connection is avoided, doubled each time.
    static let skips: ClosedRange<Milliseconds> = .seconds(1)...(.seconds(30))
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
    /// Whether the last refusal was answered with another attempt.
    private var isSecondTry = false

    init() {
        isFixed = false
    }

    init(fixed address: String) {
        isFixed = true
        entries = [Entry(number: Number(value: 0), text: address)]
    }

    var isEmpty: Bool { entries.isEmpty }

    // MARK: Looking the name up

    func wantsLookUp(_ now: MonotonicTime) -> Bool {
        guard !isFixed, now >= noLookUpBefore else { return false }
        guard let lookedUpAt else { return true }
        return now >= lookedUpAt.advanced(by: Self.freshTime)
    }

    var nextLookUp: MonotonicTime { noLookUpBefore }

    /// Takes the name's addresses; known ones keep their state.
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

    /// Notes a failed look-up.
    ///
    /// - Parameter isGone: the name has no address any more; otherwise that is unknown, and the former addresses stay
    ///   in use.
    mutating func lookUpFailed(isGone: Bool, now: MonotonicTime) {
        noLookUpBefore = now.advanced(by: Self.failurePause)
        if isGone || entries.isEmpty {
            entries.removeAll()
            lookedUpAt = nil
        } else {
            // The greatest age of an answer that is used while the name is looked up again.
            lookedUpAt = now.advanced(by: -Self.freshTime)
        }
    }

    // MARK: Choosing

    /// The address for the next connection: the one with the fewest connections among those not avoided.
    ///
    /// When all are avoided it is the one whose time ends first: one call has to find out. It counts as in use until
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

    mutating func connected(_ number: Number) {
        isSecondTry = false
        guard let index = index(of: number) else { return }
        entries[index].failures = 0
        entries[index].skippedUntil = MonotonicTime(nanoseconds: .min)
    }

    /// Notes that no connection was made to the address, which is avoided for a while.
    ///
    /// Returns whether another one is not avoided.
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

    /// Notes that the last address left to try refused the connection.
    ///
    /// The backend cannot have seen the request: true when it is sent again at once, without counting. Every second
    /// time it is false, and a call has failed: a backend that is down must not be asked in circles.
    mutating func allowsAnotherTry() -> Bool {
        isSecondTry.toggle()
        return isSecondTry
    }

    /// Notes that a connection to the address is gone, or was not made.
    mutating func released(_ number: Number) {
        guard let index = index(of: number) else { return }
        entries[index].count -= 1
    }

    /// The address as a URL writes it, while the name has it.
    func text(of number: Number) -> String? { index(of: number).map { entries[$0].text } }

    private func index(of number: Number) -> Int? { entries.firstIndex { $0.number == number } }
}
