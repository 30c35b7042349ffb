import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import Testing

@Suite("Registrations of the emulated hub")
struct HubRegistrationTests {
    @Test("A new id comes in the location, which is absolute and ends in it")
    func newID() throws {
        let caller = try HubCaller.start()
        for path in ["registrationids", "registrationIDs/"] {
            let response = try caller.call("POST", path)
            #expect(response.status == 201)
            #expect(response.headers["Content-Length"] == "0")
            let location = try #require(response.headers["Location"])
            #expect(response.headers["Content-Location"] == location)
            let pattern = /\/herald\/registrationids\/(\d+-\d+-\d)\?api-version=2020-06/
            let id = try #require(location.dropFirst(caller.emulator.url.count).wholeMatch(of: pattern)?.1)
            #expect(location.hasPrefix(caller.emulator.url))
            #expect(try caller.registerApple(String(id), "AB", tags: "a").status == 200)
        }
    }

    @Test("An entry is answered exactly as the SDKs' readers need it")
    func answerForm() throws {
        let caller = try HubCaller.start()
        let response = try caller.registerApple("123-234-1", "abcdef", tags: "a,b")
        #expect(response.headers["Content-Type"] == "application/atom+xml; type=entry; charset=utf-8")
        #expect(response.headers["ETag"] == #"W/"1""#)
        let text = response.text
        let date = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#
        #expect(text.matches(of: date).count == 3)
        let address = "\(caller.emulator.url)/herald/registrations/123-234-1?api-version=2020-06"
        #expect(
            text.replacing(date, with: "DATE")
                == #"<entry a:etag="W/&quot;1&quot;" xmlns="http://www.w3.org/2005/Atom" "#
                + #"xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">"#
                + #"<id>\#(address)</id><title type="text">123-234-1</title><published>DATE</published>"#
                + #"<updated>DATE</updated><link rel="self" href="\#(address)"/><content type="application/xml">"#
                + #"<AppleRegistrationDescription "#
                + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" "#
                + #"xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><ETag>1</ETag>"#
                + "<ExpirationTime>DATE</ExpirationTime><RegistrationId>123-234-1</RegistrationId><Tags>a,b</Tags>"
                + "<DeviceToken>ABCDEF</DeviceToken></AppleRegistrationDescription></content></entry>")
    }

    @Test(
        "Every platform's description is read and comes back with its handle",
        arguments: [
            ("Apple", "<DeviceToken>AB</DeviceToken>"), ("Gcm", "<GcmRegistrationId>g</GcmRegistrationId>"),
            ("FcmV1", "<FcmV1RegistrationId>f</FcmV1RegistrationId>"),
            ("Windows", "<ChannelUri>https://w/?a=1&amp;b</ChannelUri><SecondaryTileName>t</SecondaryTileName>"),
            ("Browser", "<Endpoint>https://b/</Endpoint><P256DH>p</P256DH><Auth>q</Auth>"),
            ("Adm", "<AdmRegistrationId>a</AdmRegistrationId>"),
            ("Baidu", "<BaiduUserId>u</BaiduUserId><BaiduChannelId>c</BaiduChannelId>"),
        ])
    func platforms(name: String, fields: String) throws {
        let caller = try HubCaller.start()
        let response = try caller.put("1", HubCaller.entry("\(name)RegistrationDescription", fields))
        #expect(response.status == 200)
        #expect(response.text.contains("<RegistrationId>1</RegistrationId>\(fields)</\(name)RegistrationDescription>"))
        #expect(try caller.call("GET", "registrations/1").text == response.text)
        let template = "<BodyTemplate><![CDATA[{}]]></BodyTemplate><TemplateName>n</TemplateName>"
        let made = try caller.put(
            "2", HubCaller.entry("\(name)TemplateRegistrationDescription", fields + template))
        #expect(made.text.contains("\(fields)\(template)</\(name)TemplateRegistrationDescription>"))
    }

    @Test("The .NET SDK's typed description with its null fields is accepted too")
    func typedDescription() throws {
        let caller = try HubCaller.start()
        let entry =
            #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">"#
            + #"<RegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" "#
            + #"i:type="AppleRegistrationDescription" "#
            + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ETag i:nil="true"/>"#
            + #"<ExpirationTime i:nil="true"/><RegistrationId i:nil="true"/><Tags>a</Tags>"#
            + #"<DeviceToken>ab</DeviceToken></RegistrationDescription></content></entry>"#
        let response = try caller.call("POST", "registrations", body: entry, type: "application/atom+xml;type=entry")
        #expect(response.status == 200)
        #expect(response.text.contains("<AppleRegistrationDescription xmlns="))
        #expect(try caller.call("GET", "tags/a/registrations").text.contains("<DeviceToken>AB</DeviceToken>"))
    }

    @Test(
        "An invalid registration is answered 400",
        arguments: [
            "", "<entry/>", HubCaller.entry("FcmRegistrationDescription", "<FcmRegistrationId>f</FcmRegistrationId>"),
            HubCaller.entry("AppleRegistrationDescription", "<DeviceToken>abc</DeviceToken>"),
            HubCaller.entry("AppleRegistrationDescription", "<DeviceToken>xy</DeviceToken>"),
            HubCaller.entry("AppleRegistrationDescription", ""),
            HubCaller.entry("GcmRegistrationDescription", "<GcmRegistrationId>g</GcmRegistrationId>", tags: "$a"),
            HubCaller.entry("GcmRegistrationDescription", "<GcmRegistrationId>g</GcmRegistrationId>", tags: "a/b"),
            HubCaller.entry(
                "GcmRegistrationDescription", "<GcmRegistrationId>g</GcmRegistrationId>",
                tags: (0..<61).map { "t\($0)" }.joined(separator: ",")),
            HubCaller.entry("GcmTemplateRegistrationDescription", "<GcmRegistrationId>g</GcmRegistrationId>"),
        ])
    func mistakes(entry: String) throws {
        let caller = try HubCaller.start()
        #expect(try caller.put("1", entry).status == 400)
        #expect(try caller.call("GET", "registrations/1").status == 404)
    }

    @Test("If-Match makes a PUT an update and is required for a DELETE; another version is answered 412")
    func conditions() throws {
        let caller = try HubCaller.start()
        let entry = HubCaller.entry("GcmRegistrationDescription", "<GcmRegistrationId>g</GcmRegistrationId>")
        #expect(try caller.put("1", entry, headers: ["If-Match": "*"]).status == 404)
        #expect(try caller.put("1", entry).status == 200)
        #expect(try caller.put("1", entry, headers: ["If-Match": #""1""#]).headers["ETag"] == #"W/"2""#)
        #expect(try caller.put("1", entry, headers: ["If-Match": #"W/"2""#]).headers["ETag"] == #"W/"3""#)
        #expect(try caller.put("1", entry, headers: ["If-Match": "*"]).status == 200)
        #expect(try caller.put("1", entry, headers: ["If-Match": #"W/"2""#]).status == 412)
        #expect(try caller.call("DELETE", "registrations/1").status == 400)
        #expect(try caller.call("DELETE", "registrations/1", headers: ["If-Match": #"W/"1""#]).status == 412)
        let deleted = try caller.call("DELETE", "registrations/1", headers: ["If-Match": "*"])
        #expect(deleted.status == 200)
        #expect(deleted.body.isEmpty)
        #expect(try caller.call("DELETE", "registrations/1", headers: ["If-Match": "*"]).status == 404)
        #expect(try caller.put("1", entry).status == 410)
        #expect(try caller.put("1", entry, headers: ["If-Match": "*"]).status == 410)
    }

    @Test("A list by handle accepts ChannelUri for every platform, and the handle's own field")
    func filters() throws {
        let caller = try HubCaller.start()
        try caller.registerApple("1", "ab", tags: "a")
        try caller.registerApple("2", "ab", tags: "b")
        let windows = HubCaller.entry("WindowsRegistrationDescription", "<ChannelUri>https://w/'x'</ChannelUri>")
        #expect(try caller.put("3", windows).status == 200)
        func ids(_ filter: String) throws -> [String] {
            let response = try caller.call("GET", "registrations?$filter=\(filter)&$top=100")
            #expect(response.status == 200)
            #expect(response.headers["Content-Type"] == "application/atom+xml; type=feed; charset=utf-8")
            return try response.xml().children.filter { $0.name == "entry" }.compactMap { $0["title"]?.text }
        }
        #expect(try ids("ChannelUri+eq+%27AB%27") == ["1", "2"])
        #expect(try ids("ChannelUri%20eq%20%27ab%27") == ["1", "2"])
        #expect(try ids("DeviceToken%20eq%20%27AB%27") == ["1", "2"])
        #expect(try ids("ChannelUri+eq+%27https%3a%2f%2fw%2f%27%27x%27%27%27") == ["3"])
        #expect(try ids("GcmRegistrationId+eq+%27nobody%27").isEmpty)
        #expect(try caller.call("GET", "registrations?$filter=Tags+eq+%27a%27").status == 400)
    }

    @Test("A long list continues after a token that is percent-encoded and returns under its name in any case")
    func pages() throws {
        let caller = try HubCaller.start()
        for number in 1...5 { try caller.registerApple("r\(number)", "AB", tags: "a,t\(number)") }
        var (ids, token): ([String], String?) = ([], "")
        var pages = 0
        while let current = token {
            let name = pages == 1 ? "continuationtoken" : "ContinuationToken"
            let query = current.isEmpty ? "" : "&\(name)=\(current)"
            let response = try caller.call("GET", "tags/a/registrations/?$top=2\(query)")
            let feed = try response.xml()
            ids += feed.children.filter { $0.name == "entry" }.compactMap { $0["title"]?.text }
            token = response.headers["x-ms-continuationtoken"]
            pages += 1
        }
        #expect(ids == ["r1", "r2", "r3", "r4", "r5"])
        #expect(pages == 3)
        #expect(try caller.call("GET", "registrations?continuationtoken=other").status == 400)
        let again = try caller.call("GET", "tags/a/registrations?continuationtoken=nextRow%253D4").xml()
        #expect(again["entry"]?["title"]?.text == "r5")
        let nobody = try caller.call("GET", "tags/nobody/registrations")
        #expect(nobody.status == 200)
        #expect(try nobody.xml()["entry"] == nil)
        #expect(nobody.text.hasPrefix(#"<feed xmlns="http://www.w3.org/2005/Atom""#))
    }

    @Test("A full hub answers 403 to a new registration and accepts a changed one")
    func full() throws {
        let caller = try HubCaller.start { $0.registrationLimit = 1 }
        let entry = HubCaller.entry("GcmRegistrationDescription", "<GcmRegistrationId>g</GcmRegistrationId>")
        #expect(try caller.put("1", entry).status == 200)
        #expect(try caller.put("2", entry).status == 403)
        #expect(try caller.put("1", entry).status == 200)
    }
}
