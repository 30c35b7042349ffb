import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldTimeline

@Suite("The combination of records")
struct TimelineBuilderTests {
    @Test("The timeline does not depend on the order in which the records are read")
    func anyOrder() {
        let steps = [
            Sample.published(), Sample.called(1), Sample.delayed(2, until: 32), Sample.called(33),
            Sample.settled(34, "apns"), Sample.settled(35, "gcm"),
        ]
        var forward = TimelineBuilder(limit: 10, partitions: ["notifications": 100])
        var backward = TimelineBuilder(limit: 10, partitions: ["notifications": 100])
        for step in steps { forward.add([step], to: Sample.origin, Sample.identity) }
        for step in steps.reversed() { backward.add([step], to: Sample.origin, Sample.identity) }
        #expect(forward.timelines() == backward.timelines())
        #expect(forward.timelines().first?.steps == steps)
        #expect(forward.timelines().first?.open == [])
    }

    @Test("A call that several records mention appears once")
    func repeatedHistory() throws {
        let event = try Sample.event([
            Sample.published(), Sample.called(1), Sample.delayed(2, until: 7), Sample.called(1), Sample.called(8),
            Sample.delayed(9, until: 39),
        ])
        #expect(event.steps.count == 5)
        #expect(event.delay?.until == Sample.at(39))
        #expect(event.open == ["apns", "gcm"])
    }

    @Test("A result of a former replay does not apply to a newer one")
    func replays() throws {
        var steps = [
            Sample.published(), Sample.settled(1, "apns", .deadLettered), Sample.settled(1, "gcm"), Sample.dead(1),
        ]
        steps.append(
            TimelineStep(at: Sample.at(60), kind: .replayed(number: 1, pushServices: ["apns"]), record: Sample.origin))
        #expect(try Sample.event(steps).open == ["apns"])
        steps.append(Sample.settled(61, "apns", replays: 1))
        let event = try Sample.event(steps)
        #expect(event.open == [])
        #expect(event.outcomes["apns"]?.outcome == .delivered)
        #expect(event.outcomes["gcm"]?.outcome == .delivered)
    }

    @Test("The newest events of each partition are kept, in any order of arrival")
    func bounded() {
        for offsets in [Array(0..<1_000), Array((0..<1_000).reversed()), (0..<1_000).map { ($0 * 619) % 1_000 }] {
            var builder = TimelineBuilder(limit: 7, partitions: ["notifications": 100])
            for offset in offsets {
                builder.add(
                    [Sample.published(Int64(offset))],
                    to: Origin(topic: "notifications", partition: 0, offset: Int64(offset)), Sample.identity)
            }
            #expect(builder.isCut)
            #expect(builder.timelines().map(\.origin.offset) == Array(993..<1_000))
        }
    }

    @Test("Origins in a thousand foreign topics and partitions fill no memory")
    func madeUpTopics() {
        for numbers in [Array(0..<1_000), Array((0..<1_000).reversed()), (0..<1_000).map { ($0 * 619) % 1_000 }] {
            var builder = TimelineBuilder(limit: 7, partitions: ["notifications": 100])
            for number in numbers {
                let partition = Int32(number)
                for topic in ["notifications", "topic-\(1_000 + number)"] {
                    builder.add(
                        [Sample.published()], to: Origin(topic: topic, partition: partition, offset: 1), Sample.identity
                    )
                }
            }
            let kept = builder.timelines().map(\.origin)
            #expect(kept.count { $0.topic == "notifications" && $0.partition < 100 } == 100)
            #expect(kept.filter { $0.partition >= 100 }.map(\.partition) == Array(100..<116) && kept.count == 116)
            #expect(builder.isCut)
        }
    }

    @Test("The newest steps of an event with endless retries are kept, with its identity")
    func manySteps() throws {
        let steps = (1...2_000).map { Sample.called(Int64($0)) }
        let event = try Sample.event([Sample.published()] + steps)
        #expect(event.steps.count == EventTimeline.stepLimit)
        #expect(event.steps.first == Sample.published())
        #expect(event.steps.last == steps.last)
        #expect(event.droppedCount == 1_501)
    }
}
