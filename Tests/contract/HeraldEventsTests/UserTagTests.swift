import HeraldEvents
import Testing

@Suite("The alphabet of users")
struct UserTagTests {
    private static let legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@#.:-"

    @Test("Every legal character is a user on its own, every other ASCII character is not")
    func everyASCII() {
        for byte in UInt8(0)..<128 {
            let scalar = Unicode.Scalar(byte)
            let json = "\"\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16) + "\""
            let decoding = Decoding(eventJSON(["user": json]))
            #expect((decoding.failure == nil) == Self.legal.unicodeScalars.contains(scalar), "U+\(byte)")
        }
        #expect(Decoding(eventJSON(["user": "\"\(Self.legal)\""])).user == Self.legal)
    }

    @Test(
        "A user that no tag can hold is invalid, and the reason says why",
        arguments: [
            ("", "empty"), ("josé", "'é' (U+00E9)"), ("ann || bob", "tag expression"), ("!ann", "tag expression"),
            ("(ann)", "tag expression"), ("ann&&bob", "tag expression"), ("a b", "tag expression"),
            ("ann&pns=wns", "'&' (U+0026)"), ("ann\\r\\nX: 1", "U+000D"), ("🎉", "U+1F389"), ("a\\u202eb", "U+202E"),
            ("a,b", "','"), ("a/b", "'/'"), ("a%20b", "'%'"), ("a+b", "'+'"), ("аnn", "U+0430"),
            (String(repeating: "x", count: 112), "112 characters"),
        ])
    func illegal(user: String, why: String) {
        let decoding = Decoding(eventJSON(["user": "\"\(user)\""]))
        #expect(decoding.failure?.reason == .invalid)
        #expect(decoding.failure?.detail.contains(why) == true, "\(decoding.failure?.detail ?? "")")
    }

    @Test("The longest user has 111 characters")
    func longest() {
        let user = String(repeating: "x", count: 111)
        #expect(Decoding(eventJSON(["user": "\"\(user)\""])).user == user)
    }

    @Test("A user that is far too long is not kept for the result")
    func farTooLong() {
        let decoding = Decoding(eventJSON(["user": "\"\(String(repeating: "x", count: 5_000))\""]))
        #expect(decoding.failure?.reason == .invalid)
        #expect(decoding.user == nil)
    }
}
