/// The rule for an event's `user`.
public enum UserRule: String, Sendable, CaseIterable {
    /// A valid tag of Azure Notification Hubs: 1 to 111 of `[A-Za-z0-9_@#.:-]`.
    case tag
    /// Any text of 1 to 256 bytes of UTF-8 without control characters.
    case text

    /// The maximum length of a user in bytes.
    public var maximumByteCount: Int {
        switch self {
        // A tag's 120 characters minus the nine of the backend's `username:`.
        case .tag: 111
        case .text: 256
        }
    }
}
