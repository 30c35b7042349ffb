import HeraldHub
import HeraldTime

/// XML in the service's form: default namespaces, no prefixed elements, nothing between elements.
enum HubXML {
    static let atom = "http://www.w3.org/2005/Atom"
    static let serviceBus = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    /// The expiry of a registration that never expires.
    static let never = "9999-12-31T23:59:59.999Z"

    static func element(_ name: String, _ text: String) -> String { "<\(name)>\(XMLText.escaped(text))</\(name)>" }

    /// An element that was read; of its attributes only the one for a missing value is kept.
    static func element(_ element: XMLElement) -> String {
        if element.isNil { return "<\(element.name) i:nil=\"true\"/>" }
        return element.children.isEmpty
            ? self.element(element.name, element.text)
            : "<\(element.name)>" + element.children.map { self.element($0) }.joined() + "</\(element.name)>"
    }

    /// A text in the service's form of template bodies.
    static func literal(_ text: String) -> String {
        "<![CDATA[" + text.replacing("]]>", with: "]]]]><![CDATA[>") + "]]>"
    }

    /// An Atom entry about one registration, whose address is below the hub's.
    static func entry(_ registration: HubRegistration, hubURL: String, isAlone: Bool) -> String {
        let address = XMLText.escaped("\(hubURL)/registrations/\(registration.id)?api-version=2020-06")
        let namespaces = (isAlone ? " xmlns=\"\(atom)\"" : "") + " xmlns:a=\"\(metadata)\""
        return "<entry a:etag=\"\(XMLText.escaped(registration.etag))\"\(namespaces)>" + "<id>\(address)</id>"
            + "<title type=\"text\">\(XMLText.escaped(registration.id))</title>"
            + element("published", HubTime.text(registration.publishedAt))
            + element("updated", HubTime.text(registration.updatedAt)) + link("self", address)
            + "<content type=\"application/xml\">\(registration.descriptionXML)</content></entry>"
    }

    /// An Atom feed of registrations.
    ///
    /// - Parameter next: the address of the next page, if there is one.
    static func feed(
        _ registrations: [HubRegistration], hubURL: String, address: String, next: String?, at time: Int64
    ) -> String {
        let address = XMLText.escaped(address)
        return "<feed xmlns=\"\(atom)\"><title type=\"text\">Registrations</title>"
            + "<id>\(address)</id>" + element("updated", HubTime.text(time)) + link("self", address)
            + (next.map { link("next", XMLText.escaped($0)) } ?? "")
            + registrations.map { entry($0, hubURL: hubURL, isAlone: false) }.joined() + "</feed>"
    }

    private static func link(_ relation: String, _ address: String) -> String {
        "<link rel=\"\(relation)\" href=\"\(address)\"/>"
    }
}

/// Times in the service's form.
enum HubTime {
    /// `2026-11-21T08:40:26.123Z`.
    static func text(_ milliseconds: Int64) -> String {
        RFC3339.text(WallTime(milliseconds: milliseconds))
    }

    /// A W3C date in milliseconds of Unix time; without a zone it is UTC.
    static func parse(_ text: String) -> Int64? {
        RFC3339.parse(Array(text.utf8).span.bytes)?.milliseconds
            ?? RFC3339.parse(Array("\(text)Z".utf8).span.bytes)?.milliseconds
    }
}
