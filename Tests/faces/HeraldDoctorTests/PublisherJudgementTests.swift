import HeraldEvents
import Testing

@testable import HeraldDoctor

@Suite("The judgement of publishers by their newest records")
struct PublisherJudgementTests {
    private var judgement = PublisherJudgement(partitions: 6)

    private mutating func look(
        at partition: Int32, _ offset: Int64, key: String?, user: String? = "alice", headers: [(String, String)] = []
    ) {
        let value = Array(#"{"user":"\#(user ?? "")","pns":"apns","message":"m","source":"shop"}"#.utf8)
        var list = HeaderList()
        for (name, text) in headers { list.append(name, text) }
        let decoder = RecordDecoder(requestTopics: ["t"])
        guard let key else {
            judgement.look(
                at: value.span.bytes, key: nil, list, topic: "t", partition: partition, offset: offset, decoder)
            return
        }
        judgement.look(
            at: value.span.bytes, key: key.utf8.span.bytes, list, topic: "t", partition: partition, offset: offset,
            decoder)
    }

    @Test("Records within the contract pass, and so does a topic without events")
    mutating func passed() {
        #expect(judgement.checks(of: "t").map(\.verdict) == [.passed])
        look(at: 3, 0, key: "alice")
        // A dead letter has its own reasons, and a replay is Herald's own.
        look(at: 3, 1, key: nil, user: nil)
        look(at: 3, 2, key: nil, headers: [("herald-origin", "elsewhere/0/1"), ("herald-replays", "1")])
        #expect(
            judgement.checks(of: "t").map(\.detail) == ["the newest event is published as the contract asks"])
    }

    @Test("Each fault is a warning with its last example, its consequence and its remedy")
    mutating func faults() {
        look(at: 3, 7, key: "alice")
        look(at: 1, 8, key: nil)
        look(at: 2, 9, key: nil)
        look(at: 5, 4, key: "alice")
        let checks = judgement.checks(of: "t")
        #expect(checks.map(\.verdict) == [.warning, .warning])
        #expect(checks[0].detail.hasPrefix("of the newest 4 events 2 have no key, the last at t/2/9, source shop: "))
        #expect(checks[1].detail.hasPrefix("of the newest 4 events 1 do not lie where murmur2 puts their key"))
        #expect(checks[1].fix?.contains("partitioner=murmur2_random") == true)
    }
}
