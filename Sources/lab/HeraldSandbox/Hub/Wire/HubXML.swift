import HeraldHub

/// XML as the service writes it: default namespaces, no prefixed elements, nothing between elements.
enum HubXML {
    static let atom = "http://www.w3.org/2005/Atom"
    static let serviceBus = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    /// The end of what does not end.
    static let never = "9999-12-31T23:59:59.999Z"

    static func element(_ name: String, _ text: String) -> String { "<\(name)>\(XMLText.escaped(text))</\(name)>" }

    /// An element that was read, without its attributes.
    static func element(_ element: XMLElement) -> String {
        element.children.isEmpty
            ? self.element(element.name, element.text)
            : "<\(element.name)>" + element.children.map { self.element($0) }.joined() + "</\(element.name)>"
    }

    /// An Atom entry about one registration, with the address of the hub in front of its own.
    static func entry(_ registration: HubRegistration, hubURL: String, isAlone: Bool) -> String {
        let address = XMLText.escaped("\(hubURL)/registrations/\(registration.id)?api-version=2020-06")
        let namespaces = isAlone ? " xmlns=\"\(atom)\" xmlns:a=\"\(metadata)\"" : ""
        return "<entry a:etag=\"\(XMLText.escaped(registration.etag))\"\(namespaces)>" + "<id>\(address)</id>"
            + "<title type=\"text\">\(XMLText.escaped(registration.id))</title>"
            + element("published", HubTime.text(registration.publishedAt))
            + element("updated", HubTime.text(registration.updatedAt)) + "<link rel=\"self\" href=\"\(address)\"/>"
            + "<content type=\"application/xml\">\(registration.descriptionXML)</content></entry>"
    }

    /// An Atom feed of registrations.
    static func feed(_ registrations: [HubRegistration], hubURL: String, address: String, at time: Int64) -> String {
        let address = XMLText.escaped(address)
        return "<feed xmlns=\"\(atom)\" xmlns:a=\"\(metadata)\"><title type=\"text\">Registrations</title>"
            + "<id>\(address)</id>" + element("updated", HubTime.text(time))
            + "<link rel=\"self\" href=\"\(address)\"/>"
            + registrations.map { entry($0, hubURL: hubURL, isAlone: false) }.joined() + "</feed>"
    }
}
