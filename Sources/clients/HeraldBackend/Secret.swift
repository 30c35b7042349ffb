/// A text that nobody is to see: printed, logged or reflected it is `***`.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, for the one place that sends it.
    public let value: String

    /// Wraps a text.
    public init(_ value: String) {
        self.value = value
    }

    /// Never the text.
    public var description: String { "***" }
    /// Never the text.
    public var debugDescription: String { "***" }
    /// Never the text.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
