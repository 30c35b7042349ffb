internal import Foundation

/// The body of an error answer, JSON or XML or just text in any common encoding, reduced to one line.
enum ErrorBody {
    /// Members and elements that say what went wrong, the most telling last.
    ///
    /// ASP.NET's, RFC 9457's, and OAuth's.
    private static let names = [
        "error", "title", "message", "messagedetail", "error_description", "detail", "errors", "exceptionmessage",
    ]
    /// The most fields of ASP.NET's `errors` that are listed.
    private static let fieldLimit = 8

    /// The line without secrets; `nil` when the body is not text or says nothing.
    ///
    /// Secrets are taken out of the body as it came, and again of what it says: there they may have been escaped.
    static func line(_ bytes: RawSpan, hiding redaction: Redaction = Redaction(authorization: nil)) -> String? {
        let data = bytes.withUnsafeBytes { Data($0) }
        if data.starts(with: [0x1F, 0x8B]) {
            return "(the body is compressed with gzip, which Herald does not ask for)"
        }
        guard let body = text(data) else { return nil }
        let text = redaction.hidingSecrets(in: String(body.unicodeScalars.drop { $0 == "\u{FEFF}" }))
        guard let first = text.unicodeScalars.first(where: { !$0.properties.isWhitespace }) else { return nil }
        switch first {
        case "{", "[", "\"": return OneLine.text(redaction.hidingSecrets(in: json(Data(text.utf8)) ?? text))
        case "<": return OneLine.text(redaction.hidingSecrets(in: xml(text)))
        default: return OneLine.text(text)
        }
    }

    /// UTF-8, UTF-16 with a mark or with a zero in each ASCII character, and Windows-1252, which holds Latin-1's text;
    /// `nil` for what has control characters.
    private static func text(_ data: Data) -> String? {
        if data.starts(with: [0xFF, 0xFE]) || data.dropFirst().first == 0 {
            return String(data: data, encoding: .utf16LittleEndian)
        }
        if data.starts(with: [0xFE, 0xFF]) || data.first == 0 { return String(data: data, encoding: .utf16BigEndian) }
        if let text = String(data: data, encoding: .utf8) { return text }
        let isText = data.allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) }
        return isText ? String(data: data, encoding: .windowsCP1252) ?? String(data: data, encoding: .isoLatin1) : nil
    }

    // MARK: JSON

    private static func json(_ data: Data) -> String? {
        (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)).flatMap { said($0, depth: 0) }
    }

    /// - Parameter isOfFields: whether these are the faults of each field of a request, which are listed by name.
    private static func said(_ value: Any, depth: Int, isOfFields: Bool = false) -> String? {
        switch value {
        case let text as String: return text
        case _ where depth > 3: return nil
        case let list as [Any]: return list.lazy.compactMap { said($0, depth: depth + 1) }.first
        case let fields as [String: Any] where isOfFields:
            return fields.sorted { $0.key < $1.key }.prefix(fieldLimit).compactMap { name, value in
                said(value, depth: depth + 1).map { "\(name): \($0)" }
            }.joined(separator: "; ")
        case let members as [String: Any]:
            var found: [String: String] = [:]
            for (name, value) in members.map({ ($0.key.lowercased(), $0.value) }) where names.contains(name) {
                found[name] = said(value, depth: depth + 1, isOfFields: name == "errors")
            }
            return joined(found)
        default: return nil
        }
    }

    /// The values of the known names, without repetition.
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
