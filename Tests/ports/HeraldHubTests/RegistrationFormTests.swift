import HeraldHub
import HeraldText
import Testing

@Suite("The form of a hub's registrations")
struct RegistrationFormTests {
    private static let service =
        "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" "
        + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\""

    @Test(
        "Each push service has its own description, with its members in one order",
        arguments: [
            (.apple(token: "0aff"), "Apple", "<DeviceToken>0AFF</DeviceToken>"),
            (.gcm(token: "a:b"), "Gcm", "<GcmRegistrationId>a:b</GcmRegistrationId>"),
            (.fcmV1(token: "a:b"), "FcmV1", "<FcmV1RegistrationId>a:b</FcmV1RegistrationId>"),
            (
                .windows(channel: "https://wns.example/?a=1&b=<'2'>"), "Windows",
                "<ChannelUri>https://wns.example/?a=1&amp;b=&lt;'2'&gt;</ChannelUri>"
            ),
            (
                .browser(endpoint: "https://push.example/1", p256dh: "BAq-_=", auth: "x=="), "Browser",
                "<Endpoint>https://push.example/1</Endpoint><P256DH>BAq-_=</P256DH><Auth>x==</Auth>"
            ),
        ] as [(HubDevice, String, String)])
    func written(device: HubDevice, kind: String, handle: String) throws {
        let registration = try HubRegistration(device, tags: ["news", "username:alice", "news"])
        #expect(
            String(decoding: registration.entry, as: UTF8.self)
                == "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\">"
                + "<\(kind)RegistrationDescription \(Self.service)><Tags>news,username:alice</Tags>\(handle)"
                + "</\(kind)RegistrationDescription></content></entry>")
        let again = try HubRegistration(entry: registration.entry)
        #expect(again.tags == ["news", "username:alice"])
        #expect(again.device == (kind == "Apple" ? .apple(token: "0AFF") : device))
        let bare = try HubRegistration(device, tags: [])
        #expect(!String(decoding: bare.entry, as: UTF8.self).contains("Tags"))
    }

    /// The service's answer (from the recordings of Microsoft's SDKs).
    private static let answer = """
        <entry a:etag="W/&quot;1&quot;" xmlns="http://www.w3.org/2005/Atom" \
        xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\
        <id>https://contoso.servicebus.windows.net/hub/registrations/12-3?api-version=2020-06</id>\
        <title type="text">12-3</title><published>2018-11-07T00:18:34Z</published>\
        <updated>2018-11-07T00:18:34Z</updated><link rel="self" href="https://x"/><content type="application/xml">\
        <AppleRegistrationDescription \(service)><ETag>1</ETag>\
        <ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>12-3</RegistrationId>\
        <Tags>a,b:c</Tags><DeviceToken>0AFF</DeviceToken></AppleRegistrationDescription></content></entry>
        """

    @Test("The service's answer is read, and a list of it")
    func answered() throws {
        let registration = try HubRegistration(entry: Array(Self.answer.utf8))
        #expect(registration.id == "12-3")
        #expect(registration.tags == ["a", "b:c"])
        #expect(registration.device == .apple(token: "0AFF"))
        let feed = """
            <feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Registrations</title><id>i</id>\
            <updated>u</updated><link rel="self" href="l"/>\(Self.answer)\(Self.answer)</feed>
            """
        #expect(try HubRegistration.list(feed: Array(feed.utf8)) == [registration, registration])
        #expect(try HubRegistration.list(feed: Array("<feed xmlns='x'><title/></feed>".utf8)).isEmpty)
    }

    @Test("A description may be named by its type, and absent members by i:nil, as .NET's SDK writes them")
    func dotNet() throws {
        let entry = """
            <?xml version="1.0" encoding="utf-16"?><entry xmlns="http://www.w3.org/2005/Atom">\
            <title type="text">9-9</title><content type="application/xml">\
            <RegistrationDescription i:type="FcmV1RegistrationDescription" \(Self.service)><ETag i:nil="true"/>\
            <ExpirationTime i:nil="true"/><RegistrationId i:nil="true"/><Tags i:nil="true"/>\
            <FcmV1RegistrationId>t</FcmV1RegistrationId></RegistrationDescription></content></entry>
            """
        let registration = try HubRegistration(entry: Array(entry.utf8))
        #expect(registration.id == "9-9")
        #expect(registration.tags.isEmpty)
        #expect(registration.device == .fcmV1(token: "t"))
    }

    @Test("A kind that Herald does not write keeps its id, so that it can be found and deleted")
    func otherKind() throws {
        let text = Self.answer.replacing("AppleRegistration", with: "AppleTemplateRegistration")
        let registration = try HubRegistration(entry: Array(text.utf8))
        #expect(registration.id == "12-3" && registration.device == nil)
    }

    @Test(
        "An answer without a registration is refused",
        arguments: [
            "", "<feed/>", "<entry/>", "<entry><content/></entry>", "<entry><content><Other/></content></entry>",
            "<entry><content><RegistrationDescription/></content></entry>",
        ])
    func unreadable(text: String) {
        #expect(throws: InvalidArgument.self) { try HubRegistration(entry: Array(text.utf8)) }
        #expect(throws: InvalidArgument.self) { try HubRegistration.list(feed: Array(text.utf8).dropLast()) }
    }

    @Test(
        "A handle that the hub would refuse is refused here",
        arguments: [
            .apple(token: "abc"), .apple(token: "xy"), .apple(token: ""), .gcm(token: "a b"), .fcmV1(token: ""),
            .windows(channel: "https://ä"), .browser(endpoint: "https://a", p256dh: "", auth: "x"),
        ] as [HubDevice])
    func badHandle(device: HubDevice) {
        #expect(throws: InvalidArgument.self) { try HubRegistration(device, tags: []) }
    }

    @Test("Tags follow the hub's rules, with at most 60 of them")
    func tags() throws {
        let device = HubDevice.gcm(token: "t")
        let most = (0..<60).map { "tag-\($0)" }
        #expect(try HubRegistration(device, tags: most + ["tag-0"]).tags == most)
        #expect(try HubRegistration(device, tags: [String(repeating: "x", count: 120)]).tags.count == 1)
        for tags in [most + ["more"], [""], ["a,b"], ["a b"], ["$own"], ["ä"], [String(repeating: "x", count: 121)]] {
            #expect(throws: InvalidArgument.self) { try HubRegistration(device, tags: tags) }
        }
    }
}
