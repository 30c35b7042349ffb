import HeraldHub
import HeraldText

/// An installation: a device with its native registration and one for each of its templates.
///
/// It is kept as the received document, without its nulls, so that unknown members come back too.
struct HubInstallation: Sendable {
    let id: String
    private(set) var document: [String: JSONValue]
    /// The registrations that sends search.
    private(set) var registrations: [HubRegistration] = []
    /// The time before which reads do not find it; milliseconds of Unix time.
    var visibleAt: Int64 = 0

    private static let readOnly = ["pushChannelExpired", "lastUpdate", "lastActiveOn"]
    /// The expiry of an installation that never expires, in the form of installations.
    private static let never = "9999-12-31T23:59:59.9999999Z"
    /// The members of a document and its templates, in the service's order.
    private static let order = [
        "body", "headers", "expiry", "installationId", "pushChannel", "pushChannelExpired", "platform",
        "expirationTime", "tags", "pushVariables", "templates", "userId",
    ]

    /// Reads the document of a PUT; throws a description of its fault.
    init(id: String, _ document: JSONValue) throws(InvalidArgument) {
        guard let members = document.members else { throw InvalidArgument("the body is no JSON object") }
        self.id = id
        self.document = members.filter { !Self.readOnly.contains($0.key) }
        if let given = self.document["installationId"], given.text != id {
            throw InvalidArgument("installationId is not that of the address")
        }
        self.document["installationId"] = .string(id)
        self.document["pushChannelExpired"] = .bool(false)
        tagTemplates()
        registrations = try derived()
    }

    /// Applies the changes of a PATCH: a list of `{"op":…,"path":…,"value":…}`.
    func applying(_ changes: JSONValue) throws(InvalidArgument) -> Self {
        guard let changes = changes.elements, !changes.isEmpty else {
            throw InvalidArgument("the body is no list of changes")
        }
        var changed = self
        for change in changes { try changed.apply(change) }
        changed.document["pushChannelExpired"] = .bool(false)
        changed.tagTemplates()
        changed.registrations = try changed.derived()
        return changed
    }

    /// Notes that the push service no longer knows the channel.
    mutating func expirePushChannel() {
        document["pushChannelExpired"] = .bool(true)
        registrations = []
    }

    /// The document as JSON, with its members in the service's order; unknown members follow by name.
    var json: String {
        var document = document
        if document["expirationTime"] == nil { document["expirationTime"] = .string(Self.never) }
        return JSONValue(members: document).ordered(by: Self.order).compact
    }

    // MARK: Changes

    private mutating func apply(_ change: JSONValue) throws(InvalidArgument) {
        let change = change.members ?? [:]
        guard let operation = change["op"]?.text?.lowercased(), ["add", "replace", "remove"].contains(operation),
            let path = change["path"]?.text, path.hasPrefix("/")
        else { throw InvalidArgument("a change needs an op of add, replace, remove and a path") }
        let value = operation == "remove" ? nil : change["value"]
        if operation != "remove", value == nil { throw InvalidArgument("the change of \(path) has no value") }
        let names = path.dropFirst().split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            .map { $0.replacing("~1", with: "/").replacing("~0", with: "~") }
        switch (names[0], names.count) {
        case ("tags", 1), ("tags", 2): try changeTags(names.dropFirst().first.map { String($0) }, value, operation)
        case ("pushChannel", 1), ("userId", 1), ("expirationTime", 1), ("pushVariables", 1), ("templates", 1):
            document[String(names[0])] = value
        case ("templates", _), ("pushVariables", _): try changeMember(names.map { String($0) }, value)
        default: throw InvalidArgument("the path cannot be changed: \(path)")
        }
    }

    private mutating func changeTags(
        _ name: String?, _ value: JSONValue?, _ operation: String
    ) throws(InvalidArgument) {
        var tags = document["tags"]?.elements ?? []
        switch (name, value) {
        case (let name?, nil): tags.removeAll { $0.text == name }
        case (nil, nil): tags = []
        case (_, .array(let all)?): tags = operation == "replace" ? all : tags + all
        case (_, .string?): if let value, !tags.contains(value) { tags.append(value) }
        case (_, .some): throw InvalidArgument("a tag is no text")
        }
        document["tags"] = .array(tags)
    }

