import FoundationEssentials
import HeraldText

extension JSONValue {
    /// Reads a document; throws a sentence for invalid JSON.
    init(document: [UInt8]) throws(InvalidArgument) {
        guard let parsed = try? JSONDecoder().decode(Parsed.self, from: Data(document)) else {
            throw InvalidArgument("the body is no JSON")
        }
        self = parsed.value
    }

    init(members: [String: JSONValue]) {
        self = .object(members.sorted { $0.key < $1.key }.map { Member($0.key, $0.value) })
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [JSONValue]? { if case .array(let values) = self { values } else { nil } }

    /// The members of an object; an explicit null counts as none.
    var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return Dictionary(members.filter { $0.value != .null }.map { ($0.name, $0.value) }) { $1 }
    }

    /// The value with each object's members in the given order, followed by the others by name.
    func ordered(by names: [String]) -> JSONValue {
        switch self {
        case .array(let values): .array(values.map { $0.ordered(by: names) })
        case .object(let members):
            .object(
                members.sorted { one, other in
                    let places = [one, other].map { names.firstIndex(of: $0.name) ?? names.count }
                    return places[0] == places[1] ? one.name < other.name : places[0] < places[1]
                }.map { Member($0.name, $0.value.ordered(by: names)) })
        case .null, .bool, .integer, .number, .string: self
        }
    }

    private struct Parsed: Decodable {
        let value: JSONValue

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value =
                if container.decodeNil() {
                    .null
                } else if let text = try? container.decode(String.self) {
                    .string(text)
                } else if let members = try? container.decode([String: Parsed].self) {
                    JSONValue(members: members.mapValues(\.value))
                } else if let values = try? container.decode([Parsed].self) {
                    .array(values.map(\.value))
                } else if let flag = try? container.decode(Bool.self) {
                    .bool(flag)
                } else if let number = try? container.decode(Int.self) {
                    .integer(number)
                } else {
                    .number(try container.decode(Double.self))
                }
        }
    }
}
