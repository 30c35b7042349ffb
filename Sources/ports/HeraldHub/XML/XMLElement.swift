internal import CExpat
package import HeraldText

/// An element of a small XML document, read whole.
///
/// Names are local, without prefixes: the hub's SDKs and the service disagree on those.
package struct XMLElement: Sendable, Hashable {
    package let name: String
    /// The namespace of the name; empty without one.
    package let namespace: String
    package let attributes: [String: String]
    /// The elements inside, in order.
    package private(set) var children: [XMLElement] = []
    /// The text directly inside, joined.
    package private(set) var text = ""

    /// A document may have so many elements, and be so deep.
    static let elementLimit = 100_000
    static let depthLimit = 64

    /// The first element inside with this local name.
    package subscript(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    /// Whether the element says that it has no value (`i:nil="true"`).
    package var isNil: Bool { attributes["nil"] == "true" }

    /// Its text; `nil` when it is empty or the element has no value.
    package var value: String? { isNil || text.isEmpty ? nil : text }

    /// Reads a document; throws with what is wrong with it and where.
    ///
    /// A document type is refused: the hub sends none, and entities can grow without bound. The declaration's encoding is
    /// ignored, because the .NET SDK declares UTF-16 in front of UTF-8.
    package init(document: [UInt8]) throws(InvalidArgument) {
        let builder = XMLBuilder()
        guard let parser = XML_ParserCreateNS("UTF-8", 1) else {
            throw InvalidArgument("the XML cannot be read: no memory is left")
        }
        defer { XML_ParserFree(parser) }
        XML_SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
        XML_SetElementHandler(parser, XMLBuilder.began, XMLBuilder.ended)
        XML_SetCharacterDataHandler(parser, XMLBuilder.said)
        XML_SetStartDoctypeDeclHandler(parser, XMLBuilder.doctype)
        builder.parser = parser
        let status = document.withUnsafeBytes { bytes in
            XML_Parse(parser, bytes.bindMemory(to: CChar.self).baseAddress, Int32(clamping: bytes.count), 1)
        }
        if let mistake = builder.mistake { throw InvalidArgument("the XML \(mistake)") }
        guard status == XML_STATUS_OK, let root = builder.root else {
            let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
            throw InvalidArgument("the XML is not well formed in line \(XML_GetCurrentLineNumber(parser)): \(reason)")
        }
        self = root
    }

    /// - Parameter name: with its namespace in front, as expat joins them.
    fileprivate init(name: String, attributes: [String: String]) {
        let parts = name.split(separator: XMLBuilder.separator, maxSplits: 1, omittingEmptySubsequences: false)
        self.name = String(parts.last ?? "")
        namespace = parts.count == 2 ? String(parts[0]) : ""
        self.attributes = attributes
    }

    fileprivate mutating func append(_ child: XMLElement) { children.append(child) }
    fileprivate mutating func append(text piece: String) { text += piece }
}

private final class XMLBuilder {
    var parser: XML_Parser?
    private(set) var root: XMLElement?
    private(set) var mistake: String?
    private var open: [XMLElement] = []
    private var count = 0

    /// What stands between a namespace and a name: it never does in a name.
    static let separator: Character = "\u{1}"

    private static func of(_ context: UnsafeMutableRawPointer?) -> XMLBuilder? {
        context.map { Unmanaged<XMLBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    static let began: XML_StartElementHandler = { context, name, attributes in
        guard let name else { return }
        XMLBuilder.of(context)?.begin(String(cString: name), attributes)
    }

    static let ended: XML_EndElementHandler = { context, _ in XMLBuilder.of(context)?.end() }

    static let said: XML_CharacterDataHandler = { context, text, count in
        guard let text else { return }
        let bytes = UnsafeRawBufferPointer(start: text, count: Int(count))
        XMLBuilder.of(context)?.say(String(decoding: bytes, as: UTF8.self))
    }

    static let doctype: XML_StartDoctypeDeclHandler = { context, _, _, _, _ in
        XMLBuilder.of(context)?.refuse("has a document type, which is not accepted")
    }

    private func begin(_ name: String, _ list: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
        count += 1
        if count > XMLElement.elementLimit { refuse("has more than \(XMLElement.elementLimit) elements") }
        if open.count == XMLElement.depthLimit { refuse("is deeper than \(XMLElement.depthLimit) elements") }
        var attributes: [String: String] = [:]
        var index = 0
        while let list, let name = list[index], let value = list[index + 1] {
            attributes[Self.local(String(cString: name))] = String(cString: value)
            index += 2
        }
        open.append(XMLElement(name: name, attributes: attributes))
    }

    private func end() {
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].append(element) }
    }

    private func say(_ text: String) {
        if !open.isEmpty { open[open.count - 1].append(text: text) }
    }

    private func refuse(_ reason: String) {
        mistake = mistake ?? reason
        XML_StopParser(parser, 0)
    }

    private static func local(_ name: String) -> String {
        name.lastIndex(of: separator).map { String(name[name.index(after: $0)...]) } ?? name
    }
}
