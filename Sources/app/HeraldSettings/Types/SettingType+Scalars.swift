import HeraldEvents
import HeraldText

extension SettingType<Int> {
    static func wholeNumber(_ range: ClosedRange<Int>) -> Self {
        let allowed = "\(range.lowerBound) to \(range.upperBound)"
        return scalar(
            SettingTraits(
                placeholder: "N", allowed: allowed,
                schema: [
                    "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
                ]),
            show: { .integer($0) },
            parse: { text in
                guard text.wholeMatch(of: /-?[0-9]+/) != nil else { return .refused("is not a whole number") }
                guard let number = Int(text), range.contains(number) else { return .refused("is out of range") }
                return .value(number)
            })
    }

    /// A number of bytes of that range, plain or with `KiB` or `MiB`.
    static func bytes(_ range: ClosedRange<Int>) -> Self {
        let allowed = "\(range.lowerBound) to \(range.upperBound) bytes, also as 64KiB or 1MiB"
        return scalar(
            SettingTraits(
                placeholder: "BYTES", allowed: allowed,
                schema: [
                    "anyOf": [
                        [
                            "type": "integer", "minimum": .integer(range.lowerBound),
                            "maximum": .integer(range.upperBound),
                        ],
                        ["type": "string", "pattern": "^[0-9]{1,10}([KM]iB)?$"],
                    ]
                ]),
            show: { .integer($0) },
            parse: { text in
                guard let found = text.wholeMatch(of: /([0-9]+)(KiB|MiB)?/) else {
                    return .refused("is not a number of bytes")
                }
                let unit = found.2 == "KiB" ? 1_024 : found.2 == "MiB" ? 1_048_576 : 1
                guard let number = Int(found.1), number <= range.upperBound, range.contains(number * unit) else {
                    return .refused("is out of range")
                }
                return .value(number * unit)
            })
    }
}

extension SettingType<Double> {
    /// A share that may be 0 or very small.
    static var ratio: Self { share("RATIO", "a share between 0 and 1, such as 0.01", 0...1, minimum: 0) }

    /// A share: more than 0, at most 1.
    static var share: Self {
        share("SHARE", "a share between 0.01 and 1, such as 0.5", 0.01...1, minimum: .number(0.01))
    }

    private static func share(
        _ placeholder: String, _ allowed: String, _ range: ClosedRange<Double>, minimum: JSONValue
    ) -> Self {
        scalar(
            SettingTraits(
                placeholder: placeholder, allowed: allowed,
                schema: ["type": "number", "minimum": minimum, "maximum": 1]),
            show: { .number($0) },
            parse: { text in
                guard text.wholeMatch(of: /[0-9.]+/) != nil, let number = Double(text) else {
                    return .refused("is not a share")
                }
                return range.contains(number) ? .value(number) : .refused("is out of range")
            })
    }
}

extension SettingType<Bool> {
    /// `true` or `false`.
    static var bool: Self {
        scalar(
            SettingTraits(
                placeholder: "BOOL", allowed: "true or false", choices: ["true", "false"],
                schema: ["type": "boolean"]),
            show: { .bool($0) },
            parse: { text in
                switch text {
                case "true": .value(true)
                case "false": .value(false)
                default: .refused("is neither true nor false")
                }
            })
    }
}

extension SettingType<Duration> {
    /// A duration within that range, in whole milliseconds.
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let bounds = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
        return scalar(
            SettingTraits(
                placeholder: "DURATION", allowed: "\(bounds.0) to \(bounds.1), written as 100ms, 10s, 5m, 24h or 1d",
                schema: JSONValue.duration),
            show: { .string(DurationText.format($0)) },
            parse: { text in
                guard let duration = DurationText.parse(text) else { return .refused("is not a duration") }
                return range.contains(duration) ? .value(duration) : .refused("is out of range")
            })
    }
}

extension SettingType<DelayName> {
    /// A duration within that range, kept as written.
    static func retryDelay(_ range: ClosedRange<Duration>) -> Self {
        let duration = SettingType<Duration>.duration(range)
        return SettingType(
            traits: duration.traits,
            decode: { node, report in
                duration.decode(node, &report).flatMap { _ in node.text(&report) }.flatMap { DelayName($0) }
            },
            show: { .string($0.description) })
    }
}

extension JSONValue {
    /// The notation of ``DurationText``.
    fileprivate static var duration: JSONValue {
        ["anyOf": [["type": "string", "pattern": "^(0|[1-9][0-9]{0,9}(ms|s|m|h|d))$"], ["const": 0]]]
    }
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable {
    static func choice(_: Value.Type) -> Self {
        let names = Value.allCases.map(\.rawValue)
        return scalar(
            SettingTraits(
                placeholder: names.joined(separator: "|"), allowed: names.joined(separator: ", "), choices: names,
                schema: ["enum": .array(names.map { .string($0) })]),
            show: { .string($0.rawValue) },
            parse: { text in
                guard let value = Value(rawValue: text) else {
                    let nearest = Suggestion.nearest(to: text, in: names)
                    return .refused("is unknown" + (nearest.map { ", did you mean \"\($0)\"?" } ?? ""))
                }
                return .value(value)
            })
    }
}
