import HeraldText

/// The characters that a text may hold: in words, as a check and as a regular expression for the schema.
struct TextRule: Sendable {
    let allowed: String
    let pattern: String
    let accepts: @Sendable (String) -> Bool

    /// `length` characters out of ASCII letters, digits and `others`.
    static func name(_ length: ClosedRange<Int>, others: String, upperCase: Bool = true) -> Self {
        let set = Set(others.utf8)
        let escaped = others.replacing("-", with: "\\-")
        return Self(
            allowed: "\(length.lowerBound) to \(length.upperBound) of \(upperCase ? "A-Z a-z" : "a-z") 0-9 "
                + others.map(String.init).joined(separator: " "),
            pattern: "^[\(upperCase ? "A-Za-z" : "a-z")0-9\(escaped)]{\(length.lowerBound),\(length.upperBound)}$",
            accepts: { text in
                length.contains(text.utf8.count)
                    && text.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                        case UInt8(ascii: "A")...UInt8(ascii: "Z"): upperCase
                        default: set.contains(byte)
                        }
                    }
            })
    }

    /// Kafka's rule for a topic's name; `suffix` more characters must still fit.
    static func topic(leaving suffix: Int = 0) -> Self {
        let name = name(1...(249 - suffix), others: "._-")
        return Self(
            allowed: name.allowed + ", not . or ..", pattern: name.pattern,
            accepts: { name.accepts($0) && $0 != "." && $0 != ".." })
    }

    /// Any text on one line, without control characters, of 1 to `longest` characters.
    static func line(_ longest: Int) -> Self {
        Self(
            allowed: "1 to \(longest) characters without control characters",
            pattern: "^[^\\u0000-\\u001f\\u007f]{1,\(longest)}$",
            accepts: { text in
                (1...longest).contains(text.unicodeScalars.count)
                    && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            })
    }

    /// `line`, without that character.
    static func line(_ longest: Int, without refused: Character) -> Self {
        let line = line(longest)
        return Self(
            allowed: "\(line.allowed), and no \(refused)",
            pattern: "^[^\\u0000-\\u001f\\u007f\(refused)]{1,\(longest)}$",
            accepts: { line.accepts($0) && !$0.contains(refused) })
    }

    /// A request's path: `/`, followed by the characters that RFC 3986 allows.
    static var requestPath: Self {
        Self(
            allowed: "a path that starts with /, percent-encoded, without ? and #",
            pattern: "^/[A-Za-z0-9._~!$&'()*+,;=:@%/\\-]{0,1023}$",
            accepts: { text in
                let others = Set("._~!$&'()*+,;=:@%/-".utf8)
                return text.hasPrefix("/") && text.utf8.count <= 1_024
                    && text.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                        default: others.contains(byte)
                        }
                    }
            })
    }
}

extension SettingType<String> {
    static func text(_ rule: TextRule, _ placeholder: String = "TEXT") -> Self {
        text(placeholder, allowed: rule.allowed, pattern: rule.pattern) {
            rule.accepts($0) ? .value($0) : .refused("is not allowed")
        }
    }

    /// The path of a file, which need not exist yet.
    static var file: Self { text(.line(4_096), "FILE") }
}

extension SettingType<Secret> {
    /// Text that is never shown.
    static var secret: Self {
        let rule = TextRule.line(4_096)
        return text(
            "SECRET", allowed: rule.allowed, pattern: rule.pattern, isSecret: true, show: { _ in .string(Secret.mask) },
            parse: { rule.accepts($0) ? .value(Secret($0)) : .refused("is not allowed") })
    }
}
