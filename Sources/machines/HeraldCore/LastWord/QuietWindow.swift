import HeraldEvents
public import HeraldTime

/// How quiet hours are read: the settings beside the users' own.
public struct QuietRules: Sendable {
    /// The zones that are known by name.
    public var zones = TimeZones()
    /// The number of the zone that counts where neither the user nor the event names one.
    ///
    /// Default: none, so that nothing is held for such a user.
    public var defaultZone: Int?
    /// The time over which the events that waited leave after the end of the hours, a user's always at the same moment of
    /// it, so that not all are called in the same second.
    ///
    /// Default 10 min.
    public var spread: Milliseconds = .minutes(10)

    /// The defaults, which know no zone.
    public init() {}

    /// The zone with a name; unnamed for `nil`.
    func zone(named name: String?) -> QuietWindow.Zone {
        guard let name else { return .unnamed }
        return zones.number(of: name).map { .known($0) } ?? .unknown
    }
}

/// A user's quiet hours, as the table has them.
struct QuietWindow: Hashable, Sendable {
    /// A zone, by its number.
    enum Zone: Hashable, Sendable {
        case unnamed, unknown
        case known(Int)
    }

    var zone: Zone
    /// Minutes after midnight.
    var start: Int
    var end: Int
    var days: Weekdays

    init(_ quiet: QuietHours, _ rules: QuietRules) {
        zone = rules.zone(named: quiet.zone)
        (start, end, days) = (quiet.start, quiet.end, quiet.days)
    }

    /// The end of the hours in which a moment lies, or which are over for less than `spread`; the latest one of several.
    ///
    /// A local time that comes twice, or never, is read as RFC 5545 does: ``ZoneRules/moment(day:minute:)``.
    func end(around moment: WallTime, in zone: ZoneRules, spread: Milliseconds) -> WallTime? {
        let today = zone.day(at: moment)
        var latest: WallTime?
        // Those of the day before yesterday may end right before this midnight.
        for day in today - 2...today where days.contains(Self.weekday(of: day)) {
            let end = zone.moment(day: end > start ? day : day + 1, minute: end)
            guard zone.moment(day: day, minute: start) <= moment, moment < end.advanced(by: spread) else { continue }
            latest = max(latest ?? end, end)
        }
        return latest
    }

    /// The weekday of a day, counted from 1970-01-01, a Thursday.
    private static func weekday(of day: Int64) -> Weekdays {
        Weekdays(rawValue: 1 << UInt8((day % 7 + 10) % 7))
    }
}

/// What quiet hours mean for a call.
enum QuietRuling: Equatable, Sendable {
    /// It may begin.
    case none
    /// It waits until then.
    case waits(until: WallTime)
    /// Its event expires before the hours end, which is then.
    case expires(before: WallTime)
    /// It may begin, because nobody knows the user's clock.
    case ignored(QuietIgnored)
}

extension LastWord {
    /// What a user's quiet hours mean for a promotional event.
    ///
    /// - Parameters:
    ///   - zone: The event's own, which counts where the user names none.
    ///   - shift: The user's, of ``LastWord/quietShift(of:)``.
    func ruling(
        _ window: QuietWindow, zone: QuietWindow.Zone, shift: Milliseconds, expiresAt: WallTime?, now: WallTime
    ) -> QuietRuling {
        let number: Int
        switch window.zone == .unnamed ? zone : window.zone {
        case .known(let known): number = known
        case .unknown: return .ignored(.unknownZone)
        case .unnamed:
            guard let known = rules.defaultZone else { return .ignored(.noZone) }
            number = known
        }
        guard let end = window.end(around: now, in: rules.zones[number], spread: shift) else { return .none }
        if let expiresAt, expiresAt <= end { return now < end ? .expires(before: end) : .none }
        var leaves = end.advanced(by: shift)
        // The next hours may begin before that.
        if window.end(around: leaves, in: rules.zones[number], spread: .zero) != nil { leaves = end }
        if now >= leaves { return .none }
        // One that would expire meanwhile leaves with the first.
        if let expiresAt, expiresAt <= leaves { return now < end ? .waits(until: end) : .none }
        return .waits(until: leaves)
    }
}
