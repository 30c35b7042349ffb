import HeraldText

/// The type of an option's or argument's value: the reading of its text, and its description in help and completion.
package struct ValueType<Value: Sendable>: Sendable {
    /// The part that does not depend on the Swift type.
    package private(set) var traits: ValueTraits
    package let parse: @Sendable (String) -> Value?

    /// A type; `allowed` ends the error about a text that `parse` refuses, unless `mistake` says more.
    package init(
        _ placeholder: String, allowed: String, choices: [String] = [], isFile: Bool = false,
        mistake: @escaping @Sendable (String) -> String? = { _ in nil }, parse: @escaping @Sendable (String) -> Value?
    ) {
        traits = ValueTraits(
            placeholder: placeholder, allowed: allowed, choices: choices, isFile: isFile, mistake: mistake,
            accepts: { parse($0) != nil })
        self.parse = parse
    }

    /// The same type, for which shells complete these common words; other values are allowed too.
    package func completing(_ words: [String]) -> Self {
        var copy = self
        copy.traits.completions = words
        return copy
    }
}

/// The description of a value for help, completion and the parser, without its Swift type.
package struct ValueTraits: Sendable {
    /// The value's name in help, `USER`.
    package let placeholder: String
    package let allowed: String
    /// The only values, if they form a closed set.
    package let choices: [String]
    package let isFile: Bool
    /// Whether it is several values separated by commas.
    package fileprivate(set) var isList = false
    /// The words that shells complete when there is no closed set.
    package fileprivate(set) var completions: [String] = []
    /// The mistake in a text, where more can be said than the allowed values.
    package let mistake: @Sendable (String) -> String?
    package let accepts: @Sendable (String) -> Bool
}

extension ValueType<String> {
    package static func text(_ placeholder: String) -> Self { Self(placeholder, allowed: "text") { $0 } }

    /// The path of a file, or `-`.
    package static func file(_ placeholder: String = "FILE") -> Self {
        Self(placeholder, allowed: "the path of a file", isFile: true) { $0.isEmpty ? nil : $0 }
    }
}

extension ValueType<Int> {
    package static func wholeNumber(_ range: ClosedRange<Int>, _ placeholder: String = "N") -> Self {
        Self(placeholder, allowed: "\(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueType<Duration> {
    package static func duration(_ placeholder: String = "DURATION") -> Self {
        Self(placeholder, allowed: "a duration such as 100ms, 10s, 5m or 24h") { DurationText.parse($0) }
    }
}

extension ValueType where Value == [String] {
    /// Several texts separated by commas; empty ones are refused.
    package static func commaSeparated(_ placeholder: String) -> Self {
        var type = Self(placeholder, allowed: "values separated by commas") { text in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            return parts.contains("") ? nil : parts
        }
        type.traits.isList = true
        return type
    }
}

extension ValueType where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
    package static func choice(_ type: Value.Type, _ placeholder: String? = nil) -> Self {
        let names = Value.allCases.map(\.rawValue)
        return Self(
            placeholder ?? names.joined(separator: "|"), allowed: names.joined(separator: ", "), choices: names,
            parse: { Value(rawValue: $0) })
    }
}
