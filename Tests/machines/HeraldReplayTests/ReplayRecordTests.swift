import HeraldBytes
import HeraldDriver
import HeraldEvents
import HeraldText
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldReplay

@Suite("The records of a replay, and their outcomes")
struct ReplayRecordTests {
    private func headers(_ list: HeaderList) -> [String] {
        (0..<list.count).map { index in
            let name = list.name(at: index).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            let value = list.value(at: index)?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            return "\(name)=\(value ?? "null")"
        }
    }

    private func replay(_ entry: DeadLetterEntry) throws -> ReplayRules.Replay {
        var entry = entry
        let rules = ReplayRules(maximumReplays: 5, requestTopics: ["notifications"])
        guard case .replay(let replay) = rules.decision(for: &entry, MarkIndex(), now: SampleEntry.moment) else {
            throw InvalidArgument("left out")
        }
        return replay
    }

    @Test("The key, the bytes and the original headers stay; of Herald's headers, the ones that workers honour")
    func record() throws {
        let entry = SampleEntry.make([
            "herald-history": "[]", "herald-replays": "1", "herald-key": "k", "herald-campaign": "spring",
            "herald-origin-timestamp": "5", "herald-not-before": "9",
        ])
        let record = OutgoingRecord(try replay(entry), of: entry, freshKey: nil, trace: nil)
        #expect(record.topic == "notifications" && record.key == Array("ann".utf8) && record.value == entry.value)
        #expect(
            headers(record.headers) == [
                "x-own=kept", "herald-id=e1", "herald-pns=apns,gcm", "herald-origin=notifications/3/99",
                "herald-origin-timestamp=5", "herald-history=[]", "herald-source=shop", "herald-campaign=spring",
                "herald-replays=2", "herald-key=k",
            ])
    }

    @Test("A fresh key replaces a former one")
    func freshKey() throws {
        let entry = SampleEntry.make(["herald-key": "old"])
        let record = OutgoingRecord(try replay(entry), of: entry, freshKey: "new", trace: nil)
        #expect(headers(record.headers).filter { $0.hasPrefix("herald-key") } == ["herald-key=new"])
    }

    @Test("A replay is linked to its own span, or without one to the dead letter's")
    func link() throws {
        let deadLetter = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let entry = SampleEntry.make(["herald-traceparent": deadLetter])
        func links(_ trace: TraceContext?) throws -> [String] {
            let record = OutgoingRecord(try replay(entry), of: entry, freshKey: nil, trace: trace)
            return headers(record.headers).filter { $0.hasPrefix("herald-traceparent") }
        }
        #expect(try links(nil) == ["herald-traceparent=\(deadLetter)"])
        let trace = TraceContext(traceID: TraceID(high: 0, low: 1), spanID: 2, isSampled: true)
        let own = String(decoding: trace.bytes, as: UTF8.self)
        #expect(try links(trace) == ["herald-traceparent=\(own)"])
    }

    @Test("A worker reads the replay as the event with its remaining push services")
    func decoded() throws {
        let entry = SampleEntry.make()
        let record = OutgoingRecord(try replay(entry), of: entry, freshKey: nil, trace: nil)
        let value = record.value ?? []
        var event = DecodedEvent()
        let failure = RecordDecoder().decode(
            topicKind: .request, topic: "notifications", partition: 0, offset: 1,
            value: value.span.bytes, headers: record.headers, into: &event)
        #expect(failure == nil && event.replays == 1)
        #expect(event.originPartition == 3 && event.originOffset == 99)
        #expect(event.pushServices == [0, 1], "apns and gcm, but not wns")
    }

    private func result(_ pns: String?, _ outcome: Outcome, replays: Int = 1, offset: Int64 = 99) throws
        -> NotificationResult
    {
        let service = pns.map { #""pns":"\#($0)","# } ?? ""
        let text =
            #"{\#(service)"outcome":"\#(outcome.rawValue)","completedAt":"2026-11-21T08:40:26Z","replays":\#(replays),"#
            + #""origin":{"topic":"notifications","partition":3,"offset":\#(offset)}}"#
        return try NotificationResult(decoding: Array(text.utf8))
    }

    @Test("Outcomes are counted once, for the batch that they belong to, and only if they are expected")
    func outcomes() throws {
        var tally = ReplayTally()
        tally.beginBatch()
        tally.expect(try replay(SampleEntry.make()))
        #expect(tally.batch.open == 2)
        tally.receive(try result("apns", .delivered, replays: 2))
        tally.receive(try result("apns", .delivered, offset: 98))
        tally.receive(try result("wns", .delivered))
        #expect(tally.batch.known == 0)
        tally.receive(try result("apns", .delivered))
        tally.receive(try result("apns", .delivered))
        #expect(tally.batch.delivered == 1 && tally.batch.open == 1)
        tally.beginBatch()
        tally.receive(try result("gcm", .deadLettered))
        #expect(tally.batch == ReplayTally.Counts())
        #expect(tally.total.delivered == 1 && tally.total.failed == 1 && tally.total.open == 0)
    }

    @Test("A result without a push service ends all of the event's")
    func undecodable() throws {
        var tally = ReplayTally()
        tally.beginBatch()
        tally.expect(try replay(SampleEntry.make()))
        tally.receive(try result(nil, .deadLettered))
        #expect(tally.batch.failed == 2 && tally.batch.open == 0)
        tally.expect(try replay(SampleEntry.make(value: "no json", ["herald-pns": ""])))
        tally.receive(try result(nil, .expired))
        #expect(tally.batch.failed == 3 && tally.batch.open == 0)
    }

    @Test("A process distinguishes itself from others, living or not")
    func processes() {
        #expect(ProcessIdentity.current.isCertainlyAlive && !ProcessIdentity.current.hasEnded)
        var other = ProcessIdentity.current
        other.started += "1"
        #expect(other.hasEnded && !other.isCertainlyAlive)
        var elsewhere = ProcessIdentity.current
        elsewhere.boot = "another machine"
        #expect(!elsewhere.hasEnded && !elsewhere.isCertainlyAlive)
    }
}
