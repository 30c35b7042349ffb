internal import Foundation

/// The body of an error answer, JSON or XML or just text, reduced to one line.
enum ErrorBody {
    /// Members and elements that say what went wrong, the most telling last.
    ///
    /// ASP.NET's, RFC 9457's, and OAuth's.
    private static let names = [
        "error", "title", "message", "messagedetail", "error_description", "detail", "exceptionmessage",
    ]

    /// The line without secrets; `nil` when the body is not text or says nothing.
    ///
    /// Secrets are taken out of the body as it came, and again of what it says: there they may have been escaped.
    static func line(_ bytes: RawSpan, hiding redaction: Redaction = Redaction(authorization: nil)) -> String? {
        guard let body = String(data: bytes.withUnsafeBytes { Data($0) }, encoding: .utf8) else { return nil }
        let text = redaction.hidingSecrets(in: body)
        guard let first = text.unicodeScalars.first(where: { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }) else {
            return nil
        }
        switch first {
        case "{", "[", "\"": return OneLine.text(redaction.hidingSecrets(in: json(Data(text.utf8)) ?? text))
        case "<": return OneLine.text(redaction.hidingSecrets(in: xml(text)))
        default: return OneLine.text(text)
        }
    }

    // MARK: JSON

    private static func json(_ data: Data) -> String? {
        (try? JSONDecoder().decode(Words.self, from: data)).flatMap { said($0, depth: 0) }
    }

    /// The texts of a body, and what they are in.
    private indirect enum Words: Decodable {
        case text(String)
        case list([Words])
        case members([String: Words])
        case other

        init(from decoder: any Decoder) throws {
            if let members = try? decoder.container(keyedBy: Name.self) {
                self = .members(
                    try members.allKeys.reduce(into: [:]) { found, key in
                        let name = key.stringValue.lowercased()
                        if names.contains(name) { found[name] = try members.decode(Words.self, forKey: key) }
                    })
            } else if var list = try? decoder.unkeyedContainer() {
                var elements: [Words] = []
                while !list.isAtEnd { elements.append(try list.decode(Words.self)) }
                self = .list(elements)
            } else {
                self = (try? decoder.singleValueContainer().decode(String.self)).map(Words.text) ?? .other
            }
        }

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
    }

    private static func said(_ words: Words, depth: Int) -> String? {
        switch words {
        case .text(let text): text
        case .other: nil
        case _ where depth > 3: nil
        case .list(let list): list.lazy.compactMap { said($0, depth: depth + 1) }.first
        case .members(let members): joined(members.compactMapValues { said($0, depth: depth + 1) })
        }
    }

    /// What the known names say, each thing once.
    private static func joined(_ found: [String: String]) -> String? {
        var parts: [String] = []
        for name in names {
            if let text = found[name], !text.isEmpty, !parts.contains(text) { parts.append(text) }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }

    // MARK: XML

    /// Not an XML parser: finds the texts of elements by their names, and else takes everything between the tags.
    private static func xml(_ text: String) -> String {
        var found: [String: String] = [:]
        var everything: [String] = []
        var name = ""
        for piece in text.split(separator: "<") {
            let tag = piece.prefix { $0 != ">" }
            name = String(tag.prefix { !$0.isWhitespace && $0 != "/" }).lowercased()
            let content = decoded(piece.dropFirst(tag.count + 1))
            if content.allSatisfy(\.isWhitespace) || name == "style" || name == "script" { continue }
            if names.contains(name), found[name] == nil { found[name] = content }
            everything.append(content)
        }
        return joined(found) ?? everything.joined(separator: " ")
    }

    private static func decoded(_ text: Substring) -> String {
        guard text.contains("&") else { return String(text) }
        var result = ""
        for (index, piece) in text.split(separator: "&", omittingEmptySubsequences: false).enumerated() {
            guard index > 0, let end = piece.firstIndex(of: ";") else {
                result += (index > 0 ? "&" : "") + piece
                continue
            }
            result += character(piece[..<end]) ?? "&\(piece[...end])"
            result += piece[piece.index(after: end)...]
        }
        return result
    }

    private static func character(_ reference: Substring) -> String? {
        switch reference {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let number =
                reference.hasPrefix("#x")
                ? UInt32(reference.dropFirst(2), radix: 16)
                : reference.hasPrefix("#") ? UInt32(reference.dropFirst()) : nil
            return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
        }
    }
}
