package import HeraldText

/// A registration of a device at a hub, as in an Atom entry.
package struct HubRegistration: Sendable, Hashable {
    /// The hub's name for it; `nil` before it is written.
    package let id: String?
    package let tags: [String]
    /// The device; `nil` for a kind that Herald does not write, such as a template.
    package let device: HubDevice?

    /// Whether it addresses the device for everything sent to its tags, and was not made for an installation, whose
    /// registrations get a tag of their own from the hub.
    package var isNative: Bool { device != nil && !tags.contains { $0.hasPrefix("$InstallationId:") } }

    /// A registration to be written; throws when the hub would reject it.
    ///
    /// - Parameter tags: a repeated one counts once.
    package init(_ device: HubDevice, tags: [String]) throws(InvalidArgument) {
        try device.check()
        id = nil
        self.tags = try HubTags.checked(tags)
        self.device = device
    }

    // MARK: Writing

    package static let mediaType = "application/atom+xml;type=entry;charset=utf-8"

    /// The entry, the body of a PUT.
    ///
    /// The order of the elements matters to the hub (its data contract): tags, then the handle.
    package var entry: [UInt8] {
        guard let (kind, fields) = device?.form else { return [] }
        var description = tags.isEmpty ? "" : "<Tags>\(XMLText.escaped(tags.joined(separator: ",")))</Tags>"
        for (name, value) in fields { description += "<\(name)>\(XMLText.escaped(value))</\(name)>" }
        let element = kind + Self.suffix
        return Array(
            ("<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\">"
                + "<\(element) xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
                + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">"
                + "\(description)</\(element)></content></entry>").utf8)
    }

    private static let suffix = "RegistrationDescription"

    // MARK: Reading

    /// Reads an entry; throws with its fault.
    package init(entry: [UInt8]) throws(InvalidArgument) {
        try self.init(XMLElement(document: entry))
    }

    /// Reads a feed of entries; throws with its fault.
    package static func list(feed: [UInt8]) throws(InvalidArgument) -> [HubRegistration] {
        let feed = try XMLElement(document: feed)
        guard feed.name == "feed" else {
            throw InvalidArgument("the list of registrations is a <\(feed.name)>, no feed")
        }
        var list: [HubRegistration] = []
        for entry in feed.children where entry.name == "entry" { list.append(try HubRegistration(entry)) }
        return list
    }

    private init(_ entry: XMLElement) throws(InvalidArgument) {
        guard entry.name == "entry", let description = entry["content"]?.children.first,
            let kind = Self.kind(of: description)
        else { throw InvalidArgument("a registration of the hub is not an entry with a description") }
        id = description["RegistrationId"]?.value ?? entry["title"]?.text
        tags = HubTags.list(description["Tags"]?.value)
        device = HubDevice(kind: kind) { description[$0]?.value }
    }

    /// `Apple` of `<AppleRegistrationDescription>`, or of `<RegistrationDescription i:type="…">` as .NET's SDK writes it.
    package static func kind(of description: XMLElement) -> String? {
        var name = description.name[...]
        if description.name == suffix, let type = description.attributes["type"] {
            name = type.split(separator: ":").last ?? ""
        }
        guard name.hasSuffix(suffix), name.count > suffix.count else { return nil }
        return String(name.dropLast(suffix.count))
    }
}
