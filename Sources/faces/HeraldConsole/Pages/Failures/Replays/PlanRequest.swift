internal import HeraldEvents
internal import HeraldReplay
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// A request for a plan: the selected dead letters, and the action on them.
struct PlanRequest: Decodable, Sendable {
    enum Kind: String, Decodable, Sendable {
        case replay, resolve
    }

    struct Change: Decodable, Sendable {
        var user: String?
        var message: String?
        var pns: [String]?
        /// The parts beside the message as texts: `data` as a JSON object, `badge` as a number.
        var content: [ContentField: String] = [:]

        private struct Name: CodingKey {
            let stringValue: String
            let intValue: Int? = nil

            init(stringValue: String) { self.stringValue = stringValue }

            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Name.self)
            func value<Value: Decodable>(_ name: String, _ type: Value.Type = String.self) throws -> Value? {
                try values.decodeIfPresent(type, forKey: Name(stringValue: name))
            }
            (user, message) = (try value("user"), try value("message"))
            pns = try value("pns", [String].self)
            for field in ContentField.allCases { content[field] = try value(field.rawValue) }
        }
    }

    /// The value with which one dead letter is replayed.
    struct Edit: Decodable, Sendable {
        var place: String
        var value: String
    }

    var kind: Kind?
    var filter: LetterFilter
    var onlyPns: [String]?
    var freshKey: Bool?
    var again: Bool?
    var set: Change?
    var edit: Edit?
    var ramp: String?
    /// From 0 to 1.
    var stopIfFailures: Double?
    /// Dead letters per second.
    var rate: Double?
    /// Such as `10m`.
    var wait: String?

    func options(_ selection: Selection) throws -> ReplayOptions {
        var options = ReplayOptions()
        if let ramp = try StartForm.parse(ramp, "ramp", "sizes of batches such as 1,5,50,all", { Ramp($0) }) {
            options.ramp = ramp
        }
        if let stopIfFailures {
            guard (0...1).contains(stopIfFailures) else { throw InvalidArgument("stopIfFailures: from 0 to 1") }
            options.stopShare = stopIfFailures
        }
        if let rate {
            guard RateText.range.contains(rate) else {
                throw InvalidArgument("rate: from one an hour to a thousand million a second")
            }
            options.rate = rate
        }
        if let wait = try StartForm.parse(wait, "wait", "a duration such as 10m", DurationText.parse) {
            options.patience = wait
        }
        options.selection = selection.text
        options.isAgain = again ?? false
        return options
    }

    /// The rules that select and change the events.
    ///
    /// - Parameter services: those of the settings.
    func rules(_ base: ReplayRules, _ services: PushServices) throws -> ReplayRules {
        var rules = base
        rules.onlyPushServices = try onlyPns.map { try services.resolved($0, "onlyPns") }
        rules.hasFreshKey = freshKey ?? false
        rules.isAgain = again ?? false
        rules.correction = try correction(services)
        return rules
    }

    private func correction(_ services: PushServices) throws -> Correction? {
        guard set == nil || edit == nil else { throw InvalidArgument("set and edit do not go together") }
        if let edit { return .value(Array(edit.value.utf8), place: edit.place) }
        guard let set else { return nil }
        let change = EventChange(
            user: set.user, message: set.message, pushServices: try set.pns.map { try services.resolved($0, "pns") },
            content: set.content)
        guard !change.isEmpty else { throw InvalidArgument("set says nothing") }
        return .members(change)
    }

    func command(configuration: String?) -> [String] {
        var words = ["herald", "dlq", (kind ?? .replay).rawValue] + filter.words
        if kind != .resolve {
            if let ramp { words += ["--ramp", ramp] }
            if let share = stopIfFailures { words += ["--stop-if-failures", ShareText.text(share)] }
            if let rate { words += ["--rate", RateText.text(rate)] }
            if let wait { words += ["--wait", wait] }
            if let onlyPns { words += ["--only-pns", onlyPns.joined(separator: ",")] }
            if freshKey ?? false { words.append("--fresh-key") }
            if again ?? false { words.append("--again") }
            if let user = set?.user { words += ["--set", "user=\(user)"] }
            // Every viewer sees the command, and viewers without the right must not see a message's text.
            if set?.message != nil { words += ["--set", "message=TEXT"] }
            if let pns = set?.pns { words += ["--set", "pns=\(pns.joined(separator: ","))"] }
            let content = set?.content ?? [:]
            for field in ContentField.allCases where content[field] != nil {
                words += ["--set", "\(field.rawValue)=TEXT"]
            }
            if edit != nil { words.append("--edit") }
        }
        return words + (configuration.map { ["--config", $0] } ?? [])
    }

    /// The request as JSON, for sending again; null for a correction, whose texts not all viewers may see.
    var object: JSONValue {
        guard set == nil, edit == nil else { return .null }
        return .present([
            .init("kind", .string((kind ?? .replay).rawValue)), .init("filter", filter.object),
            .init("onlyPns", onlyPns.map { .array($0.map(JSONValue.string)) } ?? .null),
            .init("freshKey", freshKey.map(JSONValue.bool) ?? .null),
            .init("again", again.map(JSONValue.bool) ?? .null),
            .init("ramp", .text(ramp)), .init("stopIfFailures", stopIfFailures.map(JSONValue.number) ?? .null),
            .init("rate", rate.map(JSONValue.number) ?? .null), .init("wait", .text(wait)),
        ])
    }
}
