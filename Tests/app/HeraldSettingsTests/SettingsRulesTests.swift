import HeraldEvents
import HeraldSettings
import Testing

@Suite("Rules across several settings")
struct SettingsRulesTests {
    @Test(
        "A broken rule is one mistake at the setting's place",
        arguments: [
            ("kafka: {staticMembership: true}", "1:27: kafka.staticMembership: needs kafka.instance"),
            ("topics: {results: notifications}", "topics.results and topics.requests both name \"notifications\""),
            ("topics: {results: a.b, deadLetter: a_b}", "topics.deadLetter and topics.results both name \"a_b\""),
            (
                "topics: {retry: notifications}",
                "\"notifications.bulk\" (topics.requests) begins with \"notifications.\""
            ),
            ("topics: {deadLetter: notifications.retry.dead}", "as only retry topics may"),
            ("topics: {retention: 12h}", "is shorter than retry.maxElapsed"),
            ("topics: {requests: [notifications.results]}", "topics.results and topics.requests both name"),
            ("retry: {maxElapsed: 8d}", "retry.maxElapsed: topics.retention is shorter than retry.maxElapsed"),
            ("preferences: {enabled: true}", "preferences.enabled: needs topics.classes, because what is promotional"),
            ("topics: {classes: {bulk: promotional}}", "\"bulk\" is none of topics.requests; allowed: notifications"),
            ("preferences: {caps: [3/24h]}", "preferences.caps: needs preferences.enabled"),
            ("preferences: {caps: [{limit: 3}]}", "preferences.caps[0]: has no per; allowed: "),
            ("preferences: {caps: [{limit: 0, per: 1h}]}", "preferences.caps[0].limit: \"0\" is out of range"),
            ("preferences: {caps: [{limit: 1, per: 10s}]}", "preferences.caps[0].per: \"10s\" is out of range"),
            (
                "preferences: {caps: [{class: transactional, limit: 1, per: 1h}]}",
                "preferences.caps[0].class: has to be promotional: transactional events are never capped"
            ),
            ("preferences: {caps: [{limit: 1, per: 1h, each: day}]}", "preferences.caps[0].each: unknown key"),
            (
                "preferences: {caps: [1/1h, {source: '*', limit: 1, per: 1h}]}",
                "preferences.caps[1]: is the same as [0]"
            ),
            ("preferences: {caps: [0/1h]}", "preferences.caps[0]: is no cap; allowed: "),
            ("topics: {caps: notifications}", "topics.caps and topics.requests both name"),
            ("topics: {recalls: notifications}", "topics.recalls and topics.requests both name"),
            ("backend: {aliases: {fcm: firebase}}", "which backend.pushServices lacks; allowed: apns, gcm, wns"),
            ("backend: {aliases: {gcm: apns}}", "is one of backend.pushServices, so it cannot be an alias"),
            ("backend: {tls: {certificateFile: a}}", "needs backend.tls.keyFile"),
            ("backend: {tls: {keyFile: a}}", "needs backend.tls.certificateFile"),
            ("backend: {auth: {password: a, passwordFile: b}}", "and backend.auth.password are both set"),
            ("backend: {auth: {token: a, tokenFile: b}}", "and backend.auth.token are both set"),
            ("admin: {token: a, tokenFile: b}", "and admin.token are both set"),
            (
                "backend: {auth: {clientSecret: a, clientSecretFile: b}}", "and backend.auth.clientSecret are both set"
            ),
            ("backend: {proxyPasswordFile: a}", "needs a user in backend.proxy"),
            ("backend: {proxy: 'http://proxy:1', proxyPasswordFile: a}", "needs a user in backend.proxy"),
            ("backend: {proxy: 'http://u:p@q@proxy:1', proxyPasswordFile: a}", "backend.proxy are both set"),
        ])
    func broken(yaml: String, message: String) {
        let found = mistakes(yaml)
        #expect(found.contains { $0.contains(message) && $0.hasPrefix("herald.yaml:1:") }, "\(found)")
    }

    @Test("Without a promotional topic, classes are written as an empty map")
    func classes() {
        #expect(mistakes("{preferences: {enabled: true}, topics: {classes: {}}}") == [])
        #expect(mistakes("{topics: {classes: {notifications.bulk: promotional}}}") == [])
    }

    @Test("Caps are maps or short texts, of all sources or one")
    func caps() {
        #expect(
            mistakes(
                "{preferences: {enabled: true, caps: [{class: promotional, source: shop, limit: 1, per: 7d}, 3/24h]}, "
                    + "topics: {classes: {}}}") == [])
        #expect(CapRule("3/24h")?.text == "3/24h")
        for text in ["", "3", "3/", "/1h", "101/1h", "3/30s", "3/32d", "3/1h/2"] { #expect(CapRule(text) == nil) }
    }

