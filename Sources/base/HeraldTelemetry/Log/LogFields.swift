/// The value of a log line's field.
public enum LogValue: Sendable, Equatable {
    /// Text from anywhere; it is escaped when it is written.
    case string(String)
    /// A whole number.
    case int(Int)
    /// A number; what JSON cannot hold (infinity, not a number) is written as text.
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
        /// The name; `time`, `level` and `message` belong to the line itself and are written with a `_` behind them.
        public var name: String
        /// The value.
        public var value: LogValue
    }

    /// All fields.
    public private(set) var fields: [Field] = []

    /// The literal's fields; of a name that is repeated the last value counts.
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

    /// These fields and the other ones, whose values count where a name is in both.
    public func merging(_ other: Self) -> Self {
        var merged = self
        for field in other.fields { merged[field.name] = field.value }
        return merged
    }
}
