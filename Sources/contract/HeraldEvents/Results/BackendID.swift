import HeraldBytes

/// The rule for what a backend calls a message, such as a notification hub's `NH-20221214202418813-…-06`.
public enum BackendID {
    /// The most characters that one has.
    public static let maximumCount = 256

    /// Whether the bytes are 1 to 256 printable characters of ASCII without spaces.
    public static func isValid(_ bytes: RawSpan) -> Bool {
        guard (1...maximumCount).contains(bytes.byteCount) else { return false }
        for offset in 0..<bytes.byteCount where !(0x21...0x7E).contains(bytes[byteAt: offset]) { return false }
        return true
    }
}
