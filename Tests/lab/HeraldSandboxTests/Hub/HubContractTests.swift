import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import Testing

@Suite("The data contract of the emulated hub's registrations")
struct HubContractTests {
    private static let apple = "<DeviceToken>AA</DeviceToken>"

    @Test("Tags after the handle are out of order, and ignored")
    func tags() throws {
        let caller = try HubCaller.start()
        let entry = HubCaller.entry("AppleRegistrationDescription", Self.apple + "<Tags>a</Tags>")
        let response = try caller.put("1", entry)
        #expect(response.status == 200)
        #expect(!response.text.contains("<Tags>"))
        #expect(try caller.call("GET", "tags/a/registrations").xml()["entry"] == nil)
    }

    @Test(
        "A description lacks elements that are out of order or of another namespace",
        arguments: [
            ("AppleTemplate", "<BodyTemplate>{}</BodyTemplate>\(apple)"),
            ("Browser", "<P256DH>p</P256DH><Endpoint>e</Endpoint><Auth>a</Auth>"),
            ("Browser", "<Endpoint>e</Endpoint><Auth>a</Auth>"),
            ("Baidu", "<BaiduChannelId>c</BaiduChannelId><BaiduUserId>u</BaiduUserId>"),
            ("Apple", #"<x:DeviceToken xmlns:x="urn:other">AA</x:DeviceToken>"#),
            ("Apple", #"<DeviceToken xmlns="">AA</DeviceToken>"#),
        ])
    func missing(kind: String, fields: String) throws {
        let caller = try HubCaller.start()
        #expect(try caller.put("1", HubCaller.entry("\(kind)RegistrationDescription", fields)).status == 400)
    }

    @Test(
        "A description, an entry or a content of another namespace is refused",
        arguments: [
            "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect", "http://www.w3.org/2005/Atom",
        ])
    func namespaces(namespace: String) throws {
        let caller = try HubCaller.start()
        let entry = HubCaller.entry("AppleRegistrationDescription", Self.apple)
        #expect(try caller.put("1", entry.replacing(namespace, with: "urn:other")).status == 400)
        let prefixed =
            #"<a:entry xmlns:a="http://www.w3.org/2005/Atom"><a:content type="application/xml">"#
            + "<s:AppleRegistrationDescription xmlns:s="
            + #""http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"#
            + "<s:Tags>a</s:Tags><s:DeviceToken>AA</s:DeviceToken></s:AppleRegistrationDescription></a:content></a:entry>"
        #expect(try caller.put("1", prefixed).status == 200)
    }

    @Test("An Apple template comes back in the order of its contract: name, priority, headers")
    func appleTemplate() throws {
        let caller = try HubCaller.start()
        let header = "<ApnsHeader><Header>apns-priority</Header><Value>5</Value></ApnsHeader>"
        let rest =
            #"<Expiry i:nil="true"/><TemplateName>n</TemplateName><Priority>5</Priority>"#
            + "<ApnsHeaders>\(header)</ApnsHeaders>"
        let body = #"<BodyTemplate><![CDATA[{"a":"]]>]]&gt;<![CDATA["}]]></BodyTemplate>"#
        let entry = HubCaller.entry("AppleTemplateRegistrationDescription", Self.apple + body + rest)
        let response = try caller.put("1", entry)
        #expect(response.status == 200)
        #expect(response.text.contains("</BodyTemplate>\(rest)</AppleTemplate"))
        let description = try response.xml()["content"]?.children.first
        #expect(description?["BodyTemplate"]?.text == #"{"a":"]]>"}"#)
    }
}
