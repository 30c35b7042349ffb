import HeraldEvents
import HeraldText
import Testing

@testable import HeraldCampaigns

@Suite("Campaigns with title, link, image and data")
struct CampaignContentTests {
    static func content(of event: NotificationEvent) -> CampaignContent {
        var content = CampaignContent()
        (content.title, content.link, content.image) = (event.title, event.link, event.image)
        (content.data, content.badge) = (event.data, event.badge)
        (content.sound, content.category) = (event.sound, event.category)
        return content
    }

    private static func content(
        title: String? = nil, link: String? = nil, image: String? = nil, data: [String: String]? = nil
    ) -> CampaignContent {
        var content = CampaignContent()
        (content.title, content.link, content.image, content.data) = (title, link, image, data)
        return content
    }

    private func preview(_ audience: String, _ content: CampaignContent) throws -> AudiencePreview {
        let file = try AudienceFile(audience)
        defer { file.remove() }
        return try file.preview("Hi {{name}}", content: content)
    }

    @Test("Each text is filled in with the recipient's fields, and the samples have them")
    func fills() throws {
        var content = Self.content(
            title: "For {{name}}", link: "shop://offers/{{offer}}", image: "https://shop.example/{{offer}}.png",
            data: ["offer": "{{offer}}", "kind": "spring"])
        content.badge = 2
        let preview = try preview("user,name,offer\nann,Ann,7\n", content)
        var filled = Self.content(
            title: "For Ann", link: "shop://offers/7", image: "https://shop.example/7.png",
            data: ["offer": "7", "kind": "spring"])
        filled.badge = 2
        #expect(preview.samples == [.init(user: "ann", message: "Hi Ann", content: filled)])
        #expect(preview.longestMessage == 6 && preview.longestContent == 61 && preview.invalid == 0)
    }

    @Test(
        "The longest is told by the characters of message and title, the emptiest by its empty fields")
    func extremes() throws {
        let audience = """
            user,name,city
            ann,Ann,Ulm
            bob,äöüß,
            cid,Cidney,Bonn
            dora,,
            eve,,
            """
        let preview = try preview(audience, Self.content(title: "{{city|Your town}}"))
        #expect(preview.longest?.user == "bob" && preview.longest?.characters == "Hi äöüßYour town".count)
        #expect(preview.emptiest?.sample.user == "dora" && preview.emptiest?.fields == ["name", "city"])
        #expect(preview.emptiest?.sample.message == "Hi " && preview.samples.map(\.user) == ["ann", "bob", "cid"])
        let plain = try self.preview("user,name\nann,Ann\n", CampaignContent())
        #expect(plain.longest?.user == "ann" && plain.emptiest == nil && !plain.hasOneText)
    }

