import HeraldEvents
import HeraldSettings
import HeraldTime
import Testing

@Suite("The types of settings")
struct SettingTypeTests {
    @Test(
        "A valid value is accepted",
        arguments: [
            ("retry-immediate", "0"), ("retry-immediate", "20"), ("kafka-static-membership", "false"),
            ("backend-timeout", "1ms"), ("delivery-drain-timeout", "0"), ("limits-event-bytes", "65536"),
            ("limits-event-bytes", "64KiB"), ("limits-event-bytes", "16MiB"), ("delivery-ordering", "none"),
            ("backend-url", "https://push.example.com"), ("backend-url", "http://[::1]:8080/base/"),
            ("backend-url", "HTTP://h"), ("backend-proxy", "http://user:p@ss@proxy:3128"),
            ("backend-proxy", "socks5h://proxy:1080"), ("admin-listen", "off"),
            ("admin-listen", "0.0.0.0:0"), ("admin-listen", "[::1]:9464"), ("admin-token-file", "/run/token"),
            ("kafka-bootstrap-servers", "a:9092,b:9092"), ("kafka-bootstrap-servers", "SASL_SSL://a:9093,[::1]:9092,c"),
            ("topics-requests", "a,b=5"), ("backend-statuses", "403=rejected,404=transient"),
            ("backend-aliases", "fcm=gcm"), ("backend-auth-username", "jörg@example.com"),
            ("retry-delays", "100ms,1s,1m"), ("kafka-properties", "sasl.password=a\\,b=c,debug="),
        ])
    func accepts(flag: String, text: String) {
        #expect(flagMistakes(flag, text) == [])
    }

