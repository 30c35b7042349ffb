import FoundationEssentials
import HeraldText

/// Any JSON value in installations and sends.
enum HubJSON: Codable, Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([HubJSON])
    case object([String: HubJSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let object = try? container.decode([String: HubJSON].self) {
            self = .object(object)
        } else if let array = try? container.decode([HubJSON].self) {
            self = .array(array)
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }

    /// Reads a document; throws a sentence for invalid JSON.
    static func parse(_ document: [UInt8]) throws(InvalidArgument) -> Self {
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(document)) else {
            throw InvalidArgument("the body is no JSON")
        }
        return value
    }

    /// The member of an object; `nil` also for an explicit null.
    subscript(_ name: String) -> HubJSON? {
        guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
        return value
    }

    /// The value with each object's members in the given order, followed by the others by name.
    func ordered(by names: [String]) -> JSONValue {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .number(let number): Int(exactly: number).map { .integer($0) } ?? .number(number)
        case .string(let text): .string(text)
        case .array(let values): .array(values.map { $0.ordered(by: names) })
        case .object(let members):
            .object(
                members.sorted { one, other in
                    let places = [one, other].map { names.firstIndex(of: $0.key) ?? names.count }
                    return places[0] == places[1] ? one.key < other.key : places[0] < places[1]
                }.map { .init($0.key, $0.value.ordered(by: names)) })
        }
    }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [HubJSON]? { if case .array(let values) = self { values } else { nil } }
    var members: [String: HubJSON]? { if case .object(let members) = self { members } else { nil } }
}
