/// What an event is for, by which a user can opt out of it.
public enum EventClass: String, CaseIterable, Sendable, Comparable {
    /// The user waits for it, or has to know it: a code, an order's state.
    case transactional
    /// It advertises: an opt-out of `promotional` or of its source ends it.
    case promotional

    /// The stricter class is the greater one.
    public static func < (one: Self, other: Self) -> Bool { one == .transactional && other == .promotional }
}
