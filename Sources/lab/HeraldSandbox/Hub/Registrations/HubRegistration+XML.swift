import HeraldHub
import HeraldText

extension HubRegistration {
    private static let suffix = "RegistrationDescription"

    /// The elements of every description before its handle, in the order of its data contract.
    private static let commonFields = ["ETag", "ExpirationTime", "RegistrationId", "Tags", "PushVariables"]

    /// Reads the entry of a PUT or POST: `<entry><content><AppleRegistrationDescription>…`.
    ///
    /// The .NET SDK's `<RegistrationDescription i:type="AppleRegistrationDescription">` is accepted too.
    init(entry document: [UInt8]) throws(InvalidArgument) {
        let entry = try XMLElement(document: document)
        guard entry.name == "entry", entry.namespace == HubXML.atom, let content = entry["content"],
            content.namespace == HubXML.atom, let description = content.children.first
        else { throw InvalidArgument("the body is no Atom entry with a registration in its content") }
        guard var name = HeraldHub.HubRegistration.kind(of: description), description.namespace == HubXML.serviceBus
        else {
            throw InvalidArgument(
                "the content is no registration: \(description.name) of the namespace \(description.namespace)")
        }
        let isTemplate = name.hasSuffix("Template")
        if isTemplate { name.removeLast("Template".count) }
        guard let platform = HubPlatform.allCases.first(where: { $0.names.registration == name }) else {
            throw InvalidArgument("there is no \(description.name)")
        }
        try self.init(platform, description, isTemplate: isTemplate)
    }

    private init(_ platform: HubPlatform, _ description: XMLElement, isTemplate: Bool) throws(InvalidArgument) {
        let fields = Self.commonFields + platform.handleFields + (isTemplate ? platform.templateFields : [])
        let contract = DataContract(description, namespace: HubXML.serviceBus, fields: fields)
        self.platform = platform
        for field in platform.handleFields {
            let value = contract.text(field)
            guard value != nil || field == HubPlatform.optionalHandleField else {
                throw InvalidArgument("the registration has no \(field), or not in its place")
            }
            if field != platform.identity { handleDetails[field] = value }
        }
        handle = try Self.normalised(contract.text(platform.identity) ?? "", of: platform)
        tags = try HubTags.checked(HubTags.list(contract.text("Tags")))
        pushVariables = contract.text("PushVariables")
        if let text = contract.text("ExpirationTime") {
            guard let moment = HubTime.parse(text) else { throw InvalidArgument("ExpirationTime is no date: \(text)") }
            expiresAt = moment
        }
        guard isTemplate else { return }
        guard let body = contract.text("BodyTemplate") else {
            throw InvalidArgument("the registration has no BodyTemplate, or not in its place")
        }
        let others = platform.templateFields.filter { $0 != "BodyTemplate" && $0 != "TemplateName" }
        let elements = others.compactMap { contract[$0] }
        let headers = elements.filter { $0.name.hasSuffix("Headers") }.flatMap(\.children).compactMap { header in
            header["Header"].map { HubHeader(name: $0.text, value: header["Value"]?.text ?? "") }
        }
        template = Template(name: contract.text("TemplateName"), body: body, headers: headers, elements: elements)
    }

    /// A handle in the hub's form: Apple's tokens are hexadecimal and become upper case.
    static func normalised(_ handle: String, of platform: HubPlatform) throws(InvalidArgument) -> String {
        guard platform == .apns else { return handle }
        guard handle.isEmpty || HubDevice.isHexadecimal(handle) else {
            throw InvalidArgument("the DeviceToken is no even number of hexadecimal digits")
        }
        return handle.uppercased()
    }

    /// The content's element, in the order that the SDKs' readers need and without a space between elements.
    var descriptionXML: String {
        let name = platform.names.registration + (template == nil ? "" : "Template") + Self.suffix
        var text = "<\(name) xmlns=\"\(HubXML.serviceBus)\" xmlns:i=\"\(HubXML.instance)\">"
        text += HubXML.element("ETag", "\(version)")
        text += HubXML.element("ExpirationTime", expiresAt.map { HubTime.text($0) } ?? HubXML.never)
        text += HubXML.element("RegistrationId", id)
        if !tags.isEmpty { text += HubXML.element("Tags", tags.joined(separator: ",")) }
        if let pushVariables { text += HubXML.element("PushVariables", pushVariables) }
        for field in platform.handleFields {
            guard let value = field == platform.identity ? handle : handleDetails[field] else { continue }
            text += HubXML.element(field, value)
        }
        if let template { text += platform.templateFields.map { Self.element($0, of: template) }.joined() }
        return text + "</\(name)>"
    }

    private static func element(_ field: String, of template: Template) -> String {
        switch field {
        case "BodyTemplate": "<BodyTemplate>\(HubXML.literal(template.body))</BodyTemplate>"
        case "TemplateName": template.name.map { HubXML.element(field, $0) } ?? ""
        default: template.elements.first { $0.name == field }.map { HubXML.element($0) } ?? ""
        }
    }
}

/// The members of an element as read by .NET's `DataContractSerializer`, in which the service is written.
///
/// Members have an order. An element out of order, an unknown one, and one of another namespace are skipped silently.
struct DataContract {
    private var elements: [String: XMLElement] = [:]

    /// - Parameter fields: the names of the members, in their order.
    init(_ element: XMLElement, namespace: String, fields: [String]) {
        var rest = fields[...]
        for child in element.children where child.namespace == namespace {
            guard let place = rest.firstIndex(of: child.name) else { continue }
            elements[child.name] = child
            rest = rest[(place + 1)...]
        }
    }

    subscript(_ field: String) -> XMLElement? { elements[field] }

    func text(_ field: String) -> String? { elements[field]?.value }
}
