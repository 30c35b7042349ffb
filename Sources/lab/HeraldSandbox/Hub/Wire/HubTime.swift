import HeraldTime

/// Moments as the service writes and reads them.
enum HubTime {
    /// `2026-11-21T08:40:26.123Z`.
    static func text(_ milliseconds: Int64) -> String {
        var output: [UInt8] = []
        RFC3339.append(WallTime(milliseconds: milliseconds), to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Milliseconds of Unix time of a W3C date; without a zone it is UTC.
    static func parse(_ text: String) -> Int64? {
        RFC3339.parse(Array(text.utf8).span.bytes)?.milliseconds
            ?? RFC3339.parse(Array("\(text)Z".utf8).span.bytes)?.milliseconds
    }
}
