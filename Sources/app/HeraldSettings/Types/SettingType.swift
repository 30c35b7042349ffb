import HeraldText

/// The type of a setting's values: their reading, checking, display and description.
///
/// One type serves the checks, `config show`, the documentation and the JSON Schema.
struct SettingType<Value: Sendable>: Sendable {
    /// The part that does not depend on the Swift type.
    var traits: SettingTraits
    /// Reads a node; nil when it was refused, with the reason in the report.
    var decode: @Sendable (SettingNode, inout SettingsReport) -> Value?
    /// The value as `config show` prints it: never a secret.
    var show: @Sendable (Value) -> JSONValue
}

/// The part of a type used by documentation, help and schema.
package struct SettingTraits: Sendable {
    /// The way of splitting text from the environment or a flag.
    package var shape = SettingNode.Shape.scalar
    /// The value's name in help, `DURATION`.
    package var placeholder: String
    /// The allowed values in words, for the end of an error.
    var allowed: String
    /// The only values, if they form a closed set.
    package var choices: [String] = []
    var isSecret = false
    /// The JSON Schema (draft 2020-12) of a value.
    var schema: JSONValue

    package var isSwitch: Bool { choices == ["true", "false"] }
    package var isFile: Bool { placeholder == "FILE" }
}

extension SettingType {
    /// The same type of a setting that may be absent.
    var optional: SettingType<Value?> {
        SettingType<Value?>(
            traits: traits, decode: { [decode] in decode($0, &$1).map { .some($0) } },
            show: { [show] in $0.map(show) ?? .null })
    }

    enum Parsed {
        case value(Value)
        /// The reason, phrased to follow the quoted text: `is not a whole number`.
        case refused(String)
    }

    /// A type of one scalar.
    ///
    /// `parse` supplies the reason; this adds the text (unless secret) and the allowed values.
    static func scalar(
        _ traits: SettingTraits, show: @escaping @Sendable (Value) -> JSONValue,
        parse: @escaping @Sendable (String) -> Parsed
    ) -> Self {
        Self(
            traits: traits,
            decode: { node, report in
                guard let text = node.text(&report) else { return nil }
                switch parse(text) {
                case .value(let value): return value
                case .refused(let reason):
                    let subject = traits.isSecret ? "the value" : SafeText.quoted(redactingUserInfo(text))
                    report.refuse(node, "", "\(subject) \(reason); allowed: \(traits.allowed)")
                    return nil
                }
            },
            show: show)
    }

    /// A type of one text, described to editors by a regular expression.
    static func text(
        _ placeholder: String, allowed: String, pattern: String, isSecret: Bool = false,
        show: @escaping @Sendable (Value) -> JSONValue = { .string("\($0)") },
        parse: @escaping @Sendable (String) -> Parsed
    ) -> Self {
        scalar(
            SettingTraits(
                placeholder: placeholder, allowed: allowed, isSecret: isSecret,
                schema: ["type": "string", "pattern": .string(pattern)]),
            show: show, parse: parse)
    }
}

extension SettingNode {
    /// The node's text; nil, with a mistake, when it is not a scalar.
    func text(_ report: inout SettingsReport, _ detail: String = "") -> String? {
        switch content {
        case .scalar(let text): return text
        case .nothing: report.refuse(self, detail, "has no value")
        case .list: report.refuse(self, detail, "is a list; one value is wanted")
        case .map: report.refuse(self, detail, "is a map; one value is wanted")
        }
        return nil
    }
}

/// `text` with a possible user and password of an address (`//user:password@`) masked.
func redactingUserInfo(_ text: String) -> String {
    guard let at = text.lastIndex(of: "@") else { return text }
    let before = text[..<at]
    let start = before.firstRange(of: "//")?.upperBound ?? before.startIndex
    return text[..<start] + "***" + text[at...]
}
