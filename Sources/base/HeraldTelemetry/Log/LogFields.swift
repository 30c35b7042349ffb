/// The value of a log line's field.
public enum LogValue: Sendable, Equatable {
    /// Text from any source; it is escaped when written.
    case string(String)
    /// A whole number.
    case int(Int)
    /// A number; values that JSON lacks (infinity, not a number) are written as text.
    case double(Double)
    /// Yes or no.
    case bool(Bool)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Yes or no.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// The fields of a log line in their order, each name once.
public struct LogFields: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One field.
    public struct Field: Sendable, Equatable {
        /// The name; `time`, `level` and `message` belong to the line itself and get a trailing `_`.
        public var name: String
        /// The value.
        public var value: LogValue
    }

    /// All fields.
    public private(set) var fields: [Field] = []

    /// The literal's fields; the last value of a repeated name counts.
    public init(dictionaryLiteral elements: (String, LogValue)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// The value of a field; setting `nil` removes it.
    public subscript(name: String) -> LogValue? {
        get { fields.first { $0.name == name }?.value }
        set {
            let index = fields.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append(Field(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// These fields and the others; the others' values win where a name is in both.
    public func merging(_ other: Self) -> Self {
        var merged = self
        for field in other.fields { merged[field.name] = field.value }
        return merged
    }
}
