import HeraldBytes
public import HeraldTime

/// A record of the caps topic, whose key is a user and whose partition is the user's home: the deliveries that count.
///
/// The last one counts, and has all of them: `{"delivered":[{"at":"…","event":"…","source":"…"}]}`. `event` is a hash of
/// source and id, the same in each process; `source` stands there only where a rule names it.
public enum CapRecord {
    /// One delivered event.
    public struct Delivery: Equatable, Sendable {
        /// When it was delivered last.
        public var at: WallTime
        /// The hash of its source and id.
        public var event: UInt64
        /// Its source, where a rule names it.
        public var source: String?

        /// A delivery.
        public init(at: WallTime, event: UInt64, source: String? = nil) {
            self.at = at
            self.event = event
            self.source = source
        }
    }

    /// Appends a record's value.
    public static func append(_ deliveries: [Delivery], to output: inout [UInt8]) {
        output.append(contentsOf: "{\"delivered\":[".utf8)
        for (index, delivery) in deliveries.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            var object = JSONObjectWriter()
            object.append("at", delivery.at, to: &output)
            object.key("event", &output)
            output.append(UInt8(ascii: "\""))
            output.append(hexadecimal: delivery.event)
            output.append(UInt8(ascii: "\""))
            if let source = delivery.source { object.append("source", source, to: &output) }
            object.end(&output)
        }
        output.append(contentsOf: "]}".utf8)
    }

    /// Reads a record's value; `nil` when it is broken.
    public static func deliveries(in value: RawSpan) -> [Delivery]? {
        do throws(JSONError) {
            var reader = JSONReader(value)
            try reader.enterDocumentObject()
            var isFirst = true
            var deliveries: [Delivery]?
            while let key = try reader.nextKey(isFirst: &isFirst) {
                let token = try reader.readValue()
                guard key.text(in: value) == "delivered" else { continue }
                guard token.kind == .array, let read = try self.deliveries(token, value) else { return nil }
                deliveries = read
            }
            try reader.expectEnd()
            return deliveries
        } catch {
            return nil
        }
    }

    private static func deliveries(_ array: JSONToken, _ value: RawSpan) throws(JSONError) -> [Delivery]? {
        var deliveries: [Delivery] = []
        var reader = JSONReader(value, offset: array.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        while let element = try reader.nextElement(isFirst: &isFirst) {
            guard element.kind == .object, let delivery = try delivery(element, value) else { return nil }
            deliveries.append(delivery)
        }
        return deliveries
    }

    private static func delivery(_ object: JSONToken, _ value: RawSpan) throws(JSONError) -> Delivery? {
        var at: WallTime?
        var event: UInt64?
        var source: String?
        var reader = JSONReader(value, offset: object.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let member = try reader.readValue()
            guard member.kind == .string else { continue }
            switch key.text(in: value) {
            case "at": at = RFC3339.parse(value.extracting(member.range))
            case "event": event = UInt64(member.text(in: value), radix: 16)
            case "source": source = member.text(in: value)
            default: break
            }
        }
        guard let at, let event else { return nil }
        return Delivery(at: at, event: event, source: source)
    }
}
