import HeraldText
import Testing

@testable import HeraldBackend

@Suite("A backend's echo of a request")
struct RedactionTests {
    @Test("Tokens, passwords and their Base64 forms are not passed on")
    func secrets() throws {
        let basic = try #require(
            Credentials.basic(username: "herald", password: Secret("pass:word-1")).authorization)
        let redaction = Redaction(authorization: basic)
        #expect(redaction.hidingSecrets(in: "no: \(basic), that is pass:word-1!") == "no: Basic ***, that is ***!")
        let bearer = Redaction(authorization: "Bearer abcdefgh")
        #expect(bearer.hidingSecrets(in: "{Authorization: Bearer abcdefgh}") == "{Authorization: Bearer ***}")
        #expect(Redaction(authorization: nil).hidingSecrets(in: "all is well") == "all is well")
    }

    @Test(
        "A secret across the cut is removed completely, in text, JSON and XML",
        arguments: [("", ""), (#"{"message":""#, #""}"#), ("<error><message>", "</message></error>")])
    func cut(before: String, after: String) {
        let redaction = Redaction(authorization: "Bearer \(String(repeating: "s", count: 40))")
        for padding in 980...1_024 {
            let text = before + String(repeating: "x", count: padding) + String(repeating: "s", count: 40) + after
            let body = Array(text.utf8)
            let line = ErrorBody.line(body.span.bytes, hiding: redaction) ?? "s"
            #expect(!line.contains("s") && line.utf8.count <= OneLine.limit, "\(padding)")
        }
    }

    @Test("Secrets of former credentials are removed from late answers")
    func former() {
        var redaction = Redaction(authorization: "Bearer first-token")
        redaction.learn("Bearer second-token")
        #expect(redaction.hidingSecrets(in: "first-token, second-token") == "***, ***")
    }

    @Test("A secret too short to be distinguished from a word stays")
    func short() {
        #expect(Redaction(authorization: "Bearer not").hidingSecrets(in: "not found") == "not found")
    }

    @Test(
        "A short secret is removed as a separate word, and not within longer words",
        arguments: [
            ("wrong password ida:geheim", "wrong password ida:***"), ("geheim", "***"),
            ("geheim, (geheim) \"geheim\"", "***, (***) \"***\""), ("insgeheim and geheime", "insgeheim and geheime"),
        ])
    func shortWord(line: String, expected: String) throws {
        let basic = try #require(Credentials.basic(username: "ida", password: Secret("geheim")).authorization)
        #expect(Redaction(authorization: basic).hidingSecrets(in: line) == expected)
    }

    @Test(
        "A message in its JSON form is not passed on either",
        arguments: [
            (#"bad body: {"message":"say \"hi\" & <b>"}"#, #"bad body: {"message":"(the message)"}"#),
            (#"bad: say "hi" & <b>"#, "bad: (the message)"),
        ])
    func escapedMessage(line: String, expected: String) {
        #expect(Redaction.hiding(Array(#"say "hi" & <b>"#.utf8).span.bytes, in: line) == expected)
    }

    @Test(
        "A message is not passed on, whether whole, in part or repeated",
        arguments: [
            ("bad message 'Your code is 123456'!", "bad message '(the message)'!"),
            ("Your code is 123456 Your code is 123456", "(the message) (the message)"),
            ("message too long: Your code is 123…", "message too long: (the message)…"),
            ("two lines: Your code is 123456", "two lines: (the message)"),
            ("Your code is wrong", "Your code is wrong"), ("", ""),
        ])
    func message(line: String, expected: String) {
        let message = Array("Your code\n is 123456".utf8)
        #expect(Redaction.hiding(message.span.bytes, in: line) == expected)
    }

    @Test("Another text is replaced by its own name")
    func title() {
        let title = Array("Your parcel".utf8)
        #expect(
            Redaction.hiding(title.span.bytes, named: "title", in: "too long: Your parcel") == "too long: (the title)")
    }

    @Test("A message of three characters stays, and one of four does not")
    func shortMessage() {
        #expect(Redaction.hiding(Array("the".utf8).span.bytes, in: "not the one") == "not the one")
        #expect(Redaction.hiding(Array("pssst".utf8).span.bytes, in: "not pssst") == "not (the message)")
    }
}
