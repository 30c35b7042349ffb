import HeraldHub
import HeraldText
import Testing

@Suite("The access to a hub")
struct HubAccessTests {
    static let key = Secret("AbCdEfGhIjKlMnOpQrStUvWxYz0123456789+/AbCdE=")

    @Test(
        "A token is signed as in Microsoft's SDKs, for any audience",
        arguments: [
            ("https%3A%2F%2Fcontoso.servicebus.windows.net%2F", "mqlnPXn4QTyAyJeb1I7pyH0krMFK0N25SslkXTRzh78="),
            (
                "http%3a%2f%2fcontoso.servicebus.windows.net%2fmyhub%2fmessages%2f",
                "CDCz9WPdv1c09VCVN07HBJyzZJhxtWEEm1PuGnT0rCE="
            ),
            (
                "https%3a%2f%2fcontoso.servicebus.windows.net%2fmyhub%2fmessages%3fapi-version%3d2020-06",
                "C0vApKZsNRHC3bmWqOQgOxY7HK9PFzqc6d7/e8cpqc0="
            ),
        ])
    func vector(audience: String, signature: String) {
        let token = SharedAccessSignature(
            encodedAudience: audience, expiresAt: 1_893_456_000, keyName: "DefaultFullSharedAccessSignature",
            key: Self.key)
        #expect(token.signature == signature)
        #expect(token.isSigned(with: Self.key))
        #expect(!token.isSigned(with: Secret("another")))
        #expect(SharedAccessSignature(authorization: token.authorization) == token)
    }

    @Test("Herald signs for the whole namespace, as azure-sdk-for-js does")
    func header() throws {
        let string = try HubConnectionString(
            "Endpoint=sb://Contoso.servicebus.windows.net/;SharedAccessKeyName=DefaultFullSharedAccessSignature;"
                + "SharedAccessKey=\(Self.key.reveal())")
        #expect(
            SharedAccessSignature(for: string, expiresAt: 1_893_456_000).authorization
                == "SharedAccessSignature sr=https%3A%2F%2Fcontoso.servicebus.windows.net%2F"
                + "&sig=mqlnPXn4QTyAyJeb1I7pyH0krMFK0N25SslkXTRzh78%3D&se=1893456000"
                + "&skn=DefaultFullSharedAccessSignature")
    }

    @Test("The fields of a token may come in any order, and a missing or repeated one makes it invalid")
    func fields() {
        let token = SharedAccessSignature(authorization: "SharedAccessSignature sig=a%3D&se=12&skn=N&sr=x%2f")
        #expect(token?.encodedAudience == "x%2f")
        #expect(token?.signature == "a=")
        let mistaken = [
            "Basic abc", "SharedAccessSignature sr=x&sig=y&se=1", "SharedAccessSignature sr=x&sr=x&sig=y&se=1&skn=n",
        ]
        for text in mistaken {
            #expect(SharedAccessSignature(authorization: text) == nil)
        }
    }

    @Test("A byte-order mark before a connection string is ignored")
    func byteOrderMark() throws {
        let text = "Endpoint=sb://ns.example/;SharedAccessKeyName=n;SharedAccessKey=k"
        #expect(try HubConnectionString("\u{FEFF}" + text) == HubConnectionString(text))
    }

    @Test("A connection string is split at each part's first '=', in any order and case")
    func connectionString() throws {
        let string = try HubConnectionString(
            " sharedaccesskey=ab=cd== ; ENDPOINT=sb://localhost:8443/base/;SharedAccessKeyName=Full;")
        #expect(string.authority == "localhost:8443")
        #expect(string.basePath == "/base")
        #expect(string.origin == "https://localhost:8443")
        #expect(string.keyName == "Full")
        #expect(string.key.reveal() == "ab=cd==")
        #expect(!"\(string)".contains("ab=cd"))
    }

    @Test(
        "An unusable connection string is refused without a word of its key",
        arguments: [
            "", "nonsense", "Endpoint=sb://a/;SharedAccessKeyName=n", "SharedAccessKeyName=n;SharedAccessKey=hidden",
            "Endpoint=http://a/;SharedAccessKeyName=n;SharedAccessKey=hidden",
            "Endpoint=sb:///;SharedAccessKeyName=n;SharedAccessKey=hidden",
            "Endpoint=sb://a/;Endpoint=sb://b/;SharedAccessKeyName=n;SharedAccessKey=hidden",
            "Endpoint=sb://u@a/;SharedAccessKeyName=n;SharedAccessKey=hidden",
        ])
    func refusedString(text: String) {
        let mistake = #expect(throws: InvalidArgument.self) { try HubConnectionString(text) }
        #expect(mistake?.description.contains("hidden") == false)
    }

    @Test("A hub's name contains no characters that would change a path")
    func hubName() throws {
        try HubClient.check(hub: "my-hub_1.x")
        for name in ["", "/x", "x/", "a?b", "a b", "ä"] {
            #expect(throws: InvalidArgument.self) { try HubClient.check(hub: name) }
        }
    }
}
