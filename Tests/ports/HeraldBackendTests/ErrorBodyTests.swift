import Testing

@testable import HeraldBackend

@Suite("Error bodies as one line")
struct ErrorBodyTests {
    private func line(_ bytes: [UInt8]) -> String? { ErrorBody.line(bytes.span.bytes) }

    @Test(
        "The message of a JSON body is found",
        arguments: [
            (#"{"Message":"An error has occurred."}"#, "An error has occurred."),
            (
                #"{"Message":"An error has occurred.","ExceptionMessage":"No such pns","StackTrace":"at X\r\n at Y"}"#,
                "An error has occurred.: No such pns"
            ),
            (
                #"{"type":"about:blank","title":"Bad Request","detail":"user is\nunknown","status":400}"#,
                "Bad Request: user is unknown"
            ),
            (#"{"error":"quota exceeded"}"#, "quota exceeded"),
            (#"{"error":{"code":7,"message":"quota exceeded"}}"#, "quota exceeded"),
            (#"{"error":"invalid_token","error_description":"expired"}"#, "invalid_token: expired"),
            (#"[{"message":"first"},{"message":"second"}]"#, "first"),
            (#""just text""#, "just text"),
            (#"{"title":"same","detail":"same"}"#, "same"),
            (
                #"{"title":"Not valid.","status":400,"errors":{"Message":["is required","is short"],"$.a":["is no text"]}}"#,
                "Not valid.: $.a: is no text; Message: is required"
            ),
            (#"{"errors":[{"message":"first"},{"message":"second"}]}"#, "first"),
            (#"{"errors":{"title":{"message":"too long"},"x":7}}"#, "title: too long"),
            (#"{"errors":{}}"#, #"{"errors":{}}"#),
            (#"{"code":7}"#, #"{"code":7}"#),
            (#"{"error":"cut"#, #"{"error":"cut"#),
        ])
    func json(body: String, expected: String) {
        #expect(line(Array(body.utf8)) == expected)
    }

    @Test(
        "The message of an XML or HTML body is found",
        arguments: [
            ("<Error><Message>An error has occurred.</Message></Error>", "An error has occurred."),
            (
                "<Error><Code>7</Code><Message>A &lt;b&gt; &amp; c&#33;&#x21;</Message><ExceptionMessage>No</ExceptionMessage></Error>",
                "A <b> & c!!: No"
            ),
            (#"<?xml version="1.0"?><string xmlns="http://x/">no such user</string>"#, "no such user"),
            ("<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1></body></html>", "502 Bad Gateway"),
            ("<a>one</a> <b>two &nonsense; &</b>", "one two &nonsense; &"), ("<", nil), ("<>", nil),
        ] as [(String, String?)])
    func xml(body: String, expected: String?) {
        #expect(line(Array(body.utf8)) == expected)
    }

    @Test("Control, bidi and format characters become spaces, and a body that is not text is ignored")
    func hostile() {
        #expect(line(Array("a\r\n\u{1B}[31mb\u{202E}c\u{0}\u{200B}d\u{85}\u{2028}e ".utf8)) == "a [31mb c d e")
        #expect(line([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF]) == nil)
        #expect(line(Array(" \r\n\t".utf8)) == nil)
        #expect(line([]) == nil)
    }

    @Test("Text in UTF-16 and in Latin-1 is read, and gzip is named")
    func encodings() {
        let text = #"{"detail":"größer – als"}"#
        let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for body in [little, big, [0xFF, 0xFE] + little, [0xFE, 0xFF] + big, [0xEF, 0xBB, 0xBF] + Array(text.utf8)] {
            #expect(line(body) == "größer – als")
        }
        #expect(line([0x67, 0x72, 0xF6, 0xDF, 0x65, 0x72]) == "größer")
        #expect(line([0x1F, 0x8B, 0x08, 0x00, 0xFF])?.contains("gzip") == true)
        #expect(line([0xFF, 0x01, 0x02, 0x03]) == nil)
    }

    @Test("A line has at most 1 KiB, and never half a character", arguments: ["x", "ü", "€", "🎉"])
    func long(character: String) throws {
        let text = try #require(line(Array(String(repeating: character, count: 3_000).utf8)))
        #expect(text.utf8.count <= 1_024 && text.utf8.count > 1_020)
        #expect(text.allSatisfy { String($0) == character })
    }

    @Test("Nesting costs no more than a line", arguments: ["[", "{\"error\":", "<a>"])
    func nesting(piece: String) {
        let body = String(repeating: piece, count: 60_000 / piece.utf8.count)
        #expect((line(Array(body.utf8))?.utf8.count ?? 0) <= 1_024)
    }
}
