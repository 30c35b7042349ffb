import HeraldBytes

/// Reads chosen members of flat JSON objects, one object after another, without making strings: for long files of them.
package struct JSONFields: Sendable {
    /// A wanted member.
    package struct Field: Sendable {
        /// The kind of an unusable value, for people; `nil` for a text or a number.
        package var unusable: StaticString?
        /// Whether it is there.
        package var isPresent = false
        fileprivate var token = JSONToken()

        /// Whether it is there as null.
        package var isNull: Bool { token.kind == .null }
    }

    private let names: [[UInt8]]
    private var scratch: [UInt8] = []
    /// The members, in the order of the names.
    package private(set) var fields: [Field]

    /// A reader for members of these names.
    package init(names: [String]) {
        self.names = names.map { Array($0.utf8) }
        fields = Array(repeating: Field(), count: names.count)
    }

    /// Reads an object; everything in it is checked, unwanted members included.
    package mutating func read(_ object: RawSpan) throws(JSONError) {
        for index in fields.indices { fields[index] = Field() }
        var reader = JSONReader(object)
        try reader.enterDocumentObject()
        var isFirst = true
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let index = index(of: key, in: object)
            let value = try reader.readValue()
            guard let index else { continue }
            guard !fields[index].isPresent else {
                throw JSONError(problem: .repeatedName, offset: Int(key.start))
            }
            fields[index] = Field(unusable: Self.unusable(value.kind), isPresent: true, token: value)
        }
        try reader.expectEnd()
    }

    /// Appends a member's text, or its number as written.
    package mutating func append(_ index: Int, of object: RawSpan, to output: inout [UInt8]) {
        fields[index].token.append(in: object, to: &output)
    }

    private mutating func index(of key: JSONToken, in object: RawSpan) -> Int? {
        guard key.hasEscapes else {
            let bytes = object.extracting(key.range)
            for (index, name) in names.enumerated() where bytes.hasSameBytes(as: name.span.bytes) { return index }
            return nil
        }
        scratch.removeAll(keepingCapacity: true)
        JSONEscapes.append(object.extracting(key.range), to: &scratch)
        return names.firstIndex(of: scratch)
    }

    private static func unusable(_ kind: JSONToken.Kind) -> StaticString? {
        switch kind {
        case .string, .number: nil
        case .none, .null: "null"
        case .boolean: "true or false"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
