import HeraldBytes
import HeraldText
import HeraldTime

/// The members of a record for readers, each with its rule; a member that is there and wrong is an error.
struct RecordFields {
    private let object: JSONValue
    /// What the record is, for people.
    private let noun: String

    init(_ value: RawSpan, _ noun: String) throws(InvalidArgument) {
        self.noun = noun
        do throws(JSONError) {
            object = try JSONValue(value)
        } catch {
            throw InvalidArgument("the \(noun) \(error)")
        }
        guard case .object = object else { throw InvalidArgument("the \(noun) is not a JSON object") }
    }

    func string(_ name: String) throws(InvalidArgument) -> String? {
        guard let member = object[name] else { return nil }
        guard let text = member.string else { throw wrong(name, "a string") }
        return text
    }

    func integer(_ name: String, _ range: ClosedRange<Int>) throws(InvalidArgument) -> Int? {
        guard let member = object[name] else { return nil }
        guard let number = member.integer, range.contains(Int(number)) else {
            throw wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(number)
    }

    func time(_ name: String) throws(InvalidArgument) -> WallTime? {
        guard let member = object[name] else { return nil }
        guard let time = member.time else { throw wrong(name, "an RFC 3339 date-time") }
        return time
    }

    func named<Name>(_ name: String, _ make: (String) -> Name?) throws(InvalidArgument) -> Name? {
        guard let text = try string(name) else { return nil }
        guard let value = make(text) else { throw wrong(name, "one of the contract's names") }
        return value
    }

    func required<Name>(_ name: String, _ make: (String) -> Name?) throws(InvalidArgument) -> Name {
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

    func required(_ name: String) throws(InvalidArgument) -> String {
        guard let text = try string(name) else { throw InvalidArgument("the \(noun) has no \(name)") }
        return text
    }

    func requiredTime(_ name: String) throws(InvalidArgument) -> WallTime {
        guard let time = try time(name) else { throw InvalidArgument("the \(noun) has no \(name)") }
        return time
    }

    /// An object of whole numbers from 0.
    func counts(_ name: String) throws(InvalidArgument) -> [String: Int] {
        guard let member = object[name] else { return [:] }
        guard case .object(let members) = member else { throw wrong(name, "an object of whole numbers") }
        var counts: [String: Int] = [:]
        for member in members {
            guard let number = member.value.integer, number >= 0 else {
                throw wrong(name, "an object of whole numbers")
            }
            counts[member.name] = Int(number)
        }
        return counts
    }

    func origin() throws(InvalidArgument) -> Origin {
        guard let origin = object["origin"], let topic = origin["topic"]?.string,
            let partition = origin["partition"]?.integer, let narrow = Int32(exactly: partition), narrow >= 0,
            let offset = origin["offset"]?.integer, offset >= 0, Topics.isName(topic)
        else { throw wrong("origin", "topic, partition and offset") }
        return Origin(topic: topic, partition: narrow, offset: offset)
    }

    private func wrong(_ name: String, _ rule: String) -> InvalidArgument {
        InvalidArgument("the \(noun)'s \(name) is wrong; it has to be \(rule)")
    }
}
