import HeraldBytes
import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@Suite("Herald's headers on outgoing records")
struct DeliveryHeadersTests {
    private func pairs(_ list: HeaderList) -> [String] {
        (0..<list.count).map { index in
            let name = list.name(at: index).text
            guard let value = list.value(at: index) else { return "\(name)" }
            return "\(name)=\(value.text)"
        }
    }

    private func write(
        _ headers: DeliveryHeaders, for decoding: Decoding, original: [(String, String?)], detail: String = "",
        history: String = ""
    ) -> HeaderList {
        var list = HeaderList()
        for (name, value) in original { list.append(name, value) }
        var output = HeaderList()
        headers.append(
            for: decoding.event, value: decoding.value.span.bytes, recordTopic: "notifications", original: list,
            services: .standard, detail: detail.utf8.span.bytes, history: history.utf8.span.bytes, to: &output)
        return output
    }

    @Test("A retry record keeps the original headers in order and replaces Herald's, without doubles")
    func retry() {
        let original: [(String, String?)] = [
            ("b", "2"), ("herald-status", "500"), ("a", "1"), ("herald-replays", "1"), ("b", nil),
            ("herald-attempts", "1"), ("herald-custom", "x"), ("herald-reason", "blocked"), ("herald-detail", "old"),
        ]
        let decoding = Decoding(
            eventJSON(["pns": #"["gcm","wns"]"#, "source": #""shop""#, "campaign": #""spring""#]), headers: original,
            kind: .retry)
        let output = write(
            DeliveryHeaders(
                destination: .retry(.transient, dueAt: WallTime(milliseconds: 5_000)), pushServices: [1, 2],
                attempts: 2, originTimestamp: WallTime(milliseconds: 1_000),
                firstAttemptAt: WallTime(milliseconds: 2_000), status: 503),
            for: decoding, original: original, detail: "busy\nnow", history: "[{}]")
        #expect(
            pairs(output) == [
                "b=2", "a=1", "b", "herald-custom=x", "herald-id=e-1", "herald-pns=gcm,wns", "herald-attempts=2",
                "herald-origin=notifications/3/42", "herald-origin-timestamp=1000", "herald-first-attempt-at=2000",
                "herald-not-before=5000", "herald-reason=transient", "herald-status=503", "herald-detail=busy now",
                "herald-history=[{}]", "herald-source=shop", "herald-campaign=spring", "herald-replays=1",
            ])
    }

    @Test("A written retry record is read back with the same facts")
    func roundTrip() {
        let decoding = Decoding(
            eventJSON(["id": nil, "pns": #"["apns","wns"]"#]),
            headers: [("herald-replays", "4"), ("herald-origin", "n/1/2"), ("herald-key", "k/2")])
        let written = write(
            DeliveryHeaders(
                destination: .retry(.throttled, dueAt: WallTime(milliseconds: 9)), pushServices: [2], attempts: 7,
                originTimestamp: WallTime(milliseconds: 0), firstAttemptAt: WallTime(milliseconds: 3), status: 429),
            for: decoding, original: [("traceparent", "x")])
        var event = DecodedEvent()
        let failure = RecordDecoder().decode(
            topicKind: .retry, topic: "notifications.retry.5s", partition: 0, offset: 0,
            value: decoding.value.span.bytes, headers: written, into: &event)
        let id = event.bytes(of: event.id, value: decoding.value.span.bytes).text
        let key = event.bytes(of: event.replayKey, value: decoding.value.span.bytes).text
        #expect(failure == nil)
        #expect(id == "n/1/2")
        #expect(key == "k/2")
        #expect(event.pushServices == [2])
        #expect(event.attempts == 7)
        #expect(event.replays == 4)
        #expect(event.originPartition == 1)
        #expect(event.originTimestamp == WallTime(milliseconds: 0))
        #expect(event.firstAttemptAt == WallTime(milliseconds: 3))
        #expect(event.dueAt == WallTime(milliseconds: 9))
        #expect(event.lastStatus == 429)
    }

    @Test("A dead letter is read back by services, with its bytes unchanged")
    func deadLetter() throws {
        let decoding = Decoding(eventJSON(["pns": #"["apns","gcm"]"#, "source": #""shop""#]))
        let headers = write(
            DeliveryHeaders(
                destination: .deadLetter(.attemptsExhausted, at: WallTime(milliseconds: 8)), pushServices: [0, 1],
                attempts: 8, originTimestamp: WallTime(milliseconds: 1), firstAttemptAt: WallTime(milliseconds: 2),
                status: 500),
            for: decoding, original: [("x", "y")], detail: "gone",
            history: #"[{"at":"1970-01-01T00:00:00.002Z","pns":"apns","status":500,"ms":12}]"#)
        let letter = try DeadLetter(key: Array("ann".utf8), value: decoding.value, headers: headers)
        #expect(letter.value == decoding.value)
        #expect(letter.id == "e-1")
        #expect(letter.pushServices == ["apns", "gcm"])
        #expect(letter.attempts == 8)
        #expect(letter.origin == Origin(topic: "notifications", partition: 3, offset: 42))
        #expect(letter.reason == .attemptsExhausted)
        #expect(letter.status == 500)
        #expect(letter.detail == "gone")
        #expect(letter.source == "shop")
        #expect(letter.campaign == nil)
        #expect(letter.deadLetteredAt == WallTime(milliseconds: 8))
        #expect(letter.replays == 0)
        #expect(letter.history.first?.status == 500)
    }

    @Test("A dead letter of an undecodable record has neither id nor push services")
    func undecodable() throws {
        let decoding = Decoding("{")
        let headers = write(
            DeliveryHeaders(
                destination: .deadLetter(.malformed, at: WallTime(milliseconds: 8)), pushServices: [], attempts: 0,
                originTimestamp: WallTime(milliseconds: -1)),
            for: decoding, original: [], detail: decoding.failure?.detail ?? "")
        let letter = try DeadLetter(key: nil, value: decoding.value, headers: headers)
        #expect(letter.id == nil)
        #expect(letter.pushServices.isEmpty)
        #expect(letter.originTimestamp == nil)
        #expect(letter.reason == .malformed)
        #expect(letter.detail?.contains("ends in the middle") == true)
    }

    @Test("A record that is not a dead letter is refused with the invalid header")
    func notDeadLetter() {
        var headers = HeaderList()
        #expect(throws: InvalidArgument("the dead letter has no herald-origin")) {
            try DeadLetter(key: nil, value: [], headers: headers)
        }
        headers.append("herald-origin", "n/1/2")
        headers.append("herald-reason", "bored")
        #expect(throws: InvalidArgument("the dead letter's herald-reason is wrong: bored")) {
            try DeadLetter(key: nil, value: [], headers: headers)
        }
    }

    @Test(
        "A detail is one line of at most 1 KiB that ends between two characters",
        arguments: [
            ("", ""), ("a\r\n\tb\u{0}c\u{7F}d\u{85}e\u{2028}f", "a   b c d e f"), ("é€😀", "é€😀"),
            (String(repeating: "x", count: 2_000), String(repeating: "x", count: 1_024)),
            (String(repeating: "€", count: 500), String(repeating: "€", count: 341)),
            (String(repeating: "x", count: 1_023) + "é", String(repeating: "x", count: 1_023)),
        ])
    func details(text: String, line: String) {
        var output = Array("before".utf8)
        DetailText.append(text.utf8.span.bytes, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == "before" + line)
    }

    @Test("A detail repairs bytes that are not UTF-8")
    func detailRepair() {
        let bytes: [UInt8] = [0x61, 0xFF, 0xC3]
        var output: [UInt8] = []
        DetailText.append(bytes.span.bytes, to: &output)
        #expect(String(validating: output, as: UTF8.self) == "a\u{FFFD}\u{FFFD}")
    }
}
