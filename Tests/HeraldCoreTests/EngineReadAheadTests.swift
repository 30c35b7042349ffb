import HeraldEvents
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
            ConsumedTopic(name: "notifications.retry.5s", role: .retry(delay: 5_000)),
        ]
        var partitions = [AssignedPartition(topic: 0, number: 0, startOffset: 0)]
        for number: Int32 in 0..<3 { partitions.append(AssignedPartition(topic: 1, number: number, startOffset: 0)) }
        engine.assigned(partitions, topics: topics, now: now)
        body(&engine)
    }

    private func actions(_ engine: inout Engine, _ counts: [Int]) -> [Action] {
        engine.clearActions()
        engine.readAhead(counts)
        return engine.actions
    }

    @Test("too much pauses the fullest but one, and never a request topic")
    func crowded() {
        withEngine { engine in
            #expect(actions(&engine, [50_000, 5_000, 4_000, 3_000]) == [])
            #expect(
                actions(&engine, [50_000, 9_000, 30_000, 20_000])
                    == [.pause(partition: 2), .pause(partition: 3)])
            #expect(actions(&engine, [50_000, 60_000, 0, 0]) == [], "the last one stays")
        }
    }

    @Test("only as many are paused as is needed")
    func justEnough() {
        withEngine { engine in
            #expect(actions(&engine, [0, 1_000, 20_000, 2_000]) == [.pause(partition: 2)])
        }
    }

    @Test("with room they come again one by one, each in its turn")
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

    @Test("partitions that go are resumed before")
    func gone() {
        withEngine { engine in
            _ = actions(&engine, [0, 9_000, 30_000, 20_000])
            engine.clearActions()
            engine.lost(now: now)
            #expect(engine.actions.contains(.resume(partition: 2)) && engine.actions.contains(.resume(partition: 3)))
        }
    }
}
