import HeraldHub
import HeraldText

extension HubRegistration {
    private static let suffix = "RegistrationDescription"

    /// Reads the entry of a PUT or POST: `<entry><content><AppleRegistrationDescription>…`.
    ///
    /// The .NET SDK's `<RegistrationDescription i:type="AppleRegistrationDescription">` is taken too.
    init(entry document: [UInt8]) throws(InvalidArgument) {
        let entry = try XMLElement(document: document)
        guard entry.name == "entry", let description = entry["content"]?.children.first else {
            throw InvalidArgument("the body is no Atom entry with a registration in its content")
        }
        var name = description.name
        if name == Self.suffix {
            name = description.attributes["type"].map { String($0.split(separator: ":").last ?? "") } ?? ""
        }
        guard name.hasSuffix(Self.suffix) else { throw InvalidArgument("the content is no registration: \(name)") }
        name.removeLast(Self.suffix.count)
        let isTemplate = name.hasSuffix("Template")
        if isTemplate { name.removeLast("Template".count) }
        guard let platform = HubPlatform.allCases.first(where: { $0.names.registration == name }) else {
            throw InvalidArgument("there is no \(description.name)")
        }
        try self.init(platform, description, isTemplate: isTemplate)
    }

    private init(_ platform: HubPlatform, _ description: XMLElement, isTemplate: Bool) throws(InvalidArgument) {
        func value(_ name: String) -> String? {
            guard let element = description[name], !element.isNil, !element.text.isEmpty else { return nil }
            return element.text
        }
        self.platform = platform
        let fields = platform.handleFields
        guard let handle = value(fields.first) else { throw InvalidArgument("the registration has no \(fields.first)") }
        self.handle = try Self.normalised(handle, of: platform)
        for field in fields.others { handleDetails[field] = value(field) }
        tags = try Self.tags(value("Tags") ?? "")
        pushVariables = value("PushVariables")
        if let text = value("ExpirationTime") {
            guard let moment = HubTime.parse(text) else { throw InvalidArgument("ExpirationTime is no date: \(text)") }
            expiresAt = moment
        }
        guard isTemplate else { return }
        guard let body = value("BodyTemplate") else { throw InvalidArgument("the registration has no BodyTemplate") }
        let known = [
            "ETag", "ExpirationTime", "RegistrationId", "Tags", "PushVariables", "BodyTemplate", "TemplateName",
        ]
        template = Template(
            name: value("TemplateName"), body: body,
            headers: description.children.filter { child in
                !known.contains(child.name) && child.name != fields.first && !fields.others.contains(child.name)
            })
    }

    /// A handle as the hub keeps it: Apple's tokens are hexadecimal and come back in capitals.
    static func normalised(_ handle: String, of platform: HubPlatform) throws(InvalidArgument) -> String {
        guard platform == .apns else { return handle }
        guard handle.utf8.count.isMultiple(of: 2), handle.utf8.allSatisfy({ HubTag.isHex($0) }) else {
            throw InvalidArgument("the DeviceToken is no even number of hexadecimal digits")
        }
        return handle.uppercased()
    }

    /// Tags with commas between them, each once.
    static func tags(_ text: String) throws(InvalidArgument) -> [String] {
        try tags(text.split(separator: ",").map { $0.drop { $0 == " " } }.map { String($0) })
    }

    /// The tags without repetitions, checked.
    static func tags(_ list: [String]) throws(InvalidArgument) -> [String] {
        var tags: [String] = []
        for tag in list where !tags.contains(tag) {
            if let mistake = HubTag.mistake(in: tag) { throw InvalidArgument("the registration has \(mistake)") }
            tags.append(tag)
        }
        guard tags.count <= HubTag.countLimit else {
            throw InvalidArgument("the registration has more than \(HubTag.countLimit) tags")
        }
        return tags
    }

    /// The element of the content, in the order that the SDKs' readers need and without a space between elements.
    var descriptionXML: String {
        let name = platform.names.registration + (template == nil ? "" : "Template") + Self.suffix
        var text = "<\(name) xmlns=\"\(HubXML.serviceBus)\" xmlns:i=\"\(HubXML.instance)\">"
        text += HubXML.element("ETag", "\(version)")
        text += HubXML.element("ExpirationTime", expiresAt.map { HubTime.text($0) } ?? HubXML.never)
        text += HubXML.element("RegistrationId", id)
        if !tags.isEmpty { text += HubXML.element("Tags", tags.joined(separator: ",")) }
        if let pushVariables { text += HubXML.element("PushVariables", pushVariables) }
        let fields = platform.handleFields
        for field in [fields.first] + fields.others {
            guard let value = field == fields.first ? handle : handleDetails[field] else { continue }
            text += HubXML.element(field, value)
        }
        if let template {
            text += HubXML.element("BodyTemplate", template.body)
            text += template.headers.map { HubXML.element($0) }.joined()
            if let name = template.name { text += HubXML.element("TemplateName", name) }
        }
        return text + "</\(name)>"
    }
}
