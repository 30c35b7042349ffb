/// The time zones that are known by name, as `Europe/Berlin`.
public struct TimeZones: Sendable {
    private let numbers: [String: Int]
    private let rules: [ZoneRules]

    /// No zones: each name is unknown.
    public init() { self.init([:]) }

    /// Zones by their names.
    public init(_ zones: [String: ZoneRules]) {
        var numbers: [String: Int] = [:]
        var rules: [ZoneRules] = []
        for (name, zone) in zones {
            numbers[name] = rules.count
            rules.append(zone)
        }
        self.numbers = numbers
        self.rules = rules
    }

    /// How many there are.
    public var count: Int { rules.count }

    /// Their names, in alphabetical order.
    public var names: [String] { numbers.keys.sorted() }

    /// The number of a zone; `nil` for an unknown one.
    public func number(of name: String) -> Int? { numbers[name] }

    /// The zone with a number.
    public subscript(number: Int) -> ZoneRules { rules[number] }
}
