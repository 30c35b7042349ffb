import HeraldHTTP
import HeraldText
import HeraldTime
import Testing

@testable import HeraldBackend

@Suite("The backend's configuration")
struct BackendConfigurationTests {
    private let alice = Credentials.basic(username: "alice", password: Secret("wonder"))

    @Test(
        "A URL that cannot be called is refused",
        arguments: [
            "", "backend", "ftp://backend", "backend.example.org:80", "http://", "http://alice@backend",
            "http://alice:pw@backend", "http://backend?x=1", "http://backend#top", "http://back end",
            "http://backend:0",
            "http://backend:99999", "http://bäckend", "http://backend\r\nX: y", "//backend",
        ])
    func badURLs(url: String) {
        #expect(throws: InvalidArgument.self) { try BackendConfiguration(url: url, credentials: .none) }
    }

    @Test(
        "A URL is split into its parts",
        arguments: [
            ("http://backend", "http://backend", "backend", "/api/notifications"),
            ("HTTPS://backend:8443/", "https://backend:8443", "backend:8443", "/api/notifications"),
            (
                "https://api.example.org/push/v1/", "https://api.example.org", "api.example.org",
                "/push/v1/api/notifications"
            ),
            ("http://[::1]:80", "http://[::1]:80", "[::1]:80", "/api/notifications"),
        ])
    func goodURLs(url: String, origin: String, authority: String, path: String) throws {
        let configuration = try BackendConfiguration(url: url, credentials: alice)
        #expect(configuration.address.origin == origin)
        #expect(configuration.address.authority == authority)
        #expect(configuration.path == path)
    }

    @Test("Unusable paths and limits are refused")
    func otherMistakes() {
        for path in ["", "api", "/a b", "/a?b", "/a#b", "/a\r\nX: y"] {
            #expect(throws: InvalidArgument.self) {
                try BackendConfiguration(url: "http://backend", path: path, credentials: .none)
            }
            #expect(throws: InvalidArgument.self) {
                try BackendConfiguration(url: "http://backend", registerPath: path, credentials: .none)
            }
        }
        for timeout in [Duration.zero, .seconds(-1), .seconds(86_401)] {
            #expect(throws: InvalidArgument.self) {
                try BackendConfiguration(url: "http://backend", timeout: timeout, credentials: .none)
            }
        }
        #expect(throws: InvalidArgument.self) {
            try BackendConfiguration(url: "http://backend", connectTimeout: .zero, credentials: .none)
        }
        #expect(throws: InvalidArgument.self) {
            try BackendConfiguration(url: "http://backend", connectionLimit: 0, credentials: .none)
        }
    }

    @Test("Connecting may take a part of the call's time, never more", arguments: [(2, 2_000), (20, 5_000)])
    func connectTimeout(seconds: Int, milliseconds: Int) throws {
        let configuration = try BackendConfiguration(
            url: "http://backend", timeout: .seconds(seconds), credentials: .none)
        #expect(configuration.timeout == .seconds(seconds))
        #expect(configuration.connections.connectTimeout == .milliseconds(milliseconds))
    }

    @Test(
        "Credentials that cannot be sent are refused, without showing them",
        arguments: [
            Credentials.basic(username: "al:ice", password: Secret("canary")),
            .basic(username: "alice", password: Secret("can\nary")), .bearer(token: Secret("")),
            .bearer(token: Secret("canary\r\nX: y")), .bearer(token: Secret("canary canary")),
        ])
    func badCredentials(credentials: Credentials) {
        let error = #expect(throws: InvalidArgument.self) {
            try BackendConfiguration(url: "http://localhost", credentials: credentials)
        }
        #expect(error?.description.contains("canary") == false)
    }

    @Test(
        "Credentials become a header",
        arguments: [
            (Credentials.basic(username: "alice", password: Secret("wonder")), "Basic YWxpY2U6d29uZGVy"),
            (.basic(username: "", password: Secret("")), "Basic Og=="),
            (.basic(username: "jürgen", password: Secret("p:w")), "Basic asO8cmdlbjpwOnc="),
            (.bearer(token: Secret("abc.def")), "Bearer abc.def"), (.none, nil),
        ] as [(Credentials, String?)])
    func headers(credentials: Credentials, header: String?) {
        #expect(credentials.mistake == nil)
        #expect(credentials.authorization == header)
    }

    @Test("A secret appears in no form of printing")
    func secrets() {
        let credentials = Credentials.basic(username: "alice", password: Secret("canary"))
        var dumped = ""
        dump(credentials, to: &dumped)
        let texts = ["\(credentials)", String(reflecting: credentials), dumped, "\(Secret("canary"))"]
        #expect(texts.allSatisfy { !$0.contains("canary") })
    }

    @Test(
        "Credentials sent unencrypted to another machine cause a warning",
        arguments: [
            ("http://backend.example.org", true), ("http://10.0.0.1", true), ("http://127.0.0.1.example.org", true),
            ("https://backend.example.org", false), ("http://localhost:8080", false), ("http://127.1.2.3", false),
            ("http://[::1]:80", false), ("http://api.localhost", false),
        ])
    func warnings(url: String, isWarned: Bool) throws {
        #expect(try BackendConfiguration(url: url, credentials: alice).warnings.isEmpty != isWarned)
        #expect(try BackendConfiguration(url: url, credentials: .none).warnings.isEmpty)
    }
}