    private mutating func changeMember(_ names: [String], _ value: JSONValue?) throws(InvalidArgument) {
        var members = document[names[0]]?.members ?? [:]
        // The SDKs send a template as an object or as text that contains one.
        var value = value
        if names.count == 2, names[0] == "templates", let text = value?.text {
            value = try JSONValue(document: Array(text.utf8))
        }
        if names.count == 2 {
            members[names[1]] = value
        } else {
            guard var inner = members[names[1]]?.members else {
                throw InvalidArgument("there is no template \(names[1])")
            }
            inner[names[2]] = value
            members[names[1]] = JSONValue(members: inner)
        }
        document[names[0]] = JSONValue(members: members)
    }

    // MARK: Registrations

    /// A template without tags gets its name as one, with any characters, as the service does.
    private mutating func tagTemplates() {
        guard var templates = document["templates"]?.members else { return }
        for (name, template) in templates {
            guard var members = template.members, members["tags"] == nil else { continue }
            members["tags"] = .array([.string(name)])
            templates[name] = JSONValue(members: members)
        }
        document["templates"] = JSONValue(members: templates)
    }

    private func derived() throws(InvalidArgument) -> [HubRegistration] {
        guard let name = document["platform"]?.text, let platform = HubPlatform(installation: name) else {
            throw InvalidArgument("platform: one of \(HubPlatform.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        var native = HubRegistration(
            platform: platform, handle: "", tags: try HubTags.checked(Self.texts(document["tags"], "tags")))
        try Self.read(document["pushChannel"], of: platform, into: &native)
        if let text = document["expirationTime"]?.text {
            guard let moment = HubTime.parse(text) else { throw InvalidArgument("expirationTime is no date: \(text)") }
            native.expiresAt = moment
        }
        native.installation = id
        let system = ["$InstallationId:{\(id)}"] + (document["userId"]?.text.map { ["$UserId:{\($0)}"] } ?? [])
        var all = [native]
        for (name, template) in (document["templates"]?.members ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let body = template["body"]?.text else { throw InvalidArgument("the template \(name) has no body") }
            var registration = native
            let tags = try Self.texts(template["tags"], "tags")
            registration.tags =
                try HubTags.checked(native.tags + tags.filter { $0 != name }) + tags.filter { $0 == name }
            let headers = (template["headers"]?.members ?? [:]).sorted { $0.key < $1.key }
            registration.template = .init(
                name: name, body: body, headers: headers.map { HubHeader(name: $0.key, value: $0.value.text ?? "") })
            all.append(registration)
        }
        return all.map { registration in
            var registration = registration
            registration.tags = system + registration.tags
            return registration
        }
    }

    /// A channel is text; a browser's is an object, or text that contains one.
    private static func read(
        _ channel: JSONValue?, of platform: HubPlatform, into registration: inout HubRegistration
    ) throws(InvalidArgument) {
        guard platform == .browser else {
            guard let handle = channel?.text, !handle.isEmpty else { throw InvalidArgument("pushChannel is missing") }
            registration.handle = try HubRegistration.normalised(handle, of: platform)
            return
        }
        var channel = channel
        if let text = channel?.text { channel = try JSONValue(document: Array(text.utf8)) }
        guard let endpoint = channel?["endpoint"]?.text, let key = channel?["p256dh"]?.text,
            let secret = channel?["auth"]?.text
        else { throw InvalidArgument("the pushChannel of a browser needs endpoint, p256dh and auth") }
        registration.handle = endpoint
        registration.handleDetails = ["P256DH": key, "Auth": secret]
    }

    private static func texts(_ value: JSONValue?, _ name: String) throws(InvalidArgument) -> [String] {
        guard let value, value != .null else { return [] }
        let texts = value.elements?.compactMap(\.text)
        guard let texts, texts.count == value.elements?.count else {
            throw InvalidArgument("\(name) is no list of texts")
        }
        return texts
    }
}
