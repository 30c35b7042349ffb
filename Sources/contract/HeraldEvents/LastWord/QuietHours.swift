package import HeraldText
package import HeraldTime

/// The hours in which a user does not want to be disturbed: promotional events wait for their end.
///
/// They begin at ``start`` and end right before the minute ``end``, on the clock of the user's zone; an end that is not
/// later than the start is the next day's.
public struct QuietHours: Hashable, Sendable {
    /// The name of the user's time zone, as `Europe/Berlin`; `nil` leaves it to the event's `zone`, then to
    /// `preferences.defaultZone`.
    public var zone: String?
    /// Minutes after midnight, 0 to 1439.
    public var start: Int
    /// Minutes after midnight, 1 to 1440, another one than ``start``.
    public var end: Int
    /// The days on which they begin.
    public var days: Weekdays

    /// Quiet hours on each day, unless others are named.
    public init(zone: String? = nil, start: Int, end: Int, days: Weekdays = .all) {
        self.zone = zone
        self.start = start
        self.end = end
        self.days = days
    }

    /// The longest name of a zone that a preference or an event may have, in bytes; the tz database's longest has 32.
    public static let longestZone = 64
}

/// Days of the week.
public struct Weekdays: OptionSet, Hashable, Sendable {
    /// One bit for each day, Monday's the lowest.
    public let rawValue: UInt8

    /// The days with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The words for them, from Monday to Sunday.
    public static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    /// All seven.
    public static let all = Self(rawValue: 0x7F)

    /// The day with this word; `nil` for another word.
    public init?(named name: String) {
        guard let place = Self.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: 1 << UInt8(place))
    }

    /// The words for the days that it has, from Monday on.
    public var names: [String] {
        Self.names.enumerated().filter { rawValue & 1 << UInt8($0.offset) != 0 }.map(\.element)
    }
}

/// Why quiet hours held nothing: the result says it.
public enum QuietIgnored: String, CaseIterable, Sendable {
    /// Neither the user's preference, nor the event, nor the settings name a zone.
    case noZone = "no-zone"
    /// The worker does not know the zone that the preference or the event names.
    case unknownZone = "unknown-zone"
}

// MARK: - As preferences have them

extension QuietHours {
    /// The value of `quiet`.
    package var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let zone { members.append(.init("zone", .string(zone))) }
        members.append(.init("start", .string(Self.text(ofMinute: start))))
        members.append(.init("end", .string(Self.text(ofMinute: end))))
        if days != .all { members.append(.init("days", .array(days.names.map { .string($0) }))) }
        return .object(members)
    }

    /// As people write it: `22:00-07:00 Europe/Berlin mon,tue`.
    public var text: String {
        (["\(Self.text(ofMinute: start))-\(Self.text(ofMinute: end))"] + (zone.map { [$0] } ?? [])
            + (days == .all ? [] : [days.names.joined(separator: ",")])).joined(separator: " ")
    }

    /// Reads them as people write them: the hours, then a zone and days, if there are any, in either order.
    ///
    /// - Throws: what is wrong with them.
    package init(text: String) throws(InvalidArgument) {
        let words = text.split(separator: " ").map(String.init)
        let times = (words.first ?? "").split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard times.count == 2, let start = Self.minute(times[0]), let end = Self.minute(times[1]) else {
            throw InvalidArgument("\(SafeText.quoted(text, limit: 60)) does not begin with hours such as 22:00-07:00")
        }
        self.init(start: start, end: end)
        for word in words.dropFirst() {
            let names = word.split(separator: ",").map(String.init)
            if names.allSatisfy({ Weekdays(named: $0) != nil }) {
                guard days == .all else {
                    throw InvalidArgument("\(SafeText.quoted(text, limit: 60)) names days twice")
                }
                days = Weekdays(names.compactMap { Weekdays(named: $0) })
            } else {
                guard zone == nil, word.utf8.count <= Self.longestZone else {
                    throw InvalidArgument(
                        "\(SafeText.quoted(word, limit: 60)) is neither a zone such as Europe/Berlin nor days such as sat,sun"
                    )
                }
                zone = word
            }
        }
        if let problem { throw InvalidArgument("\(SafeText.quoted(text, limit: 60)) has hours that \(problem)") }
    }

    /// A time of the day, as `07:00`.
    package static func text(ofMinute minute: Int) -> String {
        func digits(_ number: Int) -> String { "\(number / 10)\(number % 10)" }
        return "\(digits(minute / 60)):\(digits(minute % 60))"
    }

    /// The minute of a time from `00:00` to `24:00`; `nil` for anything else.
    package static func minute(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
        let digits = [0, 1, 3, 4].map { Int(bytes[$0]) - 0x30 }
        guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        return minute < 60 && hour * 60 + minute <= 1_440 ? hour * 60 + minute : nil
    }

    /// What is wrong with the zone, among those that are known; `nil` for a known one, and without one.
    package func zoneProblem(among zones: TimeZones) -> String? {
        guard let zone, zones.number(of: zone) == nil else { return nil }
        return "\(SafeText.quoted(zone, limit: 60)) is no time zone that this machine knows; names are as Europe/Berlin"
    }

    /// What is wrong with them, as a continuation of "quiet hours that"; `nil` for sound ones.
    package var problem: String? {
        if start == 1_440 { return "begin at 24:00, which is the next day's 00:00" }
        if start == end { return "end when they begin; the whole day is 00:00 to 24:00" }
        if end == 0 { return "end at 00:00; the day's end is 24:00" }
        return start == 0 && end == 1_440 && days == .all
            ? "never end; who wants nothing promotional opts out of promotional" : nil
    }
}
