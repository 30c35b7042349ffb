internal import FoundationEssentials
internal import HeraldHTTP
internal import HeraldText

/// A request that has passed the gate: its viewer is known, its host and origin are valid.
struct ConsoleRequest: Sendable {
    /// The decoded segments after `/api`.
    let path: [String]
    let viewer: Viewer
    var query: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// The values of each `*` in the route's pattern.
    var parameters: [String] = []

    /// A parameter of the query; `nil` when it is absent or empty.
    func text(_ name: String) -> String? {
        query.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The body as JSON.
    ///
    /// - Throws: an ``InputError`` that describes the fault.
    func decoded<Value: Decodable>(_ type: Value.Type) throws(InputError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch let error as DecodingError {
            throw InputError("the request's body is not as it has to be: \(Self.sentence(error))")
        } catch {
            throw InputError("the request's body is no JSON")
        }
    }

    private static func sentence(_ error: DecodingError) -> String {
        func place(_ path: [any CodingKey]) -> String {
            SafeText.quoted(path.map(\.stringValue).joined(separator: "."))
        }
        return switch error {
        case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(place(context.codingPath)) has the wrong type"
        default: "it is no JSON"
        }
    }
}

extension ConsoleRequest {
    private static let mostReason = 500

    /// The reason of a change as it is recorded; `nil` without one.
    static func reason(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : String($0.prefix(mostReason)) }
    }
}
