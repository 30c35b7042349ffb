package import HeraldTime

extension WallTime {
    /// RFC 3339 in UTC, with milliseconds.
    package var text: String { RFC3339.text(self) }
}