    @Test("A setting that is invalid by itself breaks no rule on top")
    func noEcho() {
        #expect(mistakes("backend: {pushServices: [UPPER], aliases: {fcm: gcm}}").count == 1)
        #expect(mistakes("kafka: {staticMembership: true, instance: 'a b'}").count == 1)
    }

    @Test("A command's missing settings are reported together with the other mistakes")
    func needs() {
        let found = mistakes("log: {level: loud}", requiring: [.kafka, .backend])
        #expect(found.count == 5)
        for name in ["log.level", "kafka.bootstrapServers", "backend.url", "backend.auth.username"] {
            #expect(found.contains { $0.contains(name) }, "\(name)")
        }
        #expect(found.contains { $0.contains("HERALD_BACKEND_AUTH_PASSWORD_FILE or --backend-auth-password-file") })
        #expect(mistakes("backend: {url: http://h, auth: {kind: none}}", requiring: .backend) == [])
        #expect(mistakes("backend: {url: http://h, auth: {kind: bearer, token: t}}", requiring: .backend) == [])
        #expect(mistakes("kafka: {bootstrapServers: []}", requiring: .kafka).first?.contains("is empty") == true)
        #expect(
            mistakes("backend: {url: http://h, auth: {kind: oauth2}}", requiring: .backend).map {
                $0.prefix { $0 != ":" }
            } == ["backend.auth.tokenURL", "backend.auth.clientID", "backend.auth.clientSecretFile"])
        let oauth2 =
            "backend: {url: http://h, auth: {kind: oauth2, tokenURL: 'https://t?x=1', clientID: c, clientSecret: s}}"
        #expect(mistakes(oauth2, requiring: .backend) == [])
        #expect(
            mistakes("backend: {url: http://h, auth: {kind: bearer}}", requiring: .backend).first?
                .contains("backend.auth.tokenFile: is missing") == true)
    }

    @Test("Files that the backend needs must be readable when the backend is needed, and only then")
    func files() {
        let yaml = """
            backend:
              url: https://h
              auth: {username: u, passwordFile: /nonexistent/p}
              tls: {caFile: /nonexistent/ca}
            """
        #expect(mistakes(yaml) == [])
        let found = mistakes(yaml, requiring: .backend)
        #expect(found.count == 2)
        #expect(
            found.contains {
                $0.hasPrefix("herald.yaml:3:37: backend.auth.passwordFile: \"/nonexistent/p\" cannot be read")
            })
        #expect(found.contains { $0.contains("backend.tls.caFile: \"/nonexistent/ca\" cannot be read") })
    }

    @Test("A backend's address that already contains the path of calls draws a warning")
    func doubledPath() throws {
        func warnings(_ backend: String) throws -> [String] {
            try load("backend: {\(backend)}").warnings.map { "\($0)" }
        }
        let doubled = try warnings("url: 'https://h/api/notifications'")
        #expect(doubled.count == 1 && doubled[0].contains("/api/notifications/api/notifications"), "\(doubled)")
        #expect(try warnings("url: 'https://h/api/notifications/', path: /v1") == [])
        #expect(try warnings("url: 'https://h/base'") == [])
    }

    @Test("Credentials over plain http draw a warning, except to this machine")
    func plainHTTP() throws {
        #expect(try load("backend: {url: http://push.example.com}").warnings.map(\.path) == ["backend.url"])
        #expect(
            try load("backend: {auth: {kind: oauth2, tokenURL: 'http://login.example.com/t?x=1'}}").warnings.map(\.path)
                == ["backend.auth.tokenURL"])
        for yaml in [
            "backend: {auth: {kind: oauth2, tokenURL: 'https://login.example.com/t'}}",
            "backend: {auth: {kind: oauth2, tokenURL: 'http://localhost:8080/t'}}",
            "backend: {auth: {kind: basic, tokenURL: 'http://login.example.com/t'}}",
            "backend: {url: http://127.0.0.1:80}", "backend: {url: https://push.example.com}",
            "backend: {url: http://push.example.com, auth: {kind: none}}", "",
        ] {
            #expect(try load(yaml).warnings.isEmpty, "\(yaml)")
        }
    }

    @Test("A secret on the command line draws a warning")
    func secretFlag() throws {
        let loaded = try load(flags: ["backend-auth-password": ["canary"]])
        #expect(loaded.warnings.first?.description.contains("use --backend-auth-password-file") == true)
        let proxy = try load(flags: ["backend-proxy": ["http://u:canary@proxy:3128"]])
        #expect(proxy.warnings.first?.description.contains("use --backend-proxy-password-file") == true)
        #expect(!"\(proxy.warnings) \(proxy.effective)".contains("canary"))
        #expect(try load(flags: ["backend-proxy": ["http://u@proxy:3128"]]).warnings.isEmpty)
    }
}
