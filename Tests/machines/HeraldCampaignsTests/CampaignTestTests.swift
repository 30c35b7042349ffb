import HeraldEvents
import HeraldText
import HeraldTools
import Testing

@testable import HeraldCampaigns

@Suite("A campaign's notification, sent to oneself first")
struct CampaignTestTests {
    private func test(
        _ users: [String], _ message: String = "Hi {{name}}", audience: String? = "user,name\nann,Ann\nbob,Bob\n"
    ) throws -> CampaignTest {
        var content = CampaignContent()
        content.title = "For {{name}}"
        content.data = ["order": "1"]
        let hasFields = audience != nil
        if !hasFields { content.title = "For you" }
        let file = try AudienceFile(audience ?? "user\n")
        defer { file.remove() }
        return try CampaignTest(
            to: users, AudienceFile.text(message, content), audience: hasFields ? try file.open() : nil, id: "test-1")
    }

    @Test(
        "Users are named with commas or spaces, each once",
        arguments: [("me,anna", ["me", "anna"]), (" me, anna ,me\n", ["me", "anna"]), ("me", ["me"])])
    func users(text: String, expected: [String]) throws {
        #expect(try CampaignTest.users(text) == expected)
    }

    @Test("Nobody, and more than 20 users, are refused")
    func bounds() {
        #expect(failure { try CampaignTest.users(" , ") } == "name the users who get it, such as me,anna")
        let many = (0...20).map { "u\($0)" }.joined(separator: ",")
        #expect(failure { try CampaignTest.users(many) }.contains("20 users at most, and 21 are named"))
    }

    @Test(
        "A user of the audience gets his own texts, others its first recipient's; no event names a campaign")
    func texts() throws {
        let test = try test(["bob", "me"])
        #expect(test.events.map(\.message) == ["Hi Bob", "Hi Ann"] && test.filledBy == "ann")
        #expect(test.events.map(\.title) == ["For Bob", "For Ann"])
        #expect(test.events.map(\.user) == ["bob", "me"] && test.events.map(\.id) == ["test-1-1", "test-1-2"])
        #expect(test.events.allSatisfy { $0.campaign == nil && $0.data == ["order": "1"] })
        #expect(test.events.allSatisfy { $0.pushServices == ["apns", "gcm"] && $0.source == "herald-campaign" })
        #expect(try self.test(["bob", "ann"]).filledBy == nil)
    }

    @Test("Without an audience only texts without fields can be sent; invalid lines fill nothing in")
    func audience() throws {
        #expect(try test(["me"], "Hi", audience: nil).events[0].message == "Hi")
        #expect(
            failure { try test(["me"], audience: nil) }
                == "the message uses {{name}}, and without --audience nothing says what stands there")
        #expect(try test(["a b"], audience: "user,name\na b,X\nann,Ann\n").events[0].message == "Hi Ann")
        #expect(
            failure { try test(["me"], audience: "user,name\na b,X\n") }
                == "the audience has no recipients, whose fields the texts need")
    }
}
