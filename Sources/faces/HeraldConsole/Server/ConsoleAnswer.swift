internal import HeraldHTTP
package import HeraldText

/// An answer of the console.
package struct ConsoleAnswer: Sendable {
    let response: HTTPResponse

    /// A JSON value.
    package static func json(_ value: JSONValue, status: Int = 200) -> Self {
        Self(response: .json(Array(value.compact.utf8), status: status))
    }

    /// A file for download, never shown in the console's own origin.
    package static func file(_ bytes: [UInt8], type: String, name: String) -> Self {
        let safe = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
        return Self(
            response: HTTPResponse(
                status: 200,
                headers: [
                    "Content-Type": type, "Content-Disposition": "attachment; filename=\"\(safe)\"",
                    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
                ], body: bytes))
    }

    /// A reason for refusing, made safe to show.
    static func refused(_ refused: Refused) -> Self {
        json(["error": .string(SafeText.escaped(refused.description))], status: refused.status)
    }
}
