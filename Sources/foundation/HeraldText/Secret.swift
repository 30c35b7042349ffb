/// Text that must not be seen: printing, dumping, interpolating or describing it gives `***`.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What is shown in its place.
    public static let mask = "***"

    private let value: String

    /// Wraps the text.
    public init(_ value: String) { self.value = value }

    /// The text itself; only for where it is used.
    public func reveal() -> String { value }

    /// `***`.
    public var description: String { Self.mask }

    /// `***`.
    public var debugDescription: String { Self.mask }

    /// Nothing inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
