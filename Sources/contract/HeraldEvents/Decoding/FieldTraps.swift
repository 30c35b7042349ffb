import HeraldText

/// Names that Herald ignores where they stand, and what was probably meant.
enum FieldTraps {
    /// The names of an event's members, by where they stand.
    struct Names {
        /// Beside the message: of a plain event, or of a CloudEvent's data.
        var event: [String]
        var options: [String]
        /// Those beside a CloudEvent's data; `nil` for a plain event.
        var envelope: [String]?
    }

    private static let fields: [EventField] = [.user, .message, .pns, .campaign, .expiresAt, .notBefore, .options]
    /// Beside the data in a CloudEvent, and beside the others in a plain event.
    private static let identity: [EventField] = [.id, .source, .time]
    private static let options = ["pushType", "priority", "collapseId"]
    private static let envelope: [EventField] = [.specversion, .type, .data, .dataBase64, .traceparent]

    /// What other interfaces call a field, in small letters without separators.
    private static let synonyms: [String: String] = {
        let words: [(String, [String])] = [
            ("id", ["eventid", "messageid", "msgid", "notificationid", "uuid"]),
            ("user", ["userid", "uid", "username", "to", "recipient", "recipients", "receiver", "users"]),
            ("message", ["msg", "text", "body", "content", "alert"]),
            ("pns", ["platform", "platforms", "pushservice", "pushservices", "provider", "channel", "service"]),
            ("source", ["sender", "from"]),
            ("campaign", ["campaignid", "campaignname"]),
            (
                "expiresAt",
                ["ttl", "timetolive", "expiry", "expires", "expiration", "expiresin", "validuntil", "deadline"]
            ),
            (
                "notBefore",
                ["sendat", "sendafter", "deliverat", "deliverafter", "scheduledat", "scheduledfor", "delay"]
            ),
            ("time", ["timestamp", "createdat", "occurredat"]),
            ("pushType", ["apnspushtype"]),
            ("collapseId", ["collapsekey", "apnscollapseid"]),
        ]
        return Dictionary(uniqueKeysWithValues: words.flatMap { field, others in others.map { ($0, field) } })
    }()

    private static let longestShown = 64

    private struct Field {
        var name: String
        /// Where it belongs, for a reader who does not know the name.
        var path: String
        /// The same for a reader who does.
        var remedy = ""
        /// Whether it stands where it belongs.
        var isThere: Bool
    }

    static func warnings(of names: Names) -> [String] {
        let own = fields(fields, in: names.event, remedy: "it belongs beside the message")
        let ownOptions = options(in: names.options, remedy: "it belongs into options")
        let inOptions = warnings(of: names.options, " in options", own: ownOptions, elsewhere: own)
        guard let envelope = names.envelope else {
            let identity = fields(identity, in: names.event)
            return warnings(of: names.event, "", own: own + identity, elsewhere: ownOptions) + inOptions
        }
        let outer = fields(
            identity + Self.envelope, in: envelope, remedy: "what counts is the CloudEvent's own, beside data")
        let inner =
            fields(fields, in: names.event, prefix: "data.", remedy: "it belongs into data")
            + options(in: names.options, prefix: "data.", remedy: "it belongs into the options in data")
        return warnings(of: envelope, " beside data", own: outer, elsewhere: inner, isKnown: isAttribute)
            + warnings(of: names.event, " in data", own: own, elsewhere: ownOptions + outer.prefix(identity.count))
            + inOptions
    }

    private static func fields(
        _ fields: [EventField], in names: [String], prefix: String = "", remedy: String = ""
    ) -> [Field] {
        fields.map { field in
            let name = field.text
            return Field(name: name, path: prefix + name, remedy: remedy, isThere: names.contains(name))
        }
    }

    private static func options(in names: [String], prefix: String = "", remedy: String) -> [Field] {
        options.map { name in
            Field(name: name, path: "\(prefix)options.\(name)", remedy: remedy, isThere: names.contains(name))
        }
    }

    /// Whether CloudEvents allows the name for an attribute: others than Herald's are for other readers.
    private static func isAttribute(_ name: String) -> Bool {
        (1...20).contains(name.utf8.count)
            && name.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) }
    }

    /// - Parameters:
    ///   - place: where the names stand, as a sentence goes on.
    ///   - isKnown: whether a name that nobody can have meant as a field is well there.
    private static func warnings(
        of names: [String], _ place: String, own: [Field], elsewhere: [Field],
        isKnown: (String) -> Bool = { _ in false }
    ) -> [String] {
        let candidates = (own + elsewhere).filter { !$0.isThere }
        var seen: Set<String> = []
        return names.compactMap { name in
            guard seen.insert(name).inserted else { return nil }
            if own.contains(where: { $0.name == name }) { return nil }
            if let field = elsewhere.first(where: { $0.name == name }) {
                return "\(name)\(place) is ignored: \(field.remedy)"
            }
            let meant =
                candidates.first { NearName.isNear(name, $0.name) }
                ?? synonyms[NearName.plain(name)].flatMap { word in candidates.first { $0.name == word } }
            if meant == nil, isKnown(name) { return nil }
            let shown = name.count > longestShown ? "\(name.prefix(longestShown))…" : name
            return "\(shown)\(place) is no field and is ignored"
                + (meant.map { ": did you mean \($0.path)?" } ?? "")
        }
    }
}

/// Whether a name is nearly another: in other letters, with other separators, or with a slip or two.
enum NearName {
    static func isNear(_ name: String, _ known: String) -> Bool {
        let (own, other) = (plain(name), plain(known))
        if own == other { return true }
        // Short words have too many neighbours, and `type` is no slip of `time`.
        guard known.count > 4 || known == EventField.user.text, name.count < 64 else { return false }
        return Suggestion.distance(Array(own), Array(other)) <= (known.count > 6 ? 2 : 1)
    }

    /// In small letters, without separators.
    static func plain(_ name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}
