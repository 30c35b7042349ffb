internal import HeraldHTTP
internal import HeraldKafka
internal import HeraldText
internal import HeraldTools

struct ConsoleAnswer: Sendable {
    let response: HTTPResponse

    static func json(_ value: JSONValue, status: Int = 200) -> Self {
        Self(response: .json(Array(value.compact.utf8), status: status))
    }

    /// A file for download, never shown in the console's own origin.
    static func file(_ bytes: [UInt8], type: String, name: String) -> Self {
        Self(response: HTTPResponse(status: 200, headers: attachment(type, name), body: bytes))
    }

    /// The same of a file on disk, which is never in memory as a whole.
    static func file(_ file: SpooledFile, type: String, name: String) throws -> Self {
        let body = HTTPFile(takingOver: try file.duplicate(), byteCount: file.byteCount)
        return Self(response: HTTPResponse(status: 200, headers: attachment(type, name), file: body))
    }

    private static func attachment(_ type: String, _ name: String) -> HTTPHeaderFields {
        let safe = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
        return [
            "Content-Type": type, "Content-Disposition": "attachment; filename=\"\(safe)\"",
            "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
        ]
    }

    static func refused(_ refused: Refused) -> Self {
        json(
            .present([
                .init("error", .string(SafeText.escaped(refused.description))), .init("field", .text(refused.field)),
            ]), status: refused.status)
    }
}

/// The reason for refusing a request, with its HTTP status.
struct Refused: Error, Equatable, CustomStringConvertible {
    let status: Int
    let description: String
    /// The field of the page's form that is to be mended; `nil` for none.
    let field: String?

    init(_ description: String, status: Int, field: String? = nil) {
        self.description = description
        self.status = status
        self.field = field
    }

    init(_ error: any Error) {
        self =
            switch error {
            case let refused as Refused: refused
            case let mistake as FormMistake: Refused(mistake.description, status: 400, field: mistake.field)
            case let error as InputError: Refused(error.description, status: 400)
            case let error as InvalidArgument: Refused(error.description, status: 400)
            case let failure as ToolFailure:
                Refused(failure.description, status: failure.kind == .unreachable ? 503 : 409)
            case let error as KafkaError: Refused(error.words, status: error.kind == .unreachable ? 503 : 502)
            default: Refused("\(error)", status: 500)
            }
    }
}

/// What is wrong with a field of a page's form, in the middle of a sentence that the page begins with its label.
struct FormMistake: Error, Equatable, CustomStringConvertible {
    /// The member of the request.
    let field: String
    let description: String

    init(_ field: String, _ description: String) {
        self.field = field
        self.description = description
    }
}

extension JSONValue {
    /// The value with all texts made safe to show: control characters and writing-direction marks are escaped.
    var safe: JSONValue {
        switch self {
        case .string(let text): .string(SafeText.escaped(text))
        case .array(let values): .array(values.map(\.safe))
        case .object(let members): .object(members.map { .init(SafeText.escaped($0.name), $0.value.safe) })
        case .null, .bool, .integer, .number: self
        }
    }

    /// The object with one more member, which replaces one of its name; other values stay unchanged.
    func with(_ name: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.name != name } + [.init(name, value)])
    }

    /// A list of texts, such as the words of a command line.
    static func words(_ words: [String]) -> JSONValue { .array(words.map(JSONValue.string)) }
}
