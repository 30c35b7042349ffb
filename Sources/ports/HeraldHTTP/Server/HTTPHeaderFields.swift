/// The header fields of one message in their order; names are compared without regard to ASCII case.
public struct HTTPHeaderFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One header field.
    public struct Field: Sendable, Equatable {
        /// The name as it was sent.
        public var name: String
        /// The value without surrounding white space.
        public var value: String
    }

    /// All fields in the order of the message.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}

    /// The fields of the literal, in its order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Adds a field behind the others; one of the same name stays.
    public mutating func append(name: String, value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The value of the first field of this name, `nil` when there is none.
    public subscript(name: String) -> String? {
        fields.first { Self.isSame($0.name, name) }?.value
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}
