import Testing

@testable import HeraldBackend

@Suite("The idempotency key")
struct IdempotencyKeyTests {
    private func key(_ id: String, _ user: String, source: String? = nil, _ pushService: String = "gcm") -> String {
        var output = Array("Key: ".utf8)
        func append(_ source: RawSpan?) {
            IdempotencyKey.append(
                id: Array(id.utf8).span.bytes, user: Array(user.utf8).span.bytes, source: source,
                pushService: Array(pushService.utf8).span.bytes, to: &output)
        }
        if let source { append(Array(source.utf8).span.bytes) } else { append(nil) }
        return String(decoding: output.dropFirst(5), as: UTF8.self)
    }

    @Test("is readable where nothing needs encoding, and its only colons separate its parts")
    func readable() {
        #expect(key("order-17", "anna") == "order-17:anna:gcm")
        #expect(key("order-17", "anna", source: "shop") == "order-17:anna:shop:gcm")
        #expect(key("notifications/3/42", "anna") == "notifications/3/42:anna:gcm")
        #expect(key("a:b c%\r\n", "x@y:z", source: "") == "a%3Ab%20c%25%0D%0A:x%40y%3Az::gcm")
    }

    @Test("differs for every source, user, id and push service")
    func different() {
        let keys = [
            key("1", "u"), key("2", "u"), key("1", "v"), key("1", "u", source: ""), key("1", "u", source: "s"),
            key("1", "u", "apns"), key("1:u", "u"), key("1", "u:u"), key("1", "s", source: "u"), key("1%3Au", "u"),
        ]
        #expect(Set(keys).count == keys.count)
    }

    @Test("is the SHA-256 of the long form when that has more than 128 bytes")
    func long() {
        let id = String(repeating: "a", count: 128 - ":u:gcm".count)
        #expect(key(id, "u") == "\(id):u:gcm")
        #expect(
            key(id + "a", "u") == "sha256:e40ffdf2e2ff88e0cbfef5fec4698d1dd5eb61ac24584445e3841c14052f85cc")
        #expect(key(String(repeating: "é", count: 128), "u").utf8.count == 71)
    }
}
