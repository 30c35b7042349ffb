internal import HeraldBytes
package import HeraldText
package import HeraldTime

/// Moments as people write them.
package enum MomentText {
    /// The moment that a text names (`2026-11-21T08:40:26Z`), or that lies so long before `now` (`2d`); `nil` when it is
    /// neither.
    package static func parse(_ text: String, now: WallTime) -> WallTime? {
        if let moment = RFC3339.parse(Array(text.utf8).span.bytes) { return moment }
        return DurationText.parse(text).map { now.advanced(by: -Milliseconds($0)) }
    }

    /// The same of a parameter that people name.
    package static func parse(_ text: String, name: String, now: WallTime) throws(InvalidArgument) -> WallTime {
        guard let moment = parse(text, now: now) else {
            throw InvalidArgument(
                "\(name): \(SafeText.quoted(text)) is neither a moment such as 2026-11-21T08:40:26Z nor a duration such as 2h"
            )
        }
        return moment
    }
}

extension WallTime {
    /// RFC 3339 in UTC, with milliseconds.
    package var text: String { RFC3339.text(self) }
}
