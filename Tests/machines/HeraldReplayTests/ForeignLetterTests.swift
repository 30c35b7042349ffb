import Foundation
import HeraldBytes
import HeraldDriver
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import TestSupport
import Testing

@testable import HeraldReplay

/// Dead letters in the forms of Spring Kafka and Kafka Connect.
enum ForeignSample {
    static func spring(offset: Int64 = 17, more: [(String, [UInt8]?)] = []) -> DeadLetterEntry {
        entry(
            offset: offset,
            [
                ("x-own", Array("kept".utf8)),
                (
                    "kafka_dlt-exception-fqcn",
                    text("org.springframework.kafka.listener.ListenerExecutionFailedException")
                ),
                ("kafka_dlt-exception-cause-fqcn", text("java.lang.IllegalStateException")),
                ("kafka_dlt-exception-message", text("no stock")),
                ("kafka_dlt-exception-stacktrace", text("a\n\tat b")),
                ("kafka_dlt-original-topic", text("orders")), ("kafka_dlt-original-partition", [0, 0, 1, 2]),
                ("kafka_dlt-original-offset", [0, 0, 0, 0, 0, 1, 0, 0]),
                ("kafka_dlt-original-timestamp", [0, 0, 1, 0xA2, 0, 0, 0, 0]),
                ("kafka_dlt-original-timestamp-type", text("CreateTime")),
                ("kafka_dlt-original-consumer-group", text("billing")),
            ] + more)
    }

    static func connect(more: [(String, [UInt8]?)] = []) -> DeadLetterEntry {
        entry(
            offset: 17,
            [
                ("x-own", nil), ("__connect.errors.topic", text("orders")), ("__connect.errors.partition", text("258")),
                ("__connect.errors.offset", text("65536")), ("__connect.errors.connector.name", text("search")),
                ("__connect.errors.task.id", text("0")), ("__connect.errors.stage", text("VALUE_CONVERTER")),
                ("__connect.errors.class.name", text("org.apache.kafka.connect.json.JsonConverter")),
                ("__connect.errors.exception.class.name", text("org.apache.kafka.connect.errors.DataException")),
                ("__connect.errors.exception.message", text("no JSON")),
                ("__connect.errors.exception.stacktrace", text("a\n\tat b")),
            ] + more)
    }

    /// A value that a worker accepts.
    static let event =
        #"{"user":"bob","message":"Hello","pns":"apns","campaign":"spring","expiresAt":"2030-01-01T00:00:00Z"}"#

    static func entry(
        offset: Int64 = 17, value: String = event, _ headers: [(String, [UInt8]?)]
    ) -> DeadLetterEntry {
        var list = HeaderList()
        for (name, value) in headers {
            if let value {
                list.append(name: Array(name.utf8).span.bytes, value: value.span.bytes)
            } else {
                list.append(name, nil)
            }
        }
        var entry = DeadLetterEntry(decoder: RecordDecoder(), foreignTopic: "orders.DLT")
        entry.fill(
            partition: 2, offset: offset, timestamp: SampleEntry.moment, key: Array("ann".utf8),
            value: Array(value.utf8), headers: list)
        return entry
    }

    static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A letter that a real application has written.
    static func real(_ letter: SpringLetters.Letter, more: [(String, [UInt8]?)] = []) -> DeadLetterEntry {
        entry(letter.headers.map { ($0.name, $0.value) } + more)
    }
}

@Suite("Dead letters of other programs")
struct ForeignLetterTests {
    /// Herald reads these topics, so dead letters from them are replayed to them without `--to`.
    private static let own = {
        var own = Topics()
        own.requests = ["orders", "orders-dlq", "orders-retry"]
        return own
    }()
    private static let topic = ForeignTopic(name: "orders.DLT", own: own)
    /// Other programs read this topic.
    private static let copy = ForeignTopic(name: "orders.DLT", destination: "orders.copy", own: own)

