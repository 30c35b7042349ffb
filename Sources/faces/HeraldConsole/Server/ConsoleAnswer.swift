internal import HeraldHTTP
internal import HeraldText

struct ConsoleAnswer: Sendable {
    let response: HTTPResponse

    static func json(_ value: JSONValue, status: Int = 200) -> Self {
        Self(response: .json(Array(value.compact.utf8), status: status))
    }

    /// A file for download, never shown in the console's own origin.
    static func file(_ bytes: [UInt8], type: String, name: String) -> Self {
        let safe = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
        return Self(
            response: HTTPResponse(
                status: 200,
                headers: [
                    "Content-Type": type, "Content-Disposition": "attachment; filename=\"\(safe)\"",
                    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
                ], body: bytes))
    }

    static func refused(_ refused: Refused) -> Self {
        json(["error": .string(SafeText.escaped(refused.description))], status: refused.status)
    }
}
