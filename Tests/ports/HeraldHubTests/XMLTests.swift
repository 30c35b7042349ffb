import HeraldHub
import HeraldText
import Testing

@Suite("Reading and writing XML")
struct XMLTests {
    @Test("Elements are found by their local names, whatever their prefixes and the declared encoding")
    func reading() throws {
        let text = """
            <?xml version="1.0" encoding="utf-16"?><e:entry xmlns:e="urn:e" xmlns:i="urn:i"><e:a i:nil="true"/>\
            <e:b x="1">o&amp;n&#101;</e:b><b>two</b></e:entry>
            """
        let entry = try XMLElement(document: Array(text.utf8))
        #expect(entry.name == "entry")
        #expect(entry["a"]?.isNil == true)
        #expect(entry["b"]?.text == "o&ne")
        #expect(entry["b"]?.attributes == ["x": "1"])
        #expect(entry.children.count == 3)
    }

    @Test(
        "An invalid document, or one that could expand, is refused",
        arguments: [
            "", "<a>", "<a></b>", "text", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
            String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100),
        ])
    func refused(text: String) {
        #expect(throws: InvalidArgument.self) { try XMLElement(document: Array(text.utf8)) }
    }

    @Test("Any text is read back unchanged, except for characters that XML forbids")
    func escaping() throws {
        let text = "<a href=\"x\">&amp;\r\n\t'ü\u{1F514}</a>"
        let escaped = XMLText.escaped(text)
        let element = try XMLElement(document: Array("<x y=\"\(escaped)\">\(escaped)</x>".utf8))
        #expect(element.text == text)
        #expect(XMLText.escaped("a\u{0}\u{B}\u{FFFE}\u{FFFF}\u{FFFD}b") == "a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}b")
    }
}
