import HeraldHTTP
import HeraldText
import HeraldTime
import TestSupport
import Testing

@testable import HeraldBackend

@Suite("The token endpoint's HTTP")
struct TokenRequestVersionTests {
    /// The outcome of a request to an endpoint that agrees to HTTP/2, or does not know it.
    private func outcome(_ versions: HTTPVersions, offersHTTP2: Bool) throws -> TokenRequest.Outcome {
        let certificates = try TestCertificates.shared()
        let server = try ScriptedServer(tls: offersHTTP2 ? certificates.good.withHTTP2 : certificates.good) { wire in
            if offersHTTP2, versions != .http1 {
                let peer = try HTTP2Peer(wire)
                let call = try peer.readCall()
                try peer.answer(call.stream, body: #"{"access_token":"over-2"}"#)
            } else {
                _ = try wire.readRequest()
                let body = #"{"access_token":"over-1.1"}"#
                try wire.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        defer { server.stop() }
        let client = ClientCredentials(
            tokenURL: "\(server.origin)/token", clientID: "herald", clientSecret: Secret("canary"))
        return TokenRequest(client).perform(
            timeout: .seconds(20), proxy: nil, tls: TLSFiles(caFile: certificates.authorityFile),
            versions: versions, isCancelled: { false })
    }

    @Test("HTTP/2 is used where it is agreed on, unless it is forbidden", arguments: [HTTPVersions.agreed, .http2])
    func agreed(versions: HTTPVersions) throws {
        let over2 = try outcome(versions, offersHTTP2: true)
        #expect(over2 == .token(Secret("over-2"), lifetimeSeconds: nil))
        let over1 = try outcome(.http1, offersHTTP2: true)
        #expect(over1 == .token(Secret("over-1.1"), lifetimeSeconds: nil))
    }

    @Test("HTTP/2 is not demanded of an endpoint that has HTTP/1.1 alone", arguments: [HTTPVersions.agreed, .http2])
    func notDemanded(versions: HTTPVersions) throws {
        let outcome = try outcome(versions, offersHTTP2: false)
        #expect(outcome == .token(Secret("over-1.1"), lifetimeSeconds: nil))
    }
}

@Suite("Token requests and their answers")
struct TokenRequestTests {
    private func client(
        _ id: String = "herald", _ secret: String = "canary", scope: String? = nil,
        _ authentication: ClientCredentials.Authentication = .post
    ) -> ClientCredentials {
        ClientCredentials(
            tokenURL: "https://login.example.com/token", clientID: id, clientSecret: Secret(secret), scope: scope,
            authentication: authentication)
    }

    @Test("With client_secret_post, id and secret are in the form, encoded")
    func post() {
        let request = TokenRequest(client("a b:c&d=é", "s+/=~ %ü", scope: "api://backend/.default offline"))
        #expect(
            request.form == "grant_type=client_credentials&scope=api%3A%2F%2Fbackend%2F.default+offline"
                + "&client_id=a+b%3Ac%26d%3D%C3%A9&client_secret=s%2B%2F%3D~+%25%C3%BC")
        #expect(request.authorization == nil)
    }

    @Test("With client_secret_basic they are in the header, form-encoded before Base64 (RFC 6749 §2.3.1)")
    func basic() {
        let request = TokenRequest(client("a b:c", "s+/=é", .basic))
        #expect(request.form == "grant_type=client_credentials")
        // a+b%3Ac:s%2B%2F%3D%C3%A9
        #expect(request.authorization == "Basic YStiJTNBYzpzJTJCJTJGJTNEJUMzJUE5")
    }

    @Test(
        "A token is read in the forms of known endpoints",
        arguments: [
            // Azure AD, version 2 and version 1.
            (
                #"{"token_type":"Bearer","expires_in":3599,"ext_expires_in":3599,"access_token":"eyJ0.eyJh.c2ln"}"#,
                3_599
            ),
            (
                #"{"token_type":"Bearer","expires_in":"3599","expires_on":"1700000000","resource":"api://b","#
                    + #""access_token":"eyJ0.eyJh.c2ln"}"#,
                3_599
            ),
            // Keycloak.
            (
                #"{"access_token":"eyJ0.eyJh.c2ln","expires_in":300,"refresh_expires_in":0,"token_type":"Bearer","#
                    + #""not-before-policy":0,"scope":"profile email"}"#,
                300
            ),
            (#"{"access_token":"eyJ0.eyJh.c2ln","token_type":"bearer"}"#, nil),
            (#"{"access_token":"eyJ0.eyJh.c2ln"}"#, nil),
            (#"{"access_token":"eyJ0.eyJh.c2ln","expires_in":null}"#, nil),
            (#"{"access_token":"eyJ0.eyJh.c2ln","expires_in":-7}"#, 0),
            (#"{"access_token":"eyJ0.eyJh.c2ln","expires_in":1e300}"#, 1_000_000_000),
            (#"{"access_token":"eyJ0.eyJh.c2ln","expires_in":"soon"}"#, nil),
            (#"{"access_token":"eyJ0.eyJh.c2ln","expires_in":"nan"}"#, nil),
        ] as [(String, Int64?)])
    func tokens(body: String, lifetime: Int64?) {
        let outcome = TokenRequest(client()).outcome(
            of: .response(.init(status: 200, body: Array(body.utf8))))
        #expect(outcome == .token(Secret("eyJ0.eyJh.c2ln"), lifetimeSeconds: lifetime))
    }

    @Test(
        "An answer without a Bearer token is refused",
        arguments: [
            "", "null", "[]", "<html>", #"{"access_token":7}"#, #"{"access_token":""}"#, #"{"access_token":"a b"}"#,
            #"{"access_token":"a\r\nX: y"}"#, #"{"access_token":"abc","token_type":"mac"}"#, #"{"token":"abc"}"#,
            #"{"access_token":"\#(String(repeating: "x", count: 40_000))"}"#,
        ])
    func noToken(body: String) {
        let outcome = TokenRequest(client()).outcome(
            of: .response(.init(status: 200, body: Array(body.utf8))))
        guard case .none(.noToken) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test(
        "An error becomes one sentence with a remedy",
        arguments: [
            // Azure AD and Keycloak.
            (401, #"{"error":"invalid_client","error_description":"AADSTS7000215: Invalid secret."}"#, "clientSecret"),
            (401, #"{"error":"unauthorized_client","error_description":"Invalid client credentials"}"#, "grant"),
            (400, #"{"error":"invalid_scope","error_description":"Invalid scopes: x"}"#, "backend.auth.scope"),
            (400, #"{"error":"unsupported_grant_type"}"#, "grant"),
            (404, "<html><title>Not Found</title></html>", "tokenURL"), (302, "", "redirects are not followed"),
            (503, "busy", "by itself"), (429, "", "by itself"), (401, "", "clientSecret"),
        ])
    func errors(status: Int, body: String, advice: String) {
        let outcome = TokenRequest(client()).outcome(
            of: .response(.init(status: status, retryAfterSeconds: 7, body: Array(body.utf8))))
        guard case .none(let trouble) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(trouble.description.contains("\(status)") && trouble.description.contains(advice))
        #expect(
            !trouble.description.contains("\n") && !trouble.isUnreachable && trouble.retryAfter == .seconds(7))
    }

    @Test("An unreachable endpoint is reported as such, with the settings to check", arguments: FailureKind.allCases)
    func unreachable(kind: FailureKind) {
        let outcome = TokenRequest(client()).outcome(of: .failure(kind, detail: "it is so"))
        guard case .none(let trouble) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(trouble.isUnreachable && trouble.description.contains("it is so"))
        #expect(trouble.description.contains("check "))
    }

    @Test("An endpoint that echoes the secret does not bring it into the sentence", arguments: ["canary", "a&b"])
    func secret(secret: String) {
        let echo = #"{"error":"invalid_client","error_description":"got \#(secret) and a%26b"}"#
        let outcome = TokenRequest(client("herald", secret)).outcome(
            of: .response(.init(status: 400, body: Array(echo.utf8))))
        #expect(!"\(outcome)".contains(secret) && "\(outcome)".contains("***"))
        #expect(secret == "canary" || !"\(outcome)".contains("a%26b"))
    }

    @Test(
        "Client credentials that cannot be sent are refused, without showing them",
        arguments: [
            ("ftp://h/token", "id", "canary", nil), ("https://", "id", "canary", nil),
            ("https://u:p@h/token", "id", "canary", nil), ("https://h/token#x", "id", "canary", nil),
            ("https://h/to ken", "id", "canary", nil), ("https://h/token", "", "canary", nil),
            ("https://h/token", "i\nd", "canary", nil), ("https://h/token", "id", "", nil),
            ("https://h/token", "id", "can\nary", nil), ("https://h/token", "id", "canary", "é"),
        ] as [(String, String, String, String?)])
    func mistakes(url: String, id: String, secret: String, scope: String?) {
        let client = ClientCredentials(tokenURL: url, clientID: id, clientSecret: Secret(secret), scope: scope)
        let error = #expect(throws: InvalidArgument.self) {
            try BackendConfiguration(url: "https://backend", credentials: .oauth2(client))
        }
        #expect(error?.description.contains("canary") == false)
    }

    @Test("A token endpoint over plain http on another machine causes a warning")
    func warning() throws {
        for (url, isWarned) in [
            ("http://login.example.com/token?tenant=1", true), ("http://127.0.0.1:80/token", false),
            ("https://login.example.com/token?tenant=1", false),
        ] {
            let client = ClientCredentials(tokenURL: url, clientID: "id", clientSecret: Secret("canary"))
            let configuration = try BackendConfiguration(url: "https://backend", credentials: .oauth2(client))
            #expect(configuration.warnings.isEmpty != isWarned)
            #expect(!configuration.warnings.contains { $0.contains("canary") })
        }
    }
}
