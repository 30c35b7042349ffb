/// Where the bytes of an event's field are: in the record's value, where they were read, or in the event's scratch.
public struct ByteField: Equatable, Sendable {
    /// The offset of the first byte; negative when the field is absent.
    public let start: Int32
    /// The number of bytes.
    public let count: Int32
    /// Whether the bytes are in the event's scratch buffer and not in the record's value.
    public let isInScratch: Bool

    /// A field that the event does not have.
    public static let absent = ByteField(start: -1, count: 0, isInScratch: false)

    /// A field's place.
    public init(start: Int, count: Int, isInScratch: Bool) {
        self.start = Int32(truncatingIfNeeded: start)
        self.count = Int32(truncatingIfNeeded: count)
        self.isInScratch = isInScratch
    }

    /// Whether the event has the field.
    public var isPresent: Bool { start >= 0 }
}
