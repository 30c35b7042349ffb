internal import HeraldBytes
package import HeraldEvents
internal import HeraldText
package import HeraldTime

/// All that can be said of an event before it is published: every mistake, and what is allowed and probably not meant.
package struct EventReview {
    /// Why it could not be sent, each mistake once; none for an event.
    package private(set) var mistakes: [DecodingFailure] = []
    /// What is ignored or does not do what was probably meant, a sentence each.
    package private(set) var warnings: [String] = []
    /// What of it could be read.
    package private(set) var event = DecodedEvent()

    private let isCloudEvent: Bool
    private let decoder: RecordDecoder
    /// The members of the value.
    private var outer: [JSONValue.Member] = []
    /// Those of the object in which the message stands: the value, or a CloudEvent's data.
    private var inner: [JSONValue.Member] = []

    /// What Herald would say of a record.
    ///
    /// - Parameters:
    ///   - isCloudEvent: whether the value is a structured CloudEvent; else it is a plain event.
    ///   - now: what is past, and what is far away.
    package init(of value: [UInt8], isCloudEvent: Bool, _ decoder: RecordDecoder, now: WallTime) {
        self.isCloudEvent = isCloudEvent
        self.decoder = decoder
        let first = decoder.failure(of: value, isCloudEvent: isCloudEvent, into: &event)
        mistakes = [first].compactMap(\.self)
        guard case .object(let members)? = try? JSONValue(value.span.bytes) else { return }
        outer = members
        inner = isCloudEvent ? Self.members(of: outer.last("data")) : outer
        if first != nil { findMoreMistakes() }
        // The members of another program's envelope are no fields, and are named as that.
        if ForeignValue.hint(on: value.span.bytes, from: 0) == nil { warnings = ignoredMembers }
        warnings += blankWarnings + momentWarnings(now: now)
    }

    private static func members(of value: JSONValue?) -> [JSONValue.Member] {
        if case .object(let members)? = value { members } else { [] }
    }
}

// MARK: Mistakes

extension EventReview {
    /// Asks the decoder of each field alone, beside others that are well: it says only the first mistake of an event.
    private mutating func findMoreMistakes() {
        let well: [JSONValue.Member] = [
            .init("user", "u"), .init("message", "m"), .init("pns", .string(decoder.pushServices.names[0])),
        ]
        guard isCloudEvent else {
            for probe in Self.probes(of: inner, .identity + .event, beside: well) { find(probe) }
            return
        }
        let envelope: [JSONValue.Member] = [
            .init("specversion", "1.0"), .init("id", "x"), .init("source", "x"), .init("type", "x"),
            .init("data", .object(well)),
        ]
        let hasFields = if case .object? = outer.last("data") { true } else { false }
        // An object is asked about by its own fields.
        for probe in Self.probes(
            of: outer, (.identity + .envelope).filter { !hasFields || $0.name != "data" }, beside: envelope)
        {
            find(probe)
        }
        guard hasFields else { return }
        for data in Self.probes(of: inner, .event, beside: well) { find(envelope.setting("data", to: .object(data))) }
    }

    /// For each field all that are well, with the event's own value of that one, or without a needed one that it does not have.
    private static func probes(
        of own: [JSONValue.Member], _ fields: [EventMember], beside well: [JSONValue.Member]
    ) -> [[JSONValue.Member]] {
        fields.map(\.name).flatMap { name in
            let value = own.last(name)
            guard value != nil || well.last(name) != nil else { return [[JSONValue.Member]]() }
            return ([value] + parts(of: value).prefix(longestParts)).map { well.setting(name, to: $0) }
        }
    }

    /// The most elements and members that are asked about alone.
    private static let longestParts = 100

    /// Each member of an object and each element of an array alone.
    private static func parts(of value: JSONValue?) -> [JSONValue?] {
        switch value {
        case .object(let members)? where members.count > 1: members.map { .object([$0]) }
        case .array(let elements)? where elements.count > 1: elements.map { .array([$0]) }
        default: []
        }
    }

