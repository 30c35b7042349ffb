import HeraldText
import HeraldTools
import Testing

@Suite("The names of kept opt-outs")
struct KeptNamesTests {
    @Test("are HMAC-SHA256 of the user, in hexadecimal digits")
    func known() {
        let key = KeptNames(Secret("key")).key(of: "The quick brown fox jumps over the lazy dog".utf8.span.bytes)
        #expect(
            String(decoding: key, as: UTF8.self)
                == "hash:f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8")
    }

    @Test("are others with another secret, and for another user")
    func different() {
        let names = [("one", "ann"), ("two", "ann"), ("one", "bob")].map { secret, user in
            KeptNames(Secret(secret)).key(of: user.utf8.span.bytes)
        }
        #expect(Set(names).count == 3)
    }
}
