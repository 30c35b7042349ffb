internal import HeraldBytes
internal import HeraldText
package import HeraldTime
internal import HeraldTools

/// The moment at which a campaign begins, and the clock that it was named by.
package struct CampaignStart: Codable, Equatable, Sendable {
    /// Epoch milliseconds.
    package var at: Int64
    /// What that clock shows then, in seconds east of UTC: records are read where its zone may be unknown.
    package var offset: Int32
    /// The clock's zone, such as `Europe/Berlin`; absent where an offset was named.
    package var zone: String?

    package init(at moment: WallTime, offset: Int32, zone: String? = nil) {
        (at, self.offset, self.zone) = (moment.milliseconds, offset, zone)
    }

    package var moment: WallTime { WallTime(milliseconds: at) }

    /// Such as `2026-12-24 09:00 (Europe/Berlin)`, or `2026-12-24 08:00 (UTC)`.
    package var words: String {
        let text = RFC3339.text(moment.advanced(by: .seconds(offset)))
        let time = text.dropFirst(11).prefix(at % 60_000 == 0 ? 5 : 8)
        return "\(text.prefix(10)) \(time) (\(zone ?? Self.zone(offset)))"
    }

    private static func zone(_ offset: Int32) -> String {
        guard offset != 0 else { return "UTC" }
        func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = abs(offset) / 60
        return "UTC\(offset < 0 ? "-" : "+")\(digits(minutes / 60)):\(digits(minutes % 60))"
    }

    /// Whether each number means something.
    var isSound: Bool { SoundNumber.isMoment(at) && abs(Int64(offset)) <= 24 * 3_600 }
}

/// When a start of a campaign wants it to begin.
package enum StartTime: Equatable, Sendable {
    case atOnce
    case at(CampaignStart)

    /// Why a text names no moment.
    package struct Mistake: Error, Equatable {
        /// The option that is wrong: `at` or `zone`.
        package let part: String
        package let problem: String
    }

    /// Reads `now`, a moment with an offset (`2026-12-24T09:00+01:00`), or what a clock of a zone shows.
    ///
    /// - Parameters:
    ///   - zone: the zone's name; `nil` for a text that says its offset.
    ///   - zones: those that are known, asked for only when one is named.
    package init(_ text: String, zone: String?, among zones: () throws -> TimeZones) throws {
        if text == "now" {
            guard zone == nil else { throw Mistake(part: "zone", problem: "now is the same moment in every zone") }
            self = .atOnce
            return
        }
        guard let (shown, offset) = RFC3339.clock(Array(text.utf8).span.bytes) else {
            throw Mistake(
                part: "at",
                problem: "\(SafeText.quoted(text, limit: 40)) is no moment; write 2026-12-24T09:00+01:00, or "
                    + "2026-12-24T09:00 with a zone, or now")
        }
        switch (offset, zone) {
        case (let offset?, nil):
            self = .at(CampaignStart(at: shown.advanced(by: .seconds(-offset)), offset: offset))
        case (nil, let name?):
            let zones = try zones()
            guard let number = zones.number(of: name) else {
                throw Mistake(
                    part: "zone",
                    problem:
                        "\(SafeText.quoted(name, limit: 40)) is no time zone that this machine knows; write one such as "
                        + "Europe/Berlin")
            }
            let moment = zones[number].moment(showing: shown)
            self = .at(CampaignStart(at: moment, offset: zones[number].offset(at: moment), zone: name))
        case (_?, _?):
            throw Mistake(part: "zone", problem: "\(text) says its offset from UTC itself; leave the zone out")
        case (nil, nil):
            throw Mistake(
                part: "at",
                problem:
                    "\(text) is another moment in each zone; add --zone Europe/Berlin, or the offset: \(text)+01:00")
        }
    }

    /// The moment; `nil` for at once.
    package var start: CampaignStart? { if case .at(let start) = self { start } else { nil } }
}