    private mutating func find(_ probe: [JSONValue.Member]) {
        var scratch = DecodedEvent()
        let value = Array(JSONValue.object(probe).compact.utf8)
        guard let failure = decoder.failure(of: value, isCloudEvent: isCloudEvent, into: &scratch),
            !mistakes.contains(failure)
        else { return }
        mistakes.append(failure)
    }
}

extension [JSONValue.Member] {
    fileprivate func last(_ name: String) -> JSONValue? { last { $0.name == name }?.value }

    fileprivate func setting(_ name: String, to value: JSONValue?) -> Self {
        filter { $0.name != name } + (value.map { [.init(name, $0)] } ?? [])
    }
}

// MARK: Members that are ignored

/// A member that an event may have.
struct EventMember: Sendable {
    enum Place: Sendable {
        /// Beside the message in a plain event, beside the data in a CloudEvent.
        case identity
        /// Beside the message.
        case event
        case options
        /// Beside a CloudEvent's data.
        case envelope
    }

    let name: String
    let place: Place

    static let all =
        at(.identity, "id source time")
        + at(
            .event,
            "user message pns campaign class zone expiresAt notBefore options title link image data badge sound category"
        )
        + at(.options, "pushType priority collapseId") + at(.envelope, "specversion type data data_base64 traceparent")

    private static func at(_ place: Place, _ names: String) -> [Self] {
        names.split(separator: " ").map { Self(name: String($0), place: place) }
    }

    /// Whether a name is nearly this one: in other letters, with other separators, or with a slip or two.
    func isNear(_ other: String) -> Bool {
        let (own, other) = (Self.plain(name), Self.plain(other))
        if own == other { return true }
        // Short words have too many neighbours, and `type` is no slip of `time`.
        guard name.count > 4 || name == "user", other.count < 64 else { return false }
        return Suggestion.distance(Array(own), Array(other)) <= (name.count > 6 ? 2 : 1)
    }

    /// Whether other interfaces call it so, in small letters without separators.
    func isCalled(_ other: String) -> Bool {
        place != .envelope && ForeignNames.names(of: name).contains(other)
    }

    /// In small letters, without separators.
    static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
}

extension [EventMember] {
    fileprivate static let identity = EventMember.all.filter { $0.place == .identity }
    fileprivate static let event = EventMember.all.filter { $0.place == .event }
    fileprivate static let options = EventMember.all.filter { $0.place == .options }
    fileprivate static let envelope = EventMember.all.filter { $0.place == .envelope }
}

extension EventReview {
    private static let longestShown = 64

    /// Members of one place, as they are seen from another.
    private struct Elsewhere {
        var members: [EventMember]
        /// The names that stand there.
        var names: [String]
        var path = ""
        var remedy: String
    }

    /// Objects of the push services' own payloads, by their names, and where what they hold belongs.
    private static let platformObjects: [String: String] = {
        let parts = "Herald writes each push service's payload"
        return [
            "notification": "\(parts); its title, body and image are title, message and image beside user",
            "aps": "\(parts); its alert is title and message beside user, with badge, sound and category",
            "alert": "\(parts); its title and body are title and message beside user",
            "apns": "\(parts); what it shows is title, message, badge, sound and category beside user",
            "android": "\(parts); its notification is title, message, image, sound and category beside user",
            "webpush": "\(parts); its notification is title, message and image beside user",
            "payload": "\(parts) from title, message, link, image and data beside user",
        ]
    }()

    private var ignoredMembers: [String] {
        let options = Self.members(of: inner.last("options")).map(\.name)
        let (names, beside) = (inner.map(\.name), outer.map(\.name))
        let inOptions = Self.ignored(
            options, " in options", own: .options, path: "options.",
            [Elsewhere(members: .event, names: names, remedy: "it belongs beside the message")])
        let ofOptions = Elsewhere(
            members: .options, names: options, path: "options.", remedy: "it belongs into options")
        guard isCloudEvent else {
            return Self.ignored(names, "", own: .event + .identity, [ofOptions]) + inOptions
        }
        let ofData = [
            Elsewhere(members: .event, names: names, path: "data.", remedy: "it belongs into data"),
            Elsewhere(
                members: .options, names: options, path: "data.options.", remedy: "it belongs into the options in data"),
        ]
        let ofEnvelope = Elsewhere(
            members: .identity, names: beside, remedy: "what counts is the CloudEvent's own, beside data")
        return Self.ignored(beside, " beside data", own: .identity + .envelope, ofData, ignores: Self.isAttribute)
            + Self.ignored(names, " in data", own: .event, [ofOptions, ofEnvelope]) + inOptions
    }

