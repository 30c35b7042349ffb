import HeraldEvents
import HeraldTime
import Testing

@Suite("Herald's headers on incoming records")
struct HeraldHeadersTests {
    @Test("A retry record continues where its event stopped")
    func retry() {
        let decoding = Decoding(
            eventJSON(["id": nil, "pns": #"["apns","gcm","wns"]"#]),
            headers: [
                ("herald-id", "notifications/0/9"), ("herald-pns", "gcm,wns"), ("herald-attempts", "3"),
                ("herald-origin", "notifications.bulk/7/9000000000"), ("herald-origin-timestamp", "1795250426123"),
                ("herald-first-attempt-at", "1795250426200"), ("herald-not-before", "1795250431200"),
                ("herald-reason", "transient"), ("herald-status", "503"), ("herald-history", "[]"),
                ("herald-replays", "2"), ("herald-key", "fresh"),
            ], kind: .retry)
        let event = decoding.event
        #expect(decoding.failure == nil)
        #expect(decoding.id == "notifications/0/9")
        #expect(decoding.pushServices == ["gcm", "wns"])
        #expect(event.attempts == 3)
        #expect(decoding.text(event.origin) == "notifications.bulk/7/9000000000")
        #expect(decoding.text(event.originTopic) == "notifications.bulk")
        #expect(event.originPartition == 7)
        #expect(event.originOffset == 9_000_000_000)
        #expect(event.originTimestamp == WallTime(milliseconds: 1_795_250_426_123))
        #expect(event.firstAttemptAt == WallTime(milliseconds: 1_795_250_426_200))
        #expect(event.dueAt == WallTime(milliseconds: 1_795_250_431_200))
        #expect(event.lastStatus == 503)
        #expect(decoding.text(event.history) == "[]")
        #expect(event.replays == 2)
        #expect(decoding.text(event.replayKey) == "fresh")
    }

    @Test(
        "A record of one request topic cannot claim another's: the headers of such a replay are ignored",
        arguments: [
            ("notifications.bulk/1/2", RecordDecoder.TopicKind.request, false), ("notifications/1/2", .request, true),
            ("notifications.former/1/2", .request, true), ("notifications.bulk/1/2", .retry, true),
        ])
    func forgedOrigin(origin: String, kind: RecordDecoder.TopicKind, counts: Bool) {
        let decoding = Decoding(
            eventJSON(["id": nil]),
            headers: [
                ("herald-origin", origin), ("herald-replays", "7"), ("herald-key", "k"), ("herald-history", "[]"),
            ],
            kind: kind, decoder: RecordDecoder(requestTopics: ["notifications", "notifications.bulk"]))
        #expect(decoding.failure == nil)
        #expect(decoding.text(decoding.event.origin) == (counts ? origin : nil))
        #expect(decoding.id == (counts ? origin : "notifications/3/42"))
        #expect(decoding.event.originPartition == (counts ? 1 : 3) && decoding.event.replays == (counts ? 7 : 0))
        #expect(decoding.text(decoding.event.replayKey) == (counts ? "k" : nil))
    }

    @Test(
        "A replay of an undecodable record represents the same request, unless it claims another topic",
        arguments: [
            ("no JSON", "notifications/1/2", true), ("{}", "notifications/1/2", true),
            (String(repeating: " ", count: 70_000), "notifications/1/2", true),
            ("no JSON", "notifications.bulk/1/2", false), ("no JSON", "nowhere", false),
        ])
    func replayOfMalformed(value: String, origin: String, counts: Bool) {
        let decoding = Decoding(
            value, headers: [("herald-origin", origin), ("herald-replays", "7")],
            decoder: RecordDecoder(requestTopics: ["notifications", "notifications.bulk"]))
        #expect(decoding.failure != nil)
        #expect(decoding.text(decoding.event.origin) == (counts ? origin : nil))
        #expect(decoding.event.originOffset == (counts ? 2 : 42) && decoding.event.replays == (counts ? 7 : 0))
    }

    @Test("On a request topic only a replay's headers count, and the others are not even read")
    func request() {
        let decoding = Decoding(
            eventJSON(["id": nil, "pns": #"["apns","gcm"]"#]),
            headers: [
                ("herald-id", "other"), ("herald-pns", "gcm"), ("herald-attempts", "many"),
                ("herald-origin", "notifications/1/2"), ("herald-origin-timestamp", "x"), ("herald-status", "x"),
                ("herald-first-attempt-at", "1"), ("herald-not-before", "1"), ("herald-replays", "1"),
                ("herald-history", "[{}]"), ("herald-key", "k"),
            ])
        let event = decoding.event
        #expect(decoding.failure == nil)
        #expect(decoding.id == "notifications/1/2")
        #expect(decoding.pushServices == ["gcm"])
        #expect(event.attempts == 0)
        #expect(event.originTimestamp == nil)
        #expect(event.firstAttemptAt == nil)
        #expect(event.dueAt == nil)
        #expect(event.lastStatus == nil)
        #expect(event.replays == 1)
        #expect(decoding.text(event.history) == "[{}]")
        #expect(decoding.text(event.replayKey) == "k")
    }

    @Test(
        "A malformed Herald header is invalid and named",
        arguments: [
            ("herald-pns", ["", "sms", "apns,", ",", "apns gcm", "wns", nil]),
            (
                "herald-origin",
                ["", "a", "a/1", "a/1/2/3", "/1/2", "a/x/2", "a/1/-2", "a b/1/2", "a/2147483648/1", nil]
            ),
            ("herald-replays", ["", "-1", "+1", "1.0", " 1", "2147483648", "99999999999999999999", nil]),
            ("herald-key", ["", String(repeating: "x", count: 129), nil]),
            ("herald-id", ["", String(repeating: "x", count: 129), nil]),
            ("herald-attempts", ["", "x", "-1", nil]), ("herald-origin-timestamp", ["", "now", "-1"]),
            ("herald-first-attempt-at", ["", "1e3"]), ("herald-not-before", ["", "9223372036854775807"]),
            ("herald-status", ["", "99", "600", "OK"]),
        ] as [(String, [String?])])
    func badHeader(name: String, values: [String?]) {
        for value in values {
            let failure = Decoding(eventJSON(), headers: [(name, value)], kind: .retry).failure
            #expect(failure?.reason == .invalid, "\(value ?? "null")")
            #expect(failure?.detail.contains(name) == true)
        }
    }

    @Test("Header names are case-sensitive, and the last of several counts")
    func names() {
        #expect(Decoding(eventJSON(), headers: [("Herald-Attempts", "x")], kind: .retry).failure == nil)
        let decoding = Decoding(
            eventJSON(), headers: [("herald-attempts", "x"), ("herald-attempts", "2")], kind: .retry)
        #expect(decoding.event.attempts == 2)
    }

    @Test("A retry record without headers starts anew, and an oversized history is dropped")
    func lenient() {
        let bare = Decoding(eventJSON(), kind: .retry)
        #expect(bare.failure == nil)
        #expect(bare.event.attempts == 0)
        let long = Decoding(
            eventJSON(), headers: [("herald-history", String(repeating: "x", count: 8_193))], kind: .retry)
        #expect(long.failure == nil)
        #expect(!long.event.history.isPresent)
    }

    @Test("Headers that are not UTF-8 are invalid where text is expected")
    func invalidUTF8() {
        var headers = HeaderList()
        let bad: [UInt8] = [0xFF]
        headers.append(name: "herald-key", value: bad.span.bytes)
        let value = Array(eventJSON().utf8)
        var event = DecodedEvent()
        let failure = RecordDecoder().decode(
            topicKind: .request, topic: "t", partition: 0, offset: 0, value: value.span.bytes, headers: headers,
            into: &event)
        #expect(failure?.reason == .invalid)
    }
}
