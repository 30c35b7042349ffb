internal import HeraldCore
package import HeraldEvents
package import HeraldText
package import HeraldTime

/// What caps and quiet hours would have done to the notifications that were delivered: pure, fed with them, each user's in
/// their order.
///
/// It has no model of a backend, and of what users say. Its memory is bounded: beyond ``mostUsers`` users it goes on with a
/// part of them, found by a hash, whose notifications count for as many as they stand for.
package struct PreferenceTrial {
    /// What is tried.
    package struct Rules: Sendable {
        package var caps: [CapRule] = []
        /// The hours that each user has.
        package var quiet: QuietHours?
        /// Where an event names no zone.
        package var zone: ZoneRules

        package init(caps: [CapRule] = [], quiet: QuietHours? = nil, zone: ZoneRules) {
            (self.caps, self.quiet, self.zone) = (caps, quiet, zone)
        }
    }

    /// A notification that was delivered.
    package struct Delivery: Sendable {
        package var user: String
        package var source: String?
        package var eventClass: EventClass
        /// The event's own; `nil` when it names none that is known.
        package var zone: ZoneRules?
        /// Its request, by which the notifications of an event are known.
        package var origin: Origin
        package var at: WallTime

        package init(
            user: String, source: String?, eventClass: EventClass, zone: ZoneRules? = nil, origin: Origin, at: WallTime
        ) {
            (self.user, self.source, self.eventClass, self.zone) = (user, source, eventClass, zone)
            (self.origin, self.at) = (origin, at)
        }
    }

    /// Notifications, each push service's its own.
    package struct Counts: Equatable, Sendable {
        package var delivered = 0
        /// Those that would have waited for the end of quiet hours.
        package var held = 0
        /// Those that a cap would have ended, of those that waited too.
        package var capped = 0
    }

    /// So many users are remembered.
    package let mostUsers: Int
    /// Sources beyond these count as one.
    private static let mostSources = 1_000
    private static let otherSources = "(others)"
    /// What it knows lies in one place.
    private static let home: Int32 = 0

    /// A notification that waits for the end of quiet hours.
    private struct Held {
        var end: WallTime
        var delivery: Delivery
    }

    private let rules: Rules
    private var caps: Caps
    /// What waits, by users, what leaves first in front.
    private var held: [UInt64: [Held]] = [:]
    private var heldCount = 0
    /// Whether a user would have got less or later, of those who got something promotional.
    private var isAffected: [UInt64: Bool] = [:]
    /// One of so many users is looked at, a power of two.
    package private(set) var sample = 1
    package private(set) var total = Counts()
    package private(set) var bySource: [String: Counts] = [:]
    package private(set) var byClass: [EventClass: Counts] = [:]
    /// By the hour of the day at which they were delivered, in the zone of the rules.
    package private(set) var byHour: [Counts] = Array(repeating: Counts(), count: 24)

    package init(_ rules: Rules, mostUsers: Int = 1_000_000) {
        self.rules = rules
        self.mostUsers = mostUsers
        caps = Caps(rules: rules.caps)
        caps.assign([Self.home], now: WallTime(milliseconds: 0))
    }

    /// The users who got something promotional, and those of them who would have got less or later.
    package var users: (promotional: Int, affected: Int) {
        (isAffected.count * sample, isAffected.values.count(where: \.self) * sample)
    }

    /// Takes a user's next notification.
    package mutating func add(_ delivery: Delivery) {
        let hash = UInt64(bitPattern: Int64(delivery.user.hashValue))
        guard hash & UInt64(sample - 1) == 0 else { return }
        guard delivery.eventClass == .promotional else {
            count(Counts(delivered: sample), delivery)
            return
        }
        wake(hash, until: delivery.at)
        // What sleeps is not capped before it wakes.
        if let end = rules.quiet.flatMap({ $0.end(around: delivery.at, in: delivery.zone ?? rules.zone) }) {
            let waiting = held[hash, default: []]
            held[hash, default: []].insert(
                Held(end: end, delivery: delivery), at: waiting.firstIndex { end < $0.end } ?? waiting.count)
            heldCount += 1
        } else {
            settle(delivery, of: hash, at: delivery.at)
        }
        if isAffected.count > mostUsers || heldCount > 2 * mostUsers { halve() }
    }

    /// Lets all leave that waits, after the last notification.
    package mutating func finish() {
        for user in Array(held.keys) { wake(user, until: nil) }
    }

    /// Lets leave what waited for an end until a moment; all of it without one.
    private mutating func wake(_ user: UInt64, until moment: WallTime?) {
        while let first = held[user]?.first, moment.map({ first.end <= $0 }) ?? true {
            held[user]?.removeFirst()
            heldCount -= 1
            settle(first.delivery, of: user, at: first.end, wasHeld: true)
        }
        if held[user]?.isEmpty == true { held[user] = nil }
    }

    private mutating func settle(_ delivery: Delivery, of user: UInt64, at moment: WallTime, wasHeld: Bool = false) {
        let isCapped = isCapped(delivery, of: user, at: moment)
        isAffected[user] = isAffected[user] == true || wasHeld || isCapped
        count(Counts(delivered: sample, held: wasHeld ? sample : 0, capped: isCapped ? sample : 0), delivery)
    }

    /// Whether a cap would have ended the notification, by the workers' own rule; one that it lets through counts from now on.
    private mutating func isCapped(_ delivery: Delivery, of user: UInt64, at moment: WallTime) -> Bool {
        guard !rules.caps.isEmpty else { return false }
        let source = delivery.source.map { caps.place(of: $0.utf8.span.bytes) } ?? Caps.otherSource
        let event = UInt64(bitPattern: Int64(delivery.origin.hashValue))
        let ruling = caps.ruling(Self.home, user: user, event: event, source: source, now: moment)
        guard ruling == .none else { return true }
        caps.begin(Self.home, user: user, event: event, source: source)
        caps.end(Self.home, user: user, event: event, source: source, deliveredAt: moment)
        return false
    }

    private mutating func halve() {
        sample *= 2
        let mask = UInt64(sample - 1)
        isAffected = isAffected.filter { $0.key & mask == 0 }
        held = held.filter { $0.key & mask == 0 }
        heldCount = held.values.reduce(0) { $0 + $1.count }
        caps.keepUsers(of: Self.home) { $0 & mask == 0 }
    }

    private mutating func count(_ counts: Counts, _ delivery: Delivery) {
        total += counts
        let name = delivery.source ?? ""
        let known = bySource[name] != nil || bySource.count < Self.mostSources
        bySource[known ? name : Self.otherSources, default: Counts()] += counts
        byClass[delivery.eventClass, default: Counts()] += counts
        let seconds = delivery.at.milliseconds / 1_000 + Int64(rules.zone.offset(at: delivery.at))
        byHour[Int(((seconds % 86_400) + 86_400) % 86_400 / 3_600)] += counts
    }
}

extension PreferenceTrial.Counts {
    static func += (sum: inout Self, other: Self) {
        sum.delivered += other.delivered
        sum.held += other.held
        sum.capped += other.capped
    }
}

extension CapRule {
    /// Reads `3/24h`, with `,source=SOURCE` or `,class=promotional` behind it.
    ///
    /// - Throws: what is wrong with it.
    package init(option text: String) throws(InvalidArgument) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard let rule = CapRule(words.first ?? "") else {
            throw InvalidArgument(
                "\(SafeText.quoted(text, limit: 60)) does not begin as 3/24h: 1 to 100 notifications in 1m to 31d")
        }
        self = rule
        for word in words.dropFirst() {
            switch word.split(separator: "=", maxSplits: 1).map(String.init) {
            case let pair where pair.count == 2 && pair[0] == "source": source = pair[1] == "*" ? nil : pair[1]
            case ["class", "promotional"]: break
            default:
                throw InvalidArgument(
                    "\(SafeText.quoted(word, limit: 60)) is neither source=SOURCE nor class=promotional, the only class that "
                        + "has caps")
            }
        }
    }
}
