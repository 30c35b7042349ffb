/// Text that must not be seen: printing, dumping, interpolating or describing it yields `***`.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text shown in its place.
    public static let mask = "***"

    private let value: String

    /// Wraps the text.
    public init(_ value: String) { self.value = value }

    /// The text itself; only for the place that uses it.
    public func reveal() -> String { value }

    /// Whether two texts are equal; the time taken depends on their length alone.
    public static func isSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// `***`.
    public var description: String { Self.mask }

    /// `***`.
    public var debugDescription: String { Self.mask }

    /// Nothing inside.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
