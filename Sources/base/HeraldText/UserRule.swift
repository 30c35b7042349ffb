/// Who may be a user: what stands in an event's `user`.
public enum UserRule: String, Sendable, CaseIterable {
    /// What a tag of Azure Notification Hubs can hold: 1 to 111 of `[A-Za-z0-9_@#.:-]`.
    case tag
    /// Any text of 1 to 256 bytes of UTF-8 without control characters.
    case text

    /// The most bytes that a user has.
    public var maximumByteCount: Int {
        switch self {
        // A tag's 120 characters without the nine of the backend's `username:`.
        case .tag: 111
        case .text: 256
        }
    }
}
