import HeraldText

/// The texts that a setting takes: in words, and as the regular expression that checks them and stands in the schema.
struct TextRule: Sendable {
    let allowed: String
    let pattern: String

    func accepts(_ text: String) -> Bool {
        guard let regex = try? Regex(pattern) else { preconditionFailure("not a regular expression: \(pattern)") }
        return text.wholeMatch(of: regex.matchingSemantics(.unicodeScalar)) != nil
    }

    /// `length` characters out of ASCII letters, digits and `others`.
    static func name(_ length: ClosedRange<Int>, others: String, upperCase: Bool = true) -> Self {
        Self(
            allowed: "\(length.lowerBound) to \(length.upperBound) of \(upperCase ? "A-Z a-z" : "a-z") 0-9 "
                + others.map(String.init).joined(separator: " "),
            pattern: "^[\(upperCase ? "A-Za-z" : "a-z")0-9\(others.replacing("-", with: "\\-"))]"
                + "{\(length.lowerBound),\(length.upperBound)}$")
    }

    /// Kafka's rule for a topic's name; `suffix` more characters must still fit.
    static func topic(leaving suffix: Int = 0) -> Self {
        let name = name(1...(249 - suffix), others: "._-")
        return Self(allowed: name.allowed + ", not . or ..", pattern: "^(?!\\.{1,2}$)" + name.pattern.dropFirst())
    }

    /// Any text on one line, without control characters and these, of 1 to `longest` characters.
    static func line(_ longest: Int, without refused: String = "") -> Self {
        Self(
            allowed: "1 to \(longest) characters without control characters"
                + (refused.isEmpty ? "" : ", and no \(refused)"),
            pattern: "^[^\\u0000-\\u001f\\u007f\(refused)]{1,\(longest)}$")
    }

    /// A request's path: `/`, followed by the characters that RFC 3986 allows.
    static var requestPath: Self {
        Self(
            allowed: "a path that starts with /, percent-encoded, without ? and #",
            pattern: "^/[A-Za-z0-9._~!$&'()*+,;=:@%/\\-]{0,1023}$")
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
