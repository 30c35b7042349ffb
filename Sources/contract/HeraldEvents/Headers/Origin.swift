import HeraldBytes

/// The request record at the beginning of an event's way.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// The request topic.
    public let topic: String
    /// The partition of the topic.
    public let partition: Int32
    /// The offset in the partition.
    public let offset: Int64

    /// The record at this place.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// The record that `topic/partition/offset` names, or nothing when the text is not of that form.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let place = OriginPlace(bytes.span.bytes) else { return nil }
        self.init(
            topic: bytes.span.bytes.extracting(0..<place.topicByteCount).text, partition: place.partition,
            offset: place.offset)
    }

    /// The place as `topic/partition/offset`.
    public var description: String { "\(topic)/\(partition)/\(offset)" }
}

/// The place in `topic/partition/offset`, with the topic as a length, so that nothing is copied.
struct OriginPlace {
    var topicByteCount: Int
    var partition: Int32
    var offset: Int64

    /// A topic's name of 249 characters, two numbers without leading zeros, and the slashes.
    static let maximumByteCount = 249 + 10 + 19 + 2

    init?(_ text: RawSpan) {
        guard text.byteCount <= Self.maximumByteCount else { return nil }
        var slashes: (first: Int, second: Int) = (-1, -1)
        for offset in 0..<text.byteCount where text[byteAt: offset] == 0x2F {
            guard slashes.second < 0 else { return nil }
            if slashes.first < 0 { slashes.first = offset } else { slashes.second = offset }
        }
        guard slashes.second > 0, Topics.isName(text.extracting(0..<slashes.first)),
            let partition = text.extracting(slashes.first + 1..<slashes.second).decimal,
            let narrow = Int32(exactly: partition),
            let offset = text.extracting(slashes.second + 1..<text.byteCount).decimal
        else { return nil }
        topicByteCount = slashes.first
        self.partition = narrow
        self.offset = offset
    }
}
