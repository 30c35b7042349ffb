package import HeraldTime

extension WallTime {
    /// RFC 3339 in UTC, with milliseconds.
    package var text: String {
        var bytes: [UInt8] = []
        RFC3339.append(self, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
