/// What the parts beside the message may be.
public enum ContentRules {
    /// The most bytes of UTF-8 that a title has.
    public static let maximumTitleBytes = 256
    /// The most bytes that a link or an image's URL has.
    public static let maximumURLBytes = 2_048
    /// The most members that `data` has.
    public static let maximumDataCount = 64
    /// The most bytes of a name in `data`.
    public static let maximumDataNameBytes = 64
    /// The most bytes of a text in `data`.
    public static let maximumDataTextBytes = 1_024
    /// The most bytes of all names and texts in `data`.
    public static let maximumDataBytes = 2_048
    /// The largest badge.
    public static let maximumBadge = 99_999
    /// The most bytes of a sound's name.
    public static let maximumSoundBytes = 64
    /// The most bytes of a category.
    public static let maximumCategoryBytes = 64
    /// The names that no member of `data` has, because a push service or Herald gives them a meaning; `gcm.` and
    /// `google.` are reserved as beginnings.
    public static let reservedDataNames =
        ["aps", "from", "message_type", "collapse_key", "message"] + ContentField.allCases.map(\.rawValue)

    /// Schemes of a link that no app has of its own.
    static let refusedSchemes: [StaticString] = ["http", "javascript", "data", "file", "vbscript", "blob"]
}