    /// Whether CloudEvents allows the name for an attribute: others than Herald's are for other readers.
    private static func isAttribute(_ name: String) -> Bool {
        (1...20).contains(name.utf8.count)
            && name.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) }
    }

    /// - Parameters:
    ///   - place: where the names stand, as a sentence goes on.
    ///   - own: the members that belong there, and `path` where that is.
    ///   - isWell: whether a name that cannot have been meant as a member is well there.
    private static func ignored(
        _ names: [String], _ place: String, own: [EventMember], path: String = "", _ elsewhere: [Elsewhere],
        ignores isWell: (String) -> Bool = { _ in false }
    ) -> [String] {
        let here = Elsewhere(members: own, names: names, path: path, remedy: "")
        let candidates = ([here] + elsewhere).flatMap { group in
            group.members.filter { !group.names.contains($0.name) }.map { (member: $0, path: group.path + $0.name) }
        }
        var seen: Set<String> = []
        return names.compactMap { name in
            guard seen.insert(name).inserted, !own.contains(where: { $0.name == name }) else { return nil }
            if let there = elsewhere.first(where: { $0.members.contains { $0.name == name } }) {
                return "\(name)\(place) is ignored: \(there.remedy)"
            }
            let meant =
                candidates.first { $0.member.isNear(name) }
                ?? candidates.first { $0.member.isCalled(EventMember.plain(name)) }
            if let advice = Self.platformObjects[name] {
                return "\(name)\(place) is no field and is ignored: \(advice)"
            }
            if meant == nil, isWell(name) { return nil }
            let shown = name.count > longestShown ? "\(name.prefix(longestShown))…" : name
            return "\(shown)\(place) is no field and is ignored" + (meant.map { ": did you mean \($0.path)?" } ?? "")
        }
    }
}

// MARK: Texts and moments

extension EventReview {
    /// Texts of spaces and line breaks alone.
    private var blankWarnings: [String] {
        ["title", "message"].filter { name in
            guard case .string(let text)? = inner.last(name) else { return false }
            return !text.isEmpty && !text.unicodeScalars.contains { $0.value > 0x20 }
        }.map { "\($0) is blank: a phone shows nothing there" }
    }

    private static let farAhead = Milliseconds.days(366)

    private func momentWarnings(now: WallTime) -> [String] {
        func moment(_ name: String, in members: [JSONValue.Member]) -> WallTime? {
            guard case .string(let text)? = members.last(name) else { return nil }
            return RFC3339.parse(text.utf8.span.bytes)
        }
        let (expiresAt, notBefore) = (moment("expiresAt", in: inner), moment("notBefore", in: inner))
        var warnings: [String] = []
        if let expiresAt, expiresAt <= now {
            warnings.append("expiresAt (\(RFC3339.text(expiresAt))) is past: the event would expire unsent")
        } else if let expiresAt, let notBefore, notBefore >= expiresAt {
            warnings.append(
                "notBefore (\(RFC3339.text(notBefore))) is not before expiresAt (\(RFC3339.text(expiresAt))): the event "
                    + "would expire unsent")
        }
        if let notBefore, notBefore <= now {
            warnings.append("notBefore (\(RFC3339.text(notBefore))) is past: the event would be sent at once")
        }
        for (name, moment) in [("expiresAt", expiresAt), ("notBefore", notBefore)] {
            if let moment, moment > now.advanced(by: Self.farAhead) {
                warnings.append("\(name) (\(RFC3339.text(moment))) is more than a year away")
            }
        }
        if let time = moment("time", in: outer), time > now.advanced(by: .days(1)) {
            warnings.append("time (\(RFC3339.text(time))), when it happened, is more than a day away")
        }
        return warnings
    }
}