    private func decision(
        _ entry: DeadLetterEntry, topic: ForeignTopic = topic, marks: [String] = [], isAgain: Bool = false
    ) throws -> ReplayRules.Decision {
        var rules = ReplayRules(maximumReplays: 5, requestTopics: ["notifications"], foreign: topic)
        rules.isAgain = isAgain
        rules.cancelledCampaigns = ["autumn"]
        var index = MarkIndex()
        for mark in marks { index.add(try #require(MarkRecord(decoding: Array(mark.utf8)))) }
        var entry = entry
        return rules.decision(for: &entry, index, now: SampleEntry.moment)
    }

    private func headers(_ entry: DeadLetterEntry) throws -> [String] {
        guard case .replay(let replay) = try decision(entry, topic: Self.copy) else {
            throw InvalidArgument("it is left out")
        }
        let record = OutgoingRecord(replay, ofForeign: entry, trace: nil)
        #expect(record.key == entry.key && record.value == entry.value)
        return (0..<record.headers.count).map { index in
            "\(record.headers.name(at: index).text)=\(record.headers.value(at: index)?.text ?? "null")"
        }
    }

    @Test("The headers of Spring and Connect about a record are read, each in its own form")
    func fields() {
        for (entry, reason, reader) in [
            (ForeignSample.spring(), "java.lang.IllegalStateException", "billing"),
            (ForeignSample.connect(), "org.apache.kafka.connect.errors.DataException", "search"),
        ] {
            var entry = entry
            #expect(entry.origin == Origin(topic: "orders", partition: 258, offset: 65_536))
            #expect(entry.text(.reason) == reason && entry.text(.source) == reader && entry.text(.topic) == "orders")
            #expect(entry.text(.detail)?.hasPrefix("no ") == true && entry.stackTrace == "a\n\tat b")
            #expect(entry.deadLetteredAt == SampleEntry.moment && entry.replays == 0)
            // Their values are not events, whatever their form.
            #expect(entry.text(of: .user) == "ann" && entry.message() == nil && entry.expiresAt() == nil)
            #expect(entry.pushServices.isEmpty && entry.omissions.isEmpty)
        }
        #expect(ForeignSample.spring().number(.originTimestamp) == 1_795_296_329_728)
    }

    @Test(
        "An exception is named by its class unless it wraps another; a key's exception is the fallback"
    )
    func exceptions() {
        let plain = ForeignSample.entry([
            ("kafka_dlt-original-topic", ForeignSample.text("orders")),
            ("kafka_dlt-exception-fqcn", ForeignSample.text("a.B")),
            ("kafka_dlt-exception-cause-fqcn", ForeignSample.text("a.C")),
        ])
        #expect(plain.text(.reason) == "a.B")
        let key = ForeignSample.entry([
            ("kafka_dlt-original-topic", ForeignSample.text("orders")),
            ("kafka_dlt-key-exception-fqcn", ForeignSample.text("a.Key")),
            ("kafka_dlt-key-exception-message", ForeignSample.text("bad key")),
        ])
        #expect(key.text(.reason) == "a.Key" && key.text(.detail) == "bad key")
    }

    @Test("A replay has key, value and the record's own headers, and counts the replays")
    func record() throws {
        #expect(try headers(ForeignSample.spring()) == ["x-own=kept", "herald-replays=1"])
        #expect(try headers(ForeignSample.connect()) == ["x-own=null", "herald-replays=1"])
        let more: [(String, [UInt8]?)] = [
            ("retry_topic-attempts", [0, 0, 0, 3]), ("springDeserializerExceptionValue", [1]),
            ("herald-replays", ForeignSample.text("1")), ("kafka_own", ForeignSample.text("1")),
        ]
        #expect(try headers(ForeignSample.spring(more: more)) == ["x-own=kept", "kafka_own=1", "herald-replays=2"])
    }

    @Test("A letter of a real Spring application is read, and goes back unchanged", .judged(by: .spring))
    func real() throws {
        let letters = try SpringLetters.read()
        let own = ["traceparent", "x-tenant"]
        for (letters, topic, cause, reader, names) in [
            (letters.retryable, "notifications", "IllegalStateException", "notifier", own),
            (letters.waiting, "notifications", "IllegalStateException", "notifier", own),
            (letters.recovered, "orders", "IllegalArgumentException", "plain", []),
        ] {
            #expect(letters.count == 3)
            for (number, letter) in letters.enumerated() {
                let entry = ForeignSample.real(letter)
                #expect(entry.origin == Origin(topic: topic, partition: 0, offset: Int64(number)))
                #expect(entry.text(.reason) == "java.lang.\(cause)" && entry.text(.source) == reader)
                #expect(entry.text(.detail)?.hasPrefix("Listener") == true)
                #expect(entry.stackTrace?.hasPrefix("org.springframework") == true)
                #expect(entry.number(.originTimestamp).map { $0 / 1_000_000_000 } == 1_795)
                let left = entry.originalHeaders
                #expect((0..<left.count).map { left.name(at: $0).text } == names)
            }
        }
    }

    @Test("Spring's two kinds of names mean the same: the later one counts, and neither is sent along")
    func mixed() throws {
        let retried: [(String, [UInt8]?)] = [
            ("kafka_original-topic", ForeignSample.text("orders-retry")),
            ("kafka_exception-message", ForeignSample.text("later")),
            ("kafka_dlt-original-consumer-group", ForeignSample.text("dunning")),
        ]
        let entry = ForeignSample.spring(more: retried)
        #expect(entry.text(.topic) == "orders-retry" && entry.text(.detail) == "later")
        #expect(entry.text(.source) == "dunning")
        let left = try headers(entry)
        #expect(left == ["x-own=kept", "herald-replays=1"], "the earlier ones are Spring's, too")
        let stray = ForeignSample.entry([("retry_topic-attempts", [0, 0, 0, 3]), ("kafka_replyTopic", [1])])
        #expect(stray.originalHeaders.count == 1 && stray.originalHeaders.name(at: 0).text == "kafka_replyTopic")
    }

    @Test("A record of both programs goes back one step; after two failures at one of them, to the last topic")
    func nested() throws {
        let connect: [(String, [UInt8]?)] = [("__connect.errors.topic", ForeignSample.text("orders-dlq"))]
        let spring = ForeignSample.spring(more: connect)
        #expect(spring.text(.topic) == "orders-dlq")
        #expect(try headers(spring).contains("kafka_dlt-original-topic=orders"))
        let twice = ForeignSample.spring(more: [("kafka_dlt-original-topic", ForeignSample.text("orders-retry"))])
        #expect(twice.text(.topic) == "orders-retry")
        #expect(try headers(twice) == ["x-own=kept", "herald-replays=1"])
        let attempts = ForeignSample.spring(more: [("kafka_deliveryAttempt", [0, 0, 0, 3])])
        #expect(try headers(attempts) == ["x-own=kept", "herald-replays=1"])
    }

    @Test(
        "Invalid headers count as missing",
        arguments: [
            ("kafka_dlt-original-partition", [UInt8]([0, 0, 1])),
            ("kafka_dlt-original-offset", [0xFF, 0, 0, 0, 0, 0, 0, 0]),
            ("kafka_dlt-original-offset", ForeignSample.text("65536")),
        ])
    func wrong(name: String, value: [UInt8]) throws {
        let entry = ForeignSample.spring(more: [(name, value)])
        #expect(entry.origin == nil && entry.text(.topic) == "orders")
        guard case .replay(let replay) = try decision(entry) else { throw InvalidArgument("it is left out") }
        #expect(replay.topic == "orders", "the key chooses the partition")
    }

    @Test("Each letter goes to its origin, or all to the named topic, but never to the dead letters' topic")
    func destinations() throws {
        func topic(_ decision: ReplayRules.Decision) -> String? {
            if case .replay(let replay) = decision { replay.topic } else { nil }
        }
        #expect(topic(try decision(ForeignSample.spring())) == "orders")
        let named = ForeignTopic(name: "orders.DLT", destination: "orders.again", own: Self.own)
        #expect(topic(try decision(ForeignSample.spring(), topic: named)) == "orders.again")
        #expect(topic(try decision(ForeignSample.entry([("a", nil)]), topic: named)) == "orders.again")
        #expect(try decision(ForeignSample.entry([("a", nil)])) == .leaveOut(.unknownOrigin))
        for (name, omission) in [
            ("orders.DLT", ReplayRules.Omission.forbiddenTopic), ("notifications.dead-letter", .forbiddenTopic),
            ("notifications.dead-letter.state", .forbiddenTopic), ("notifications.retry.5s", .forbiddenTopic),
            ("no topic/", .unknownOrigin), ("", .unknownOrigin),
        ] {
            let entry = ForeignSample.entry([("__connect.errors.topic", ForeignSample.text(name))])
            #expect(try decision(entry) == .leaveOut(omission), "\(name)")
        }
    }

    @Test("Letters that workers read are checked first, and their own origin identifies their results")
    func judged() throws {
        let trace = TraceContext(traceID: TraceID(high: 0, low: 1), spanID: 2, isSampled: true)
        let forged: [(String, [UInt8]?)] = [
            ("herald-origin", ForeignSample.text("payroll/0/1")), ("herald-pns", ForeignSample.text("wns")),
        ]
        let entry = ForeignSample.spring(more: forged)
        guard case .replay(let replay) = try decision(entry) else { throw InvalidArgument("it is left out") }
        #expect(replay.pushServices == ["apns"] && replay.isWhole && !replay.isCorrectedForOthers)
        let headers = OutgoingRecord(replay, ofForeign: entry, trace: trace).headers
        #expect(
            (0..<headers.count).map { headers.name(at: $0).text } == [
                "x-own", "herald-origin", "herald-replays", "herald-traceparent",
            ])
        #expect(headers.lastValue(named: "herald-origin")?.text == "orders.DLT/2/17")
        for (value, omission) in [
            (#"{"order":1}"#, ReplayRules.Omission.stillInvalid), ("no JSON", .stillInvalid),
            (#"{"user":"bob","message":"Hello","pns":"fax"}"#, .stillInvalid),
            (ForeignSample.event.replacing("2030", with: "2020"), .expired),
            (ForeignSample.event.replacing("spring", with: "autumn"), .campaignCancelled),
        ] {
            let letter = ForeignSample.entry(
                value: value, [("kafka_original-topic", ForeignSample.text("orders"))])
            #expect(try decision(letter) == .leaveOut(omission), "\(value)")
            // Topics of other readers may have any value.
            guard case .replay = try decision(letter, topic: Self.copy) else {
                throw InvalidArgument("it is left out")
            }
        }
    }

    @Test("Replayed or resolved letters are left out unless requested again, and never exceed the limit")
    func marks() throws {
        let replayed = #"{"state":"replayed","job":"j","at":1,"partitions":{"2":"17"}}"#
        let resolved = #"{"state":"resolved","job":"j","at":1,"partitions":{"2":"17"}}"#
        #expect(try decision(ForeignSample.spring(), marks: [replayed]) == .leaveOut(.replayed))
        #expect(try decision(ForeignSample.spring(), marks: [resolved]) == .leaveOut(.resolved))
        guard case .replay(let replay) = try decision(ForeignSample.spring(), marks: [replayed], isAgain: true) else {
            throw InvalidArgument("it is left out")
        }
        #expect(replay.replays == 2)
        let often = ForeignSample.spring(more: [("herald-replays", ForeignSample.text("5"))])
        #expect(try decision(often, isAgain: true) == .leaveOut(.overTheCap))
    }

    @Test("The outcome of a replay that workers read is found by the dead letter's place and its event")
    func outcomes() throws {
        func fate(_ outcome: String, _ place: String, calls: String = "") throws -> LetterFate {
            var (marks, outcomes) = (MarkIndex(), ReplayOutcomes())
            let mark = #"{"state":"replayed","job":"j","at":1,\#(calls)"partitions":{"2":"17"}}"#
            marks.add(try #require(MarkRecord(decoding: Array(mark.utf8))))
            let result =
                #"{"outcome":"\#(outcome)","completedAt":"2026-11-21T08:40:26.123Z","replays":1,"pns":"apns","#
                + #""origin":{"topic":"\#(place)","partition":2,"offset":17}}"#
            outcomes.add(try NotificationResult(decoding: Array(result.utf8)))
            return LetterFate(of: ForeignSample.spring().facts, marks, outcomes)
        }
        #expect(try fate("delivered", "orders.DLT").outcome == .delivered)
        #expect(try fate("dead-lettered", "orders.DLT").outcome == .failedAgain)
        #expect(try fate("delivered", "orders").outcome == .notKnown, "that is another's")
        let unread = try fate("delivered", "orders.DLT", calls: #""calls":[],"#)
        #expect(unread.state == .replayed && unread.outcome == .notReported && unread.words == "replayed")
    }

    @Test("For replays to other readers, the mark says so, and no count of outcomes is known")
    func unreported() throws {
        guard case .replay(let replay) = try decision(ForeignSample.spring(), topic: Self.copy) else {
            throw InvalidArgument("it is left out")
        }
        var batch = LetterBatch()
        let record = OutgoingRecord(replay, ofForeign: ForeignSample.spring(), trace: nil)
        batch.add(
            LetterBatch.Letter(
                state: .gathered, record: record, replay: replay, partition: 2, offset: 17, markCount: 0))
        batch.cut()
        let marks = batch.content(job: "j", at: 1).marks
        #expect(marks.map(\.calls) == [[]])
        var index = MarkIndex()
        for mark in marks { index.add(mark) }
        var table = GroupTable(.reason)
        table.add(ForeignSample.spring(), index, ReplayOutcomes())
        let members = try #require(table.sorted.first).members
        #expect(members.first { $0.name == "replayed" }?.value == .integer(1))
        #expect(members.filter { ["delivered", "failedAgain"].contains($0.name) }.allSatisfy { $0.value == .null })
    }

    @Test("A plan counts letters that occur several times and letters without a value")
    func warnings() throws {
        func sentences(_ entries: [DeadLetterEntry], _ topic: ForeignTopic = Self.topic) throws -> [String] {
            var plan = ReplayPlan()
            for entry in entries { plan.add(entry, try decision(entry, topic: topic)) }
            #expect(plan.count == entries.count)
            return PlanWarnings(plan, isCorrected: false, deadServices: []).sentences
        }
        func letter(_ offset: Int64, id: String?) -> DeadLetterEntry {
            let value = ForeignSample.event.replacing("{", with: id.map { #"{"id":"\#($0)","# } ?? "{")
            return ForeignSample.entry(
                offset: offset, value: value, [("kafka_dlt-original-topic", ForeignSample.text("orders"))])
        }
        let twice = try sentences([letter(1, id: "dd1"), letter(2, id: "dd2"), letter(3, id: "dd1")])
        let words = "1 of them repeats the id of another, such as dd1: each is called"
        #expect(twice.count == 1 && twice.first?.hasPrefix(words) == true, "\(twice)")
        #expect(try sentences([letter(1, id: nil), letter(2, id: nil)]).isEmpty)
        #expect(try sentences([letter(1, id: "a"), letter(2, id: "a")], Self.copy).isEmpty, "nobody is notified")
        var tombstone = ForeignSample.spring()
        tombstone.fill(
            partition: 2, offset: 17, timestamp: SampleEntry.moment, key: [1], value: nil, headers: tombstone.headers)
        #expect(try sentences([tombstone], Self.copy).first?.hasPrefix("1 of them has no value") == true)
    }

    @Test("Marks of different topics have different keys")
    func keys() {
        let prefixes = [nil, "orders.DLT", "orders.DLT.b"].map { MarkRecord.keyPrefix($0) }
        for (index, prefix) in prefixes.enumerated() {
            for (other, key) in prefixes.enumerated() where other != index {
                #expect(!("\(key)job/0").hasPrefix(prefix))
            }
        }
    }

    @Test(
        "Groups and conditions accept any exception in a foreign topic, and only a worker's reasons elsewhere")
    func groups() throws {
        var table = GroupTable(.reason)
        for entry in [ForeignSample.spring(), ForeignSample.spring(offset: 18), ForeignSample.connect()] {
            table.add(entry, nil, ReplayOutcomes())
        }
        let group = try #require(table.sorted.first)
        #expect(group.name == "reason=java.lang.IllegalStateException" && group.count == 2)
        var request = Selection.Request()
        request.topic = "orders.DLT"
        request.groups = [group.name ?? ""]
        request.condition = "reason = java.lang.IllegalStateException and topic = orders and source = billing"
        let selection = try Selection(request, now: SampleEntry.moment)
        var (spring, connect) = (ForeignSample.spring(), ForeignSample.connect())
        #expect(selection.condition.holds(for: &spring) && !selection.condition.holds(for: &connect))
        #expect(selection.text.hasPrefix("--topic orders.DLT --group"))
        request.groups = ["detail=no stock"]
        let message = try Selection(request, now: SampleEntry.moment)
        #expect(message.condition.holds(for: &spring) && !message.condition.holds(for: &connect))
        request.topic = nil
        #expect(throws: (any Error).self) { try Selection(request, now: SampleEntry.moment) }
        var messages = GroupTable(.detail)
        for entry in [ForeignSample.spring(), ForeignSample.connect()] { messages.add(entry, nil, ReplayOutcomes()) }
        #expect(messages.sorted.map(\.name) == ["detail=no JSON", "detail=no stock"])
        var topics = GroupTable(.topic)
        topics.add(SampleEntry.make(), nil, ReplayOutcomes())
        #expect(topics.sorted.map(\.name) == ["topic=notifications"])
    }
}