    @Test(
        "An invalid value is a mistake that names the allowed ones",
        arguments: [
            ("retry-immediate", "x", #""x" is not a whole number; allowed: 0 to 20"#),
            ("retry-immediate", "", #""" is not a whole number"#),
            ("retry-immediate", "1.5", "is not a whole number"), ("retry-immediate", "21", "is out of range"),
            ("retry-immediate", "-1", "is out of range"),
            ("retry-immediate", "99999999999999999999", "is out of range"),
            ("kafka-static-membership", "yes", "is neither true nor false"),
            ("backend-timeout", "10", "is not a duration; allowed: 1ms to 10m"),
            ("backend-timeout", "0", "is out of range"), ("backend-timeout", "1d", "is out of range"),
            ("limits-event-bytes", "64kb", "is not a number of bytes"), ("limits-event-bytes", "63", "is out of range"),
            ("limits-event-bytes", "9999999999999KiB", "is out of range"),
            ("delivery-ordering", "keys", #"is unknown, did you mean "key"?; allowed: key, partition, none"#),
            (
                "backend-auth-kind", "oauth",
                #"is unknown, did you mean "oauth2"?; allowed: basic, bearer, oauth2, none"#
            ),
            ("backend-auth-token-url", "login.example.com/token", "is not the address of a token endpoint"),
            ("backend-auth-token-url", "https://u:canary@h/token", "is not the address of a token endpoint"),
            ("backend-auth-token-url", "https://h/token#top", "is not the address of a token endpoint"),
            ("backend-auth-client-authentication", "jwt", "allowed: basic, post"),
            ("admin-listen", "localhost:9464", "is not an address to listen on"),
            ("backend-url", "push.example.com", "has no http://"), ("backend-url", "ftp://h", "has no http://"),
            ("backend-url", "http://", "has no valid host"), ("backend-url", "http://h:0", "has no valid host"),
            ("backend-url", "http://h:65536", "has no valid host"), ("backend-url", "http://ü", "has no valid host"),
            ("backend-url", "http://h/?a=b", "has a query"), ("backend-url", "http://h/a b", "has no valid path"),
            ("backend-url", "http://h\r\n", "has no valid host"), ("backend-path", "api", "is not allowed"),
            ("backend-path", "/a?b", "is not allowed"), ("backend-path", "/a\r\nX: y", "is not allowed"),
            ("backend-proxy", "proxy:3128", "has no known scheme"),
            ("backend-proxy", "http://proxy", "is not the address of a proxy"),
            ("kafka-bootstrap-servers", "a:x", "is not the address of a broker"),
            ("kafka-bootstrap-servers", "a,a", "is the same as [0]"),
            ("topics-results", "a/b", "is not allowed"), ("topics-results", "..", "is not allowed"),
            ("topics-results", String(repeating: "a", count: 250), "is not allowed"),
            ("topics-requests", "", "has 0 elements"), ("topics-requests", "a=0", "is out of range"),
            ("topics-requests", "a,a=2", "is the same as [0]"),
            ("backend-statuses", "403=refused", "is unknown"),
            ("backend-statuses", "99=rejected", "key \"99\" is unknown"),
            ("backend-statuses", "403", "has no value"),
            ("backend-statuses", "403=rejected,403=transient", "is written twice"),
            ("backend-push-services", "APNS", "is not allowed"), ("backend-push-services", "", "has 0 elements"),
            ("backend-auth-username", "a:b", "and no :"), ("backend-auth-username", "a\nb", "is not allowed"),
            ("retry-delays", "5s,5s", "is the same as [0]"), ("retry-delays", "30s,5s", "is not longer than [0]"),
            ("retry-delays", "60s,1m", "is not longer than [0]"), ("retry-delays", "05s", "is not a duration"),
            ("retry-delays", "", "has 0 elements"), ("kafka-instance", "a b", "is not allowed"),
            ("kafka-properties", "group.id=x", "group.id cannot be set here: kafka.group sets it"),
            ("kafka-properties", "enable.auto.commit=true", "cannot be set here"),
            ("kafka-properties", "sasl.password=canary1,canary2", "entry 2 is not NAME=VALUE"),
        ])
    func refuses(flag: String, text: String, message: String) {
        let found = flagMistakes(flag, text)
        #expect(found.count == 1)
        #expect(found.first?.contains(message) == true, "\(found)")
        #expect(found.first?.hasPrefix("flag --\(flag): ") == true, "\(found)")
        #expect(found.first?.contains("canary") == false)
    }

    @Test("The typed values are the written ones")
    func values() throws {
        let settings = try load(
            """
            kafka: {bootstrapServers: [a:1, b:2], properties: {sasl.username: me, debug: true}}
            topics: {requests: [one, {name: two, weight: 7}, {name: three}], replicationFactor: 3}
            backend:
              url: https://example.com:8443/base/
              statuses: {403: rejected}
              aliases: {fcm: gcm}
            retry: {delays: [100ms, 60s]}
            limits: {eventBytes: 1KiB}
            """
        ).settings
        #expect(settings.kafka.bootstrapServers == ["a:1", "b:2"])
        #expect(settings.kafka.properties.sorted.map(\.value) == ["true", "me"])
        #expect(
            settings.topics.requests == [
                RequestTopic(name: "one"), RequestTopic(name: "two", weight: 7), RequestTopic(name: "three"),
            ])
        #expect(settings.topics.replicationFactor == 3)
        let url = try #require(settings.backend.url)
        #expect(url.isTLS && url.host == "example.com" && url.port == 8_443 && url.basePath == "/base")
        #expect(url.description == "https://example.com:8443/base")
        #expect(settings.backend.statuses == [403: .rejected])
        #expect(settings.backend.aliases == ["fcm": "gcm"])
        #expect(settings.retry.delays.map(\.description) == ["100ms", "60s"])
        #expect(settings.retry.delays.map(\.length) == [.milliseconds(100), .seconds(60)])
        #expect(settings.topics.retry == "notifications.retry")
        #expect(settings.limits.eventBytes == 1_024)
    }

    @Test("A comma after a backslash belongs to the value, and a repeated flag adds to its list or map")
    func commas() throws {
        let properties = try load(flags: ["kafka-properties": ["sasl.password=a\\,b\\c", "debug=x=y"]])
            .settings.kafka.properties
        #expect(properties["sasl.password"] == "a,b\\c")
        #expect(properties["debug"] == "x=y")
        #expect(
            try load(flags: ["backend-push-services": ["a, b", "c"]]).settings.backend.pushServices == ["a", "b", "c"])
    }

    @Test(
        "An address to listen on is an IP address with a port, or off",
        arguments: [
            ("127.0.0.1:9464", "127.0.0.1:9464"), ("0.0.0.0:0", "0.0.0.0:0"), ("[::1]:9464", "[::1]:9464"),
            ("off", "off"), ("localhost:1", nil), ("127.0.0.1", nil), ("127.0.0.1:65536", nil), ("::1:80", nil),
            ("1.2.3:80", nil), ("256.0.0.1:80", nil), ("", nil), (":80", nil), ("[x]:80", nil),
        ] as [(String, String?)])
    func listenAddress(text: String, written: String?) {
        #expect(ListenAddress(text)?.description == written)
    }

    @Test(
        "Only a host that is certainly this machine counts as loopback",
        arguments: [
            ("http://localhost", true), ("http://127.0.0.9:80", true), ("http://[::1]", true),
            ("http://LOCALHOST", true),
            ("http://127.example.com", false), ("http://localhost.example.com", false), ("http://10.0.0.1", false),
        ])
    func loopback(text: String, isLoopback: Bool) throws {
        #expect(try load(flags: ["backend-url": [text]]).settings.backend.url?.isLoopback == isLoopback)
    }
}
