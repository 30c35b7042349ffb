import HeraldBytes
import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@Suite("Results")
struct ResultTests {
    private func encode(_ facts: ResultFacts, _ decoding: Decoding, backendID: String? = nil) -> String {
        var output: [UInt8] = []
        let bytes = Array((backendID ?? "").utf8)
        ResultEncoder.append(
            facts, of: decoding.event, value: decoding.value.span.bytes, recordTopic: "notifications",
            pushServices: .standard, backendID: backendID == nil ? nil : bytes.span.bytes, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test("A result has exactly the contract's members")
    func full() throws {
        let decoding = Decoding(
            eventJSON(["id": #""e\"1\u2028""#, "source": #""shop""#, "campaign": #""spring""#]),
            headers: [("herald-replays", "2"), ("herald-origin", "notifications.bulk/1/2")])
        let facts = ResultFacts(
            outcome: .deadLettered, pushService: 0, status: 400, reason: .rejected, attempts: 2,
            firstAttemptAt: WallTime(milliseconds: 1_795_250_426_123),
            lastAttemptAt: WallTime(milliseconds: 1_795_250_426_190), preferencesOffset: 17,
            completedAt: WallTime(milliseconds: 1_795_250_426_200))
        let json = encode(facts, decoding)
        #expect(
            json == #"{"id":"e\"1\u2028","pns":"apns","user":"ann","outcome":"dead-lettered","status":400,"#
                + #""reason":"rejected","attempts":2,"firstAttemptAt":"2026-11-21T08:40:26.123Z","#
                + #""lastAttemptAt":"2026-11-21T08:40:26.190Z","preferencesOffset":17,"#
                + #""completedAt":"2026-11-21T08:40:26.200Z","source":"shop","campaign":"spring","replays":2,"#
                + #""origin":{"topic":"notifications.bulk","partition":1,"offset":2}}"#)
        let result = try NotificationResult(decoding: Array(json.utf8))
        #expect(result.id == "e\"1\u{2028}")
        #expect(result.pushService == "apns")
        #expect(result.user == "ann")
        #expect(result.outcome == .deadLettered)
        #expect(result.status == 400)
        #expect(result.reason == .rejected)
        #expect(result.attempts == 2)
        #expect(result.firstAttemptAt == facts.firstAttemptAt)
        #expect(result.lastAttemptAt == facts.lastAttemptAt)
        #expect(result.preferencesOffset == 17)
        #expect(result.completedAt == facts.completedAt)
        #expect(result.source == "shop")
        #expect(result.campaign == "spring")
        #expect(result.replays == 2)
        #expect(result.origin == Origin(topic: "notifications.bulk", partition: 1, offset: 2))
    }

    @Test("A result names the parts that were not handed on; a reader leaves out those that it does not know")
    func omitted() throws {
        let facts = ResultFacts(
            outcome: .delivered, pushService: 0, completedAt: WallTime(milliseconds: 0),
            omitted: [
                ContentFields(.data), ContentFields(.title),
            ])
        let json = encode(facts, Decoding(eventJSON()))
        #expect(json.contains(#","omitted":["title","data"],"#))
        #expect(try NotificationResult(decoding: Array(json.utf8)).omitted == ContentFields([.title, .data]))
        let later = json.replacing(#"["title","data"]"#, with: #"["title","video"]"#)
        #expect(try NotificationResult(decoding: Array(later.utf8)).omitted == ContentFields([.title]))
        #expect(
            encode(ResultFacts(outcome: .delivered, completedAt: WallTime(milliseconds: 0)), Decoding(eventJSON()))
                .contains("omitted") == false)
        var all = facts
        all.omitted = .all
        #expect(
            encode(all, Decoding(eventJSON())).contains(
                #""omitted":["title","link","image","data","badge","sound","category"]"#))
    }

    @Test(
        "A result names the requested push service if its name differs from the standard one",
        arguments: [
            (#""fcm""#, 1, ["fcm"]), (#"["FCM","apns","gcm","FCM"]"#, 1, ["FCM", "gcm"]),
            (#"["FCM","apns"]"#, 0, []), (#"["apns","gcm","gcm"]"#, 1, []), (#" [ "\u0066cm" ] "#, 1, ["fcm"]),
            (#""\u0067cm""#, 1, []),
            (
                #"["fcm","Fcm","fCm","fcM","FCm","fCM","FcM","FCM","gcm"]"#, 1,
                ["fcm", "Fcm", "fCm", "fcM", "FCm", "fCM", "FcM", "FCM"]
            ),
        ] as [(String, Int, [String])])
    func requestedNames(pns: String, service: Int, names: [String]) throws {
        let decoding = Decoding(eventJSON(["pns": pns]))
        let facts = ResultFacts(outcome: .delivered, pushService: service, completedAt: WallTime(milliseconds: 0))
        let json = encode(facts, decoding)
        #expect(json.contains("requestedPns") == !names.isEmpty, "\(json)")
        let result = try NotificationResult(decoding: Array(json.utf8))
        #expect(result.requestedPushServices == (names.isEmpty ? [PushServices.standard.names[service]] : names))
    }

    @Test("The backend's identifier of the message is read back unchanged", arguments: ["NH-1-06", "a\"b\\c", "~"])
    func backendID(text: String) throws {
        let facts = ResultFacts(outcome: .delivered, status: 201, completedAt: WallTime(milliseconds: 0))
        let json = encode(facts, Decoding(eventJSON()), backendID: text)
        #expect(try NotificationResult(decoding: Array(json.utf8)).backendID == text)
    }

    @Test(
        "An invalid identifier of the backend is left out of a result",
        arguments: ["", "a b", "a\nb", "é", String(repeating: "x", count: 257)])
    func wrongBackendID(text: String) {
        let facts = ResultFacts(outcome: .delivered, status: 201, completedAt: WallTime(milliseconds: 0))
        #expect(!encode(facts, Decoding(eventJSON()), backendID: text).contains("backendId"))
        let json = encode(facts, Decoding(eventJSON()), backendID: "PLACE")
        let escaped = text.replacing("\n", with: "\\n")
        #expect(throws: InvalidArgument.self) {
            try NotificationResult(decoding: Array(json.replacing("PLACE", with: escaped).utf8))
        }
    }

    @Test("Missing facts are left out, and an undecodable record's result has only its place")
    func minimal() throws {
        let json = encode(
            ResultFacts(outcome: .deadLettered, reason: .malformed, completedAt: WallTime(milliseconds: 0)),
            Decoding("nonsense"))
        #expect(
            json == #"{"outcome":"dead-lettered","reason":"malformed","completedAt":"1970-01-01T00:00:00.000Z","#
                + #""origin":{"topic":"notifications","partition":3,"offset":42}}"#)
        let result = try NotificationResult(decoding: Array(json.utf8))
        #expect(result.id == nil)
        #expect(result.replays == 0)
    }

    @Test(
        "Every outcome and reason is read back from a result",
        arguments: Outcome.allCases.filter { $0 != .suppressed },
        DeadLetterReason.allCases)
    func names(outcome: Outcome, reason: DeadLetterReason) throws {
        let json = encode(
            ResultFacts(outcome: outcome, reason: reason, completedAt: WallTime(milliseconds: 0)),
            Decoding(eventJSON()))
        let result = try NotificationResult(decoding: Array(json.utf8))
        #expect(result.outcome == outcome)
        #expect(result.reason == reason)
    }

    @Test(
        "A result that breaks the contract is refused",
        arguments: [
            "", "[]", "{}", "x", #"{"outcome":"lost","completedAt":"1970-01-01T00:00:00Z"}"#,
            #"{"outcome":"delivered","origin":{"topic":"n","partition":0,"offset":0}}"#,
            #"{"outcome":"delivered","completedAt":"1970-01-01T00:00:00Z"}"#,
            #"{"outcome":"delivered","completedAt":0,"origin":{"topic":"n","partition":0,"offset":0}}"#,
            #"{"outcome":"delivered","completedAt":"1970-01-01T00:00:00Z","origin":{"topic":"n","partition":-1,"offset":0}}"#,
            #"{"id":1,"outcome":"delivered","completedAt":"1970-01-01T00:00:00Z","origin":{"topic":"n","partition":0,"offset":0}}"#,
        ])
    func refused(json: String) {
        #expect(throws: InvalidArgument.self) { try NotificationResult(decoding: Array(json.utf8)) }
    }

    @Test("The last of a repeated member counts, and names and texts may be escaped")
    func repeated() throws {
        let json =
            #" {"id":"a","id":"b","u\u0073er":"ann","outcome":"delivered","completedAt":"1970-01-01T00:00:00\u005a","#
            + #""more":{"id":["c"]},"origin":{"partition":1,"topic":"x","topic":"n","offset":2}} "#
        let result = try NotificationResult(decoding: Array(json.utf8))
        #expect(result.id == "b")
        #expect(result.user == "ann")
        #expect(result.origin == Origin(topic: "n", partition: 1, offset: 2))
    }

    @Test("A worker reads a service's event as it was meant")
    func publishing() throws {
        let event = NotificationEvent(
            id: "e/1", user: "ann", message: "Say \"hi\"\n\u{2028}🎉", pushServices: ["apns", "GCM"], source: "shop",
            campaign: "spring", time: WallTime(milliseconds: 0), expiresAt: WallTime(milliseconds: 2_000),
            notBefore: WallTime(milliseconds: 1_000))
        let decoding = Decoding(try event.encoded())
        #expect(decoding.failure == nil)
        #expect(decoding.id == "e/1")
        #expect(decoding.message == event.message)
        #expect(decoding.pushServices == ["apns", "gcm"])
        #expect(decoding.event.expiresAt == event.expiresAt)
        #expect(decoding.event.notBefore == event.notBefore)
        #expect(event.recordKey == Array("ann".utf8))
    }

    @Test("A service gets the reason for which its event would be refused before it publishes")
    func validation() {
        let event = NotificationEvent(user: "josé", message: "Hi", pushServices: ["apns"])
        #expect(throws: DecodingFailure.self) { try event.validate() }
        #expect(throws: Never.self) {
            try NotificationEvent(user: "jose", message: "Hi", pushServices: ["apns"]).validate()
        }
    }
}
