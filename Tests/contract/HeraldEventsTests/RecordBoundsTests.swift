import HeraldEvents
import HeraldTime
import Testing

@Suite("The limits of copied parts")
struct RecordBoundsTests {
    private static let envelope: [(String, String?)] = [
        ("ce_specversion", "1.0"), ("ce_id", "i"), ("ce_source", "shop"), ("ce_type", "t"),
    ]

    @Test(
        "An oversized source, campaign or type is reported with its size, and left out of the records",
        arguments: [
            (["source": "\"\(String(repeating: "s", count: 1_025))\""], [], "source has 1025 bytes"),
            (["source": "\"\(String(repeating: "\\u00e9", count: 513))\""], [], "source has 1026 bytes"),
            (["campaign": "\"\(String(repeating: "c", count: 257))\""], [], "campaign has 257 bytes"),
            ([:], [("ce_source", String(repeating: "s", count: 60_000))], "ce_source has 60000 bytes"),
            ([:], [("ce_type", String(repeating: "t", count: 1_025))], "ce_type has 1025 bytes"),
        ] as [([String: String?], [(String, String?)], String)])
    func tooLong(members: [String: String?], headers: [(String, String?)], words: String) {
        let decoding = Decoding(eventJSON(members), headers: headers.isEmpty ? [] : Self.envelope + headers)
        #expect(decoding.failure?.reason == .oversized)
        #expect(decoding.failure?.detail.hasPrefix(words) == true, "\(decoding.failure?.detail ?? "")")
        #expect(decoding.failure?.detail.contains("at most") == true)
        #expect(decoding.text(decoding.event.source)?.utf8.count ?? 0 <= 1_024)
        #expect(!decoding.event.campaign.isPresent && decoding.user != nil)
    }

    @Test("A source and a campaign of the maximum length are accepted, escaped or not")
    func longest() {
        let source = String(repeating: "\\u0001", count: 1_024)
        let decoding = Decoding(
            eventJSON(["source": "\"\(source)\"", "campaign": "\"\(String(repeating: "c", count: 256))\""]))
        #expect(decoding.failure == nil)
        #expect(decoding.event.source.count == 1_024 && decoding.event.campaign.count == 256)
    }

    @Test("An undecodable event gives its id and user, as far as they can be read")
    func identity() {
        let cut = Decoding(#"{"id":"i","user":"ann","message":"#)
        #expect(cut.failure?.reason == .malformed && cut.id == "i" && cut.user == "ann")
        let large = Decoding(#"{"id":"j","message":"\#(String(repeating: "x", count: 70_000))"}"#)
        #expect(large.failure?.reason == .oversized && large.id == "j")
        let binary = Decoding(eventJSON(["id": nil]), headers: Array(Self.envelope.dropLast()))
        #expect(binary.failure?.reason == .malformed && binary.id == "i" && binary.user != nil)
    }

    @Test(
        "A structured CloudEvent is recognised with its content type in any case",
        arguments: [
            "content-type", "Content-Type", "CONTENT-TYPE",
        ])
    func contentType(name: String) {
        let decoding = Decoding(
            #"{"specversion":"1.0","id":"i","source":"s","type":"t","data":\#(eventJSON(["id": nil]))}"#,
            headers: [(name, "Application/CloudEvents+JSON; charset=utf-8")])
        #expect(decoding.failure == nil && decoding.id == "i")
    }

    /// An event whose parts have their maximum lengths, and grow most when written.
    private func largest() throws -> (event: DecodedEvent, value: [UInt8], services: PushServices) {
        let names = (0..<PushServices.maximumCount).map { "\($0)" + String(repeating: "p", count: 30) }
        let services = try PushServices(names: names)
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        let id = String(repeating: "\\u0001", count: 128)
        let source = String(repeating: "\\u0002", count: 1_024)
        let campaign = String(repeating: "\\u0003", count: 256)
        let user = String(repeating: "u", count: 111)
        let origin = String(repeating: "t", count: 249) + "/2147483647/9223372036854775807"
        let value = """
            {"id":"\(id)","user":"\(user)","message":"m","pns":[\(list)],"source":"\(source)","campaign":"\(campaign)"}
            """
        let decoding = Decoding(
            value,
            headers: [
                ("herald-origin", origin), ("herald-replays", "2147483647"),
                ("herald-key", String(repeating: "\u{1F600}", count: 128)),
                ("herald-omitted", "history,detail,headers,key,value"),
            ], kind: .retry, decoder: RecordDecoder(pushServices: services))
        #expect(decoding.failure == nil)
        return (decoding.event, decoding.value, services)
    }

    @Test("The largest result and the largest set of Herald's headers are below their bounds")
    func worstCase() throws {
        let (event, value, services) = try largest()
        let detail = [UInt8](repeating: UInt8(ascii: "\""), count: 5_000)
        let backendID = [UInt8](repeating: UInt8(ascii: "\""), count: BackendID.maximumCount)
        let never = WallTime(milliseconds: .max)
        var result: [UInt8] = []
        ResultEncoder.append(
            ResultFacts(
                outcome: .deadLettered, pushService: 63, status: 599, reason: .attemptsExhausted,
                attempts: Int(Int32.max), firstAttemptAt: never, lastAttemptAt: never, preferencesOffset: .max,
                completedAt: never, omitted: .all),
            of: event, value: value.span.bytes, recordTopic: "t", pushServices: services, detail: detail.span.bytes,
            backendID: backendID.span.bytes, to: &result)
        #expect(result.count > 11_500 && result.count <= ResultEncoder.maximumByteCount)
        #expect(throws: Never.self) { try NotificationResult(decoding: result) }

        let history = [UInt8](repeating: 0x20, count: AttemptHistory.maximumByteCount)
        var headers = HeaderList()
        DeliveryHeaders(
            destination: .deadLetter(.attemptsExhausted, at: never), pushServices: event.pushServices,
            attempts: Int(Int32.max), originTimestamp: never, firstAttemptAt: never, status: 599
        ).append(
            for: event, value: value.span.bytes, recordTopic: "t", original: HeaderList(), services: services,
            detail: detail.span.bytes, history: history.span.bytes, to: &headers)
        #expect(headers.byteCount > 13_000 && headers.byteCount <= DeliveryHeaders.maximumByteCount)
    }

    @Test("A moment beyond a header's range is written as the last one within it")
    func farAway() throws {
        let decoding = Decoding(eventJSON(["notBefore": "\"9999-12-31T23:59:59-12:00\""]))
        let due = try #require(decoding.event.notBefore)
        #expect(due > RFC3339.latest)
        var headers = HeaderList()
        DeliveryHeaders(
            destination: .retry(.notBefore, dueAt: due), pushServices: decoding.event.pushServices, attempts: 0,
            originTimestamp: WallTime(milliseconds: .max)
        ).append(
            for: decoding.event, value: decoding.value.span.bytes, recordTopic: "notifications",
            original: HeaderList(), services: .standard, detail: [UInt8]().span.bytes, history: [UInt8]().span.bytes,
            to: &headers)
        var again = DecodedEvent()
        let refusal = RecordDecoder().decode(
            topicKind: .retry, topic: "notifications.retry.2h", partition: 0, offset: 0,
            value: decoding.value.span.bytes, headers: headers, into: &again)
        #expect(refusal == nil && again.dueAt == RFC3339.latest && again.originTimestamp == RFC3339.latest)
    }
}