    @Test("A text that breaks its rule when it is filled in makes its line invalid, and the line says why")
    func invalidLines() throws {
        let long = String(repeating: "t", count: 257)
        let audience = """
            user,name,link,picture
            ann,Ann,shop://1,https://shop.example/1.png
            bob,Bob,www.shop.example,
            cid,\(long),shop://1,
            dora,Dora,,
            eve,Eve,shop://1,http://shop.example/1.png
            """
        let preview = try preview(
            audience, Self.content(title: "{{name|You}}", link: "{{link}}", image: "{{picture|}}"))
        #expect(preview.recipients == 1 && preview.samples.map(\.user) == ["ann"])
        #expect(
            preview.invalidLines.map(\.reason) == [
                "link is no URL such as https://shop.example/orders/17 or shop://orders/17",
                "title has 257 bytes of UTF-8; at most 256 are allowed",
                "the link is empty; {{link|}} leaves it out for who has none",
                "image has to begin with https:// and a host",
            ])
    }

    @Test("A title of blanks alone is empty, as a message is")
    func blankTitle() throws {
        let preview = try preview("user,name\nann,\nbob,Bob", Self.content(title: " {{name|}}"))
        #expect(preview.recipients == 1 && preview.invalidLines.map(\.reason) == ["the title is empty"])
    }

    @Test("Content that is the same for all is checked once, and a wrong one at every recipient")
    func constant() throws {
        let right = try preview("user,name\nann,A\nbob,B", Self.content(title: "Sale"))
        #expect(right.recipients == 2 && right.invalid == 0)
        let long = String(repeating: "x", count: 300)
        let wrong = try preview("user,name\nann,A\nbob,B", Self.content(title: long))
        #expect(wrong.recipients == 0 && wrong.invalid == 2)
    }

    @Test("What a field brings into a URL is percent-encoded where no URL has it, and only there")
    func encoded() throws {
        let preview = try preview(
            "user,name,city\nann,Ann,Bad Säckingen & Köln/50%\n",
            Self.content(
                title: "{{city}}", link: "shop://{{city}}", image: "https://shop.example/{{city}}.png",
                data: ["city": "{{city}}"]))
        let city = "Bad%20S%C3%A4ckingen%20&%20K%C3%B6ln/50%"
        #expect(
            preview.samples.map(\.content) == [
                Self.content(
                    title: "Bad Säckingen & Köln/50%", link: "shop://\(city)",
                    image: "https://shop.example/\(city).png", data: ["city": "Bad Säckingen & Köln/50%"])
            ])
        #expect(throws: ContentMistake.self) { try ContentTemplate(written: "Hi", Self.content(link: "shop://Köln")) }
    }

    @Test("Who has nothing for a field gets the notification without that part, where the template says so")
    func optional() throws {
        let preview = try preview("user,name,picture\nann,Ann,\n", Self.content(title: "Spring", image: "{{picture|}}"))
        #expect(preview.samples.map(\.content) == [Self.content(title: "Spring")] && preview.invalid == 0)
    }

    @Test("A field that looks like a mistake is told with the text that it stands in")
    func doubts() throws {
        let preview = try preview("user,name,offer\nann,Ann,NULL\n", Self.content(title: "Offer {{offer}}"))
        let doubt = try #require(preview.doubtfulFields.first)
        #expect(doubt.name == "offer" && doubt.doubt == .placeholder && doubt.text == "Offer NULL")
        #expect(
            failure { try self.preview("user,name\nann,Ann\n", Self.content(link: "shop://{{ofer}}")) }.contains("ofer")
        )
    }

    @Test(
        "A part that is the same for all has to keep its rule before anything is read",
        arguments: [
            (Self.content(title: String(repeating: "t", count: 300)), "title", "the title has 300 bytes of UTF-8"),
            (Self.content(link: "http://shop.example"), "link", "the link begins with http:"),
            (Self.content(image: "shop.png"), "image", "the image has to begin with https://"),
            (Self.content(data: ["aps": "x"]), "data", "the data.aps is a name that push services reserve"),
            (Self.content(data: ["title": "{{x}}"]), "data", "the data.title is a field of the event itself"),
            (Self.content(title: "{{#x}}"), "title", "the title, column 3: a section cannot be used"),
        ])
    func constants(content: CampaignContent, part: String, words: String) throws {
        let mistake = #expect(throws: ContentMistake.self) { try ContentTemplate(written: "Hi", content) }
        #expect(mistake?.part == part && mistake?.description.hasPrefix(words) == true, "\(mistake as Any)")
    }

    @Test("Empty texts of a form are none, and percents of a URL are no marks of another tool")
    func writing() throws {
        var content = Self.content(title: "", link: "https://shop.example/%E2%82%AC?x=%D0%B0", data: [:])
        content.sound = ""
        let template = try ContentTemplate(written: "Hi %name%", content)
        #expect(template.content == Self.content(link: content.link))
        #expect(template.foreignMarks([]).map(\.place) == [.message])
    }

    @Test("As options of the command, and masked for who may not see them")
    func options() {
        var content = Self.content(title: "Spring", data: ["b": "2", "a": "1=1"])
        content.badge = 1
        #expect(
            content.options(isMasked: false) == [
                "--title", "Spring", "--data", "a=1=1", "--data", "b=2", "--badge", "1",
            ])
        #expect(content.options(isMasked: true).contains("a=…"))
        #expect(Self.content(link: "a:b").continuing(content).title == "Spring")
    }
}
