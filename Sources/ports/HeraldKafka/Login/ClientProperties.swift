/// The properties of a client, and its login.
public struct ClientProperties: Sendable, ExpressibleByArrayLiteral {
    /// Names and values, in the order in which they are set; the last value of a name counts.
    public private(set) var values: [(String, String)]
    /// The client's login; `nil`: as its properties say.
    public let login: BrokerLogin?
    /// The clock that notes its brokers' answers; `nil` when that is not needed.
    public let answers: AnswerClock?
    /// The patience that its queries share with those of other clients, if any.
    public let settling: SettlingPatience?

    /// Properties, the client's login, the clock of its brokers' answers, and the patience of its queries.
    public init(
        _ values: [(String, String)], login: BrokerLogin? = nil, answers: AnswerClock? = nil,
        settling: SettlingPatience? = nil
    ) {
        self.values = values
        self.login = login
        self.answers = answers
        self.settling = settling
    }

    /// Properties of a client that logs in as they say.
    public init(arrayLiteral elements: (String, String)...) {
        self.init(elements)
    }

    /// The effective value; `nil` when the property is not set.
    public subscript(name: String) -> String? { values.last { $0.0 == name }?.1 }

    /// The login mechanism, under either of the property's names; `nil` when none is chosen.
    public var saslMechanism: String? {
        values.last { $0.0 == "sasl.mechanism" || $0.0 == "sasl.mechanisms" }?.1
    }

    /// The same login, and more properties.
    public static func + (properties: Self, more: Self) -> Self {
        Self(
            properties.values + more.values, login: properties.login ?? more.login,
            answers: properties.answers ?? more.answers, settling: properties.settling ?? more.settling)
    }

    /// Adds a property.
    public mutating func append(_ name: String, _ value: String) { values.append((name, value)) }

    /// The same without the properties of these names.
    public func without(_ names: Set<String>) -> Self {
        Self(values.filter { !names.contains($0.0) }, login: login, answers: answers, settling: settling)
    }

    /// The same for clients whose answers say nothing about this process's own queries.
    package var unnoted: Self { Self(values, login: login) }
}
