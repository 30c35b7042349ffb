import HeraldCore
import HeraldEvents
import HeraldTime

/// The zones of a run, and a judge of quiet hours that looks at a clock's hands instead of at the ends of windows.
enum QuietClock {
    static let spread = Milliseconds.seconds(30)
    /// The longest quiet hours.
    static let longest: Int64 = 5

    /// Minutes east of UTC, by name.
    ///
    /// A run begins at 22:13:20 UTC, in `Sim/Midnight` just before the day's end.
    private static let offsets = ["Sim/East": 330, "Sim/Midnight": 104]
    private static let defaultZone = "Sim/Midnight"
    /// A zone that no worker knows.
    static let unknown = "Sim/Nowhere"
    /// What a preference or an event names.
    static let names: [String?] = ["Sim/East", "Sim/Midnight", unknown, nil]

    static let rules: QuietRules = {
        var rules = QuietRules()
        rules.zones = TimeZones(offsets.mapValues { ZoneRules(offset: Int32($0) * 60) })
        rules.defaultZone = rules.zones.number(of: defaultZone)
        rules.spread = spread
        return rules
    }()

    /// Quiet hours of some minutes around now, of a clock somewhere.
    static func any(_ chance: inout Chance, now: Int64) -> QuietHours {
        let offset = chance.pick(offsets.values.sorted())
        let start = (now / 60_000 + Int64(offset) - 2 + Int64(chance.below(5))) % 1_440
        let end = (start + 1 + Int64(chance.below(Int(longest)))) % 1_440
        let days = chance.pick([Weekdays.all, .all, Weekdays(rawValue: 0b10), Weekdays(rawValue: 0b100)])
        return QuietHours(
            zone: chance.pick(names), start: Int(start), end: end == 0 ? 1_440 : Int(end), days: days)
    }

    /// The zone's minutes east of UTC; `nil` for one that nobody knows.
    private static func offset(_ quiet: QuietHours, _ zone: String?) -> Int? {
        offsets[quiet.zone ?? zone ?? defaultZone]
    }

    static func isIgnored(_ quiet: QuietHours, zone: String?) -> Bool { offset(quiet, zone) == nil }

    /// Whether a moment is in quiet hours, for an event with this zone.
    static func isQuiet(_ quiet: QuietHours, zone: String?, at moment: Int64) -> Bool {
        guard let offset = offset(quiet, zone) else { return false }
        let minutes = moment / 60_000 + Int64(offset)
        let (day, minute) = (minutes / 1_440, Int(minutes % 1_440))
        func begins(on day: Int64) -> Bool { quiet.days.rawValue & 1 << UInt8((day + 3) % 7) != 0 }
        if quiet.start < quiet.end { return begins(on: day) && minute >= quiet.start && minute < quiet.end }
        return minute >= quiet.start && begins(on: day) || minute < quiet.end && begins(on: day - 1)
    }

    /// Whether they may hold an event until this moment: it is their end, or the spread's time after it at most.
    static func mayHold(_ quiet: QuietHours, zone: String?, until due: Int64) -> Bool {
        isQuiet(quiet, zone: zone, at: due - 1) || isQuiet(quiet, zone: zone, at: due - spread.count)
    }
}

extension Simulation {
    /// Only promotional events are held for quiet hours, and only until the end of some that their user has named.
    func checkHeldForQuietHours(_ duty: Duty, until due: Int64, _ text: String) {
        let isMeant =
            duty.subject.isPromotional
            && lastWords.quiets[duty.user, default: []].contains {
                QuietClock.mayHold($0, zone: duty.subject.zone, until: due)
            }
        if !isMeant { checkers.fail("\(text) was held for quiet hours until \(due), and nobody said so") }
    }

    /// A result says that quiet hours were ignored only of such.
    func checkQuietIgnored(_ duty: Duty, _ text: String) {
        let isMeant =
            duty.subject.isPromotional
            && lastWords.quiets[duty.user, default: []].contains { QuietClock.isIgnored($0, zone: duty.subject.zone) }
        if !isMeant { checkers.fail("a result of \(text) says that quiet hours were ignored, and none were") }
    }
}
