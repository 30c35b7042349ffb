internal import HeraldText
internal import HeraldTime

/// Moments as people write them.
enum Moment {
    /// The moment that a text names (`2026-11-21T08:40:26Z`), or that lies so long ago (`2d`).
    static func parse(_ text: String, name: String, now: WallTime) throws(InvalidArgument) -> WallTime {
        if let moment = RFC3339.parse(Array(text.utf8).span.bytes) { return moment }
        guard let ago = DurationText.parse(text) else {
            throw InvalidArgument(
                "\(name): \(SafeText.quoted(text)) is neither a moment such as 2026-11-21T08:40:26Z nor a duration such as 2h"
            )
        }
        return now.advanced(byMilliseconds: -Int64(ago / .milliseconds(1)))
    }
}
