import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Reading ahead of retry partitions")
struct EngineReadAheadTests {
    private let now = Moment(monotonic: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 0))

    /// One request partition and three retry partitions; sources 1 to 3.
    private func withEngine(_ body: (inout Engine) -> Void) {
        var engine = Engine(configuration: EngineConfiguration(decoder: RecordDecoder(pushServices: .standard)))
        let topics = [
            ConsumedTopic(name: "notifications", role: .request(weight: 1)),
            ConsumedTopic(name: "notifications.retry.5s", role: .retry(delay: .seconds(5))),
        ]
        var partitions = [AssignedPartition(topic: 0, number: 0, startOffset: 0)]
        for number: Int32 in 0..<3 { partitions.append(AssignedPartition(topic: 1, number: number, startOffset: 0)) }
        engine.assigned(partitions, topics: topics, now: now)
        body(&engine)
    }

    private func actions(
        _ engine: inout Engine, _ counts: [Int], fetched: Int = 0, at milliseconds: Int64 = 0
    ) -> [Action] {
        engine.clearActions()
        let now = Moment(
            monotonic: MonotonicTime(nanoseconds: milliseconds * 1_000_000), wall: WallTime(milliseconds: milliseconds))
        engine.readAhead(counts, fetched: fetched, now: now)
        return engine.actions
    }

    @Test("too much pauses the fullest partitions but one, and never a request topic")
    func crowded() {
        withEngine { engine in
            #expect(actions(&engine, [50_000, 5_000, 4_000, 3_000]) == [])
            #expect(
                actions(&engine, [50_000, 9_000, 30_000, 20_000])
                    == [.pause(partition: 2), .pause(partition: 3)])
            #expect(actions(&engine, [50_000, 60_000, 0, 0]) == [], "the last one stays")
        }
    }

    @Test("fetched records are watched while some are in the queues, or a partition is paused for them")
    func watching() {
        withEngine { engine in
            let before = engine.watchesFetched
            #expect(!before)
            _ = actions(&engine, [0, 0, 30_000, 1_000], fetched: 1_000)
            let during = engine.watchesFetched
            #expect(during)
            for second: Int64 in 1..<4 { _ = actions(&engine, [0, 0, 0, 0], fetched: 1_000, at: second * 1_000) }
            let after = engine.watchesFetched
            #expect(!after, "everything was taken, and what was paused goes on")
        }
    }

    @Test("only as many partitions are paused as needed")
    func justEnough() {
        withEngine { engine in
            #expect(actions(&engine, [0, 1_000, 20_000, 2_000]) == [.pause(partition: 2)])
        }
    }

    @Test("with room they are resumed one by one, each in its turn")
    func again() {
        withEngine { engine in
            _ = actions(&engine, [0, 9_000, 30_000, 20_000])
            #expect(actions(&engine, [0, 5_000, 0, 0]) == [], "there is no room yet")
            #expect(actions(&engine, [0, 0, 0, 0]) == [.resume(partition: 2)])
            #expect(actions(&engine, [0, 0, 30_000, 0]) == [.pause(partition: 2)])
            #expect(actions(&engine, [0, 0, 0, 0]) == [.resume(partition: 3)])
            #expect(actions(&engine, [0, 0, 0, 0]) == [.resume(partition: 2)])
            #expect(actions(&engine, [0, 0, 0, 0]) == [])
        }
    }

    @Test("partitions are resumed before they leave")
    func gone() {
        withEngine { engine in
            _ = actions(&engine, [0, 9_000, 30_000, 20_000])
            engine.clearActions()
            engine.lost(now: now)
            #expect(engine.actions.contains(.resume(partition: 2)) && engine.actions.contains(.resume(partition: 3)))
        }
    }

    @Test("large records pause the fullest source, even a request topic, which is resumed at once")
    func large() {
        withEngine { engine in
            #expect(actions(&engine, [20, 0, 9_000, 0], fetched: 20 << 20) == [])
            #expect(actions(&engine, [60, 0, 9_000, 0], fetched: 60 << 20) == [.pause(partition: 0)])
        }
        withEngine { engine in
            #expect(actions(&engine, [60, 0, 0, 0], fetched: 60 << 20) == [.pause(partition: 0)])
            #expect(actions(&engine, [60, 0, 0, 0], fetched: 60 << 20) == [.resume(partition: 0)], "its queue is void")
        }
    }

    /// Lets the engine take one record of a source.
    private func take(_ engine: inout Engine, source: Int, offset: Int64, timestamp: WallTime? = nil) {
        let value = Array(#"{"user":"u","message":"m","pns":["apns"]}"#.utf8)
        _ = engine.record(
            source: source, partition: Int32(max(0, source - 1)), offset: offset, timestamp: timestamp,
            value: value.span.bytes, headers: HeaderList(), now: now)
    }

    /// Fetches four megabytes a look, four records of the request topic, and takes one of them.
    private func fillWhileTaking(_ engine: inout Engine) -> [Action] {
        for turn in 1...20 {
            take(&engine, source: 0, offset: Int64(turn - 1))
            let made = actions(&engine, [3 * turn, 0, 0, 0], fetched: turn * 4 << 20)
            if !made.isEmpty { return made }
        }
        return []
    }

    @Test("a request topic being consumed keeps its fetched records, and is fetched again when there is room")
    func retained() {
        withEngine { engine in
            #expect(fillWhileTaking(&engine) == [.retainQueue(source: 0), .pause(partition: 0)])
            for offset: Int64 in 18..<38 { take(&engine, source: 0, offset: offset) }
            #expect(actions(&engine, [34, 0, 0, 0], fetched: 72 << 20, at: 2_000) == [], "it has records enough")
            for offset: Int64 in 38..<48 { take(&engine, source: 0, offset: offset) }
            #expect(actions(&engine, [24, 0, 0, 0], fetched: 72 << 20, at: 2_100) == [.resume(partition: 0)])
        }
    }

    @Test("retained records are dropped when their source is idle while others need the room")
    func dropped() {
        withEngine { engine in
            _ = fillWhileTaking(&engine)
            #expect(actions(&engine, [54, 0, 0, 0], fetched: 72 << 20) == [], "nobody waits for it")
            take(&engine, source: 1, offset: 0)
            #expect(
                actions(&engine, [54, 1, 0, 0], fetched: 73 << 20)
                    == [.dropRetained(source: 0), .rewind(partition: 0)])
        }
    }

    @Test("a few waiting records do not keep the large ones fetched with them: their partition is paused")
    func pinned() {
        withEngine { engine in
            for turn in 1...56 {
                #expect(actions(&engine, [0, turn, 0, 0], fetched: turn * 900_000) == [])
            }
            var fetched = 56 * 900_000
            var made: [Action] = []
            while made.isEmpty, fetched < 70 << 20 {
                fetched += 900_000
                made = actions(&engine, [0, 57 + fetched / 900_000, 0, 0], fetched: fetched)
            }
            #expect(made == [.pause(partition: 1)])
        }
    }

    @Test("a partition paused for another's backlog is resumed within a second, each in its turn")
    func turns() {
        withEngine { engine in
            #expect(actions(&engine, [10, 30, 0, 0], fetched: 30 << 20) == [])
            #expect(actions(&engine, [40, 30, 0, 0], fetched: 60 << 20) == [.pause(partition: 0)])
            #expect(actions(&engine, [0, 30, 0, 0], fetched: 60 << 20, at: 999) == [])
            #expect(actions(&engine, [0, 30, 0, 0], fetched: 60 << 20, at: 1_000) == [.resume(partition: 0)])
        }
    }

    @Test("a retry partition is resumed within a second, in its turn, although the backlog of another stays")
    func retryTurns() {
        withEngine { engine in
            _ = actions(&engine, [0, 9_000, 30_000, 20_000])
            #expect(actions(&engine, [0, 9_000, 0, 0], at: 999) == [])
            #expect(actions(&engine, [0, 9_000, 0, 0], at: 1_000) == [.resume(partition: 2)])
            #expect(actions(&engine, [0, 9_000, 30_000, 0], at: 1_100) == [.pause(partition: 1)], "it has its turn")
            #expect(actions(&engine, [0, 0, 30_000, 0], at: 2_099) == [])
            #expect(actions(&engine, [0, 0, 30_000, 0], at: 2_100) == [.resume(partition: 3)])
        }
    }

    @Test("a retry partition with few records is still fetched beside the backlog of one being consumed")
    func steady() {
        withEngine { engine in
            take(&engine, source: 2, offset: 0)
            #expect(
                actions(&engine, [0, 1_500, 13_000, 0]) == [.retainQueue(source: 2), .pause(partition: 2)])
            take(&engine, source: 2, offset: 1)
            #expect(actions(&engine, [0, 1_500, 12_000, 0], at: 500) == [], "what was kept is taken first")
            #expect(actions(&engine, [0, 1_500, 5_000, 0], at: 5_000) == [], "it has records enough")
            #expect(actions(&engine, [0, 1_500, 2_000, 0], at: 6_000) == [.resume(partition: 2)])
        }
    }

    @Test("few records before their moment do not pause their partition beside another's backlog")
    func fewThatWait() {
        withEngine { engine in
            take(&engine, source: 1, offset: 0)
            take(&engine, source: 2, offset: 0, timestamp: WallTime(milliseconds: -10_000))
            #expect(
                actions(&engine, [0, 1_500, 13_000, 0]) == [.retainQueue(source: 2), .pause(partition: 2)])
        }
    }

    @Test("a lone retry partition keeps its fetched records while it is consumed")
    func alone() {
        withEngine { engine in
            take(&engine, source: 1, offset: 0)
            #expect(actions(&engine, [0, 13_000, 0, 0]) == [.retainQueue(source: 1), .pause(partition: 1)])
        }
    }

    @Test("ordinary records pause nothing, even with two full topics of them in the queues")
    func ordinary() {
        withEngine { engine in
            #expect(actions(&engine, [88_000, 10_000, 0, 0], fetched: 98_000 * 230) == [])
        }
    }
}
