import HeraldBytes
import HeraldText
import HeraldTime

/// The members of a record for readers, each with its rule; a member that is there and wrong is an error.
///
/// They are not copied out of the record: counting a campaign's outcomes reads millions of results.
struct RecordFields: ~Escapable {
    private struct Member {
        var name: JSONToken
        var value: JSONToken
    }

    /// A result has sixteen.
    private static let usualCount = 20

    private let bytes: RawSpan
    private var members: [Member] = []
    /// What the record is, for people.
    private let noun: StaticString

    /// The members of the object that the bytes are.
    @_lifetime(copy bytes)
    init(_ bytes: RawSpan, _ noun: StaticString) throws(InvalidArgument) {
        self.bytes = bytes
        self.noun = noun
        members.reserveCapacity(Self.usualCount)
        do throws(JSONError) {
            var reader = JSONReader(bytes)
            try reader.enterDocumentObject()
            try readMembers(&reader)
            try reader.expectEnd()
        } catch {
            throw InvalidArgument("the \(noun) \(error)")
        }
    }

    /// Those of an object in a record.
    @_lifetime(copy bytes)
    private init(_ object: JSONToken, in bytes: RawSpan, _ noun: StaticString) throws(JSONError) {
        self.bytes = bytes
        self.noun = noun
        var reader = JSONReader(bytes, offset: object.range.lowerBound)
        try reader.enterContainer()
        try readMembers(&reader)
    }

    private mutating func readMembers(_ reader: inout JSONReader) throws(JSONError) {
        var isFirst = true
        while let name = try reader.nextKey(isFirst: &isFirst) {
            members.append(Member(name: name, value: try reader.readValue()))
        }
    }

    /// The last of several members of that name.
    private func value(_ name: StaticString) -> JSONToken? {
        for member in members.reversed() {
            let isNamedSo =
                member.name.hasEscapes
                ? member.name.text(in: bytes) == "\(name)"
                : bytes.extracting(member.name.range).hasSameBytes(as: name)
            if isNamedSo { return member.value }
        }
        return nil
    }

    /// A member's object; `nil` when it is absent or anything else.
    @_lifetime(copy self)
    private func object(_ name: StaticString) -> RecordFields? {
        guard let token = value(name), token.kind == .object else { return nil }
        return try? RecordFields(token, in: bytes, noun)
    }

    private func number(_ token: JSONToken) -> Int64? {
        token.kind == .number ? bytes.extracting(token.range).decimal : nil
    }

    private func number(_ name: StaticString) -> Int64? {
        guard let token = value(name) else { return nil }
        return number(token)
    }

    func string(_ name: StaticString) throws(InvalidArgument) -> String? {
        guard let token = value(name) else { return nil }
        guard token.kind == .string else { throw wrong(name, "a string") }
        return token.text(in: bytes)
    }

    func strings(_ name: StaticString) throws(InvalidArgument) -> [String]? {
        guard let token = value(name) else { return nil }
        guard token.kind == .array else { throw wrong(name, "an array of strings") }
        guard let elements = try? token.elements(in: bytes), elements.allSatisfy({ $0.kind == .string }) else {
            throw wrong(name, "an array of strings")
        }
        return elements.map { $0.text(in: bytes) }
    }

    func integer(_ name: StaticString, _ range: ClosedRange<Int>) throws(InvalidArgument) -> Int? {
        guard let token = value(name) else { return nil }
        guard let number = number(token), range.contains(Int(number)) else {
            throw wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(number)
    }

    func offset(_ name: StaticString) throws(InvalidArgument) -> Int64? {
        guard let token = value(name) else { return nil }
        guard let number = number(token), number >= 0 else { throw wrong(name, "a whole number from 0") }
        return Int64(number)
    }

    func time(_ name: StaticString) throws(InvalidArgument) -> WallTime? {
        guard let token = value(name) else { return nil }
        guard token.kind == .string, let time = RFC3339.parse(token.text(in: bytes).utf8.span.bytes) else {
            throw wrong(name, "an RFC 3339 date-time")
        }
        return time
    }

    func named<Name>(_ name: StaticString, _ make: (String) -> Name?) throws(InvalidArgument) -> Name? {
        guard let text = try string(name) else { return nil }
        guard let value = make(text) else { throw wrong(name, "one of the contract's names") }
        return value
    }

    func required<Name>(_ name: StaticString, _ make: (String) -> Name?) throws(InvalidArgument) -> Name {
        guard let value = try named(name, make) else { throw InvalidArgument("the \(noun) has no \(name)") }
        return value
    }

    func backendID() throws(InvalidArgument) -> String? {
        guard let text = try string("backendId") else { return nil }
        guard BackendID.isValid(text.utf8.span.bytes) else {
            throw wrong("backendId", "1 to \(BackendID.maximumCount) printable characters of ASCII without spaces")
        }
        return text
    }

    func required(_ name: StaticString) throws(InvalidArgument) -> String {
        guard let text = try string(name) else { throw InvalidArgument("the \(noun) has no \(name)") }
        return text
    }

    func requiredTime(_ name: StaticString) throws(InvalidArgument) -> WallTime {
        guard let time = try time(name) else { throw InvalidArgument("the \(noun) has no \(name)") }
        return time
    }

    /// An object of whole numbers from 0.
    func counts(_ name: StaticString) throws(InvalidArgument) -> [String: Int] {
        guard value(name) != nil else { return [:] }
        guard let object = object(name) else { throw wrong(name, "an object of whole numbers") }
        var counts: [String: Int] = [:]
        for member in object.members {
            guard let number = number(member.value) else { throw wrong(name, "an object of whole numbers") }
            counts[member.name.text(in: bytes)] = Int(number)
        }
        return counts
    }

    func origin() throws(InvalidArgument) -> Origin {
        guard let origin = object("origin"), let topicName = origin.value("topic"), topicName.kind == .string,
            let partition = origin.number("partition"), let narrow = Int32(exactly: partition),
            let offset = origin.number("offset")
        else { throw wrong("origin", "topic, partition and offset") }
        let topic = topicName.text(in: bytes)
        guard Topics.isName(topic) else { throw wrong("origin", "topic, partition and offset") }
        return Origin(topic: topic, partition: narrow, offset: offset)
    }

    private func wrong(_ name: StaticString, _ rule: String) -> InvalidArgument {
        InvalidArgument("the \(noun)'s \(name) is wrong; it has to be \(rule)")
    }
}

/// The rule for what a backend calls a message, such as a notification hub's `NH-20221214202418813-…-06`.
public enum BackendID {
    /// The most characters that one has.
    public static let maximumCount = 256

    /// Whether the bytes are 1 to 256 printable characters of ASCII without spaces.
    public static func isValid(_ bytes: RawSpan) -> Bool {
        guard (1...maximumCount).contains(bytes.byteCount) else { return false }
        for offset in 0..<bytes.byteCount where !(0x21...0x7E).contains(bytes[byteAt: offset]) { return false }
        return true
    }
}
