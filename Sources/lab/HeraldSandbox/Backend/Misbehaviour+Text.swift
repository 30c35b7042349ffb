package import HeraldText
import HeraldTime

extension Misbehaviour {
    package static let textForm = "name=value, comma-separated, of " + names.joined(separator: ", ")

    private static let names = [
        "path", "user", "pns", "calls", "callsPerKey", "share", "seed", "perSecond", "latency", "status", "retryAfter",
        "hold", "hang", "hangUp", "carriedOut",
    ]
    private static let standingAlone = ["hold", "hang", "hangUp", "carriedOut"]

    /// The name, if a rule can have it.
    private static func known(_ name: String) throws(InputError) -> String {
        guard names.contains(name) else {
            throw InputError(
                name.isEmpty
                    ? "a part of the rule is empty; a rule is \(textForm)" : "\(name): unknown; allowed are \(textForm)"
            )
        }
        return name
    }

    /// Reads a rule in the form of flags: `user=flaky-*,status=503,retryAfter=2,callsPerKey=2`.
    ///
    /// The names are those of the JSON form; `hold`, `hang`, `hangUp` and `carriedOut` need no value.
    package init(parsing text: String) throws(InputError) {
        self.init()
        for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard parts.count == 2 || Self.standingAlone.contains(name) else {
                throw InputError("\(try Self.known(name)) needs a value: \(name)=…")
            }
            try set(name, to: parts.count == 2 ? String(parts[1]) : "true")
        }
        try check()
    }

    /// Reads a JSON array of rules, each an object with the names of the text form.
    package static func rules(json: [UInt8]) throws(InputError) -> [Self] {
        let form = InputError(#"expected a JSON array of flat objects, such as [{"pns":"gcm","status":503,"calls":3}]"#)
        guard let values = (try? JSONValue(document: json))?.elements else { throw form }
        var rules: [Self] = []
        for value in values {
            guard case .object(let members) = value else { throw form }
            var rule = Self()
            for member in members {
                guard let text = member.value.flag else { throw form }
                try rule.set(member.name, to: text)
            }
            try rule.check()
            rules.append(rule)
        }
        return rules
    }

    static func json(_ rules: [Self]) -> JSONValue { .array(rules.map { .object($0.members) }) }

    private mutating func set(_ name: String, to value: String) throws(InputError) {
        switch name {
        case "path": path = value
        case "user": user = value
        case "pns": pns = value
        case "calls": calls = try Self.integer(name, value, 1...Int.max)
        case "callsPerKey": callsPerKey = try Self.integer(name, value, 1...Int.max)
        case "share":
            guard let number = Double(value), (0...1).contains(number) else {
                throw InputError("share: \(value) is not a number from 0 to 1")
            }
            share = number
        case "seed": seed = UInt64(try Self.integer(name, value, 0...Int.max))
        case "perSecond": perSecond = try Self.integer(name, value, 0...Int.max)
        case "latency":
            let parts = value.split(separator: "-", omittingEmptySubsequences: false)
            let ends = parts.compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, ends.count == parts.count, ends.count < 3,
                first >= 0, first <= last, last <= Self.longestLatency.count
            else {
                throw InputError(
                    "latency: \(value) is neither milliseconds, at most an hour, nor a range of them, "
                        + "such as 50-200")
            }
            latency = .milliseconds(first)...(.milliseconds(last))
        case "status": try setEffect(.respond(status: Self.integer(name, value, 200...599)))
        case "retryAfter": retryAfter = value
        case "hold": if try Self.boolean(name, value) { try setEffect(.hold) }
        case "hang": if try Self.boolean(name, value) { try setEffect(.hang) }
        case "hangUp": if try Self.boolean(name, value) { try setEffect(.hangUp) }
        case "carriedOut": isCarriedOut = try Self.boolean(name, value)
        default: _ = try Self.known(name)
        }
    }

    private static let longestLatency = Milliseconds.hours(1)

    private mutating func setEffect(_ effect: Effect) throws(InputError) {
        guard self.effect == nil else {
            throw InputError("only one of status, hold, hang and hangUp can happen")
        }
        self.effect = effect
    }

    private func check() throws(InputError) {
        guard effect != nil || latency != nil else {
            throw InputError("nothing happens: expected a latency, status, hold, hang or hangUp")
        }
        if retryAfter != nil, case .respond = effect { return }
        guard retryAfter == nil else {
            throw InputError("retryAfter: needs a status to go with")
        }
    }

    private static func integer(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws(InputError) -> Int {
        guard let number = Int(value), range.contains(number) else {
            let end = range.upperBound == Int.max ? "" : " to \(range.upperBound)"
            throw InputError("\(name): \(value) is not a whole number from \(range.lowerBound)\(end)")
        }
        return number
    }

    private static func boolean(_ name: String, _ value: String) throws(InputError) -> Bool {
        guard let boolean = Bool(value) else {
            throw InputError("\(name): \(value) is neither true nor false")
        }
        return boolean
    }

    private var members: [JSONValue.Member] {
        let range = latency.map { "\($0.lowerBound.count)-\($0.upperBound.count)" }
        let effect: JSONValue.Member? =
            switch self.effect {
            case .respond(let status): .init("status", .integer(status))
            case .hold: .init("hold", true)
            case .hang: .init("hang", true)
            case .hangUp: .init("hangUp", true)
            case nil: nil
            }
        let members: [JSONValue.Member?] = [
            path.map { .init("path", .string($0)) }, user.map { .init("user", .string($0)) },
            pns.map { .init("pns", .string($0)) }, calls.map { .init("calls", .integer($0)) },
            callsPerKey.map { .init("callsPerKey", .integer($0)) }, share.map { .init("share", .number($0)) },
            .init("seed", .integer(Int(clamping: seed))), perSecond.map { .init("perSecond", .integer($0)) },
            range.map { .init("latency", .string($0)) }, effect, retryAfter.map { .init("retryAfter", .string($0)) },
            isCarriedOut ? .init("carriedOut", true) : nil,
        ]
        return members.compactMap(\.self)
    }
}

extension JSONValue {
    /// A string, number or boolean, as the text of a flag.
    fileprivate var flag: String? {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value
        case .null, .array, .object: nil
        }
    }
}
