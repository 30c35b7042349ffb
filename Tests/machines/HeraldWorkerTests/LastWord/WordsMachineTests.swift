import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldWorker

@Suite("A worker's reading of opt-outs and recalls")
struct WordsMachineTests {
    @Test("Both topics are read whole, and what lanes know is as old as the question for the ends")
    func beginning() {
        var script = WordsScript()
        #expect(script.turn() == ["find"])
        script.find(2)
        #expect(script.turn() == ["read 2"])
        script.pass(.seconds(9))
        #expect(script.turn() == [])
        script.reachEnd()
        #expect(script.turn() == ["notice: complete", "current as of 0", "settled", "ends"])
        script.pass(.milliseconds(30))
        script.reachEnd()
        #expect(script.turn() == ["current as of 9000"])
    }

    @Test("The ends are asked for each second, from question to question")
    func currency() {
        var script = WordsScript.following()
        script.pass(.milliseconds(999))
        #expect(script.turn() == [])
        script.pass(.milliseconds(1))
        #expect(script.turn() == ["ends"])
        script.pass(.milliseconds(400))
        script.reachEnd()
        #expect(script.turn() == ["current as of 1000"])
        script.pass(.milliseconds(600))
        #expect(script.turn() == ["ends"])
    }

    @Test("When no broker tells the ends, nothing is read again: they are asked for again")
    func away() {
        var script = WordsScript.following()
        script.pass(.seconds(1))
        #expect(script.turn() == ["ends"])
        script.notKnowEnds(KafkaError.Code.timedOut)
        #expect(script.turn() == ["notice: unreadable"])
        script.pass(.seconds(1))
        #expect(script.turn() == ["ends"])
        script.notKnowEnds(KafkaError.Code.timedOut)
        #expect(script.turn() == [])
        script.pass(.seconds(1))
        #expect(script.turn() == ["ends"])
        script.reachEnd()
        #expect(script.turn() == ["current as of 3000"])
    }

    @Test("Missing topics are believed at the second look; nothing is current while one is missing")
    func missing() {
        var script = WordsScript()
        _ = script.turn()
        script.find(0, missing: ["preferences", "recalls"])
        #expect(script.turn() == [])
        script.pass(.seconds(1))
        #expect(script.turn() == ["find"])
        script.find(0, missing: ["preferences", "recalls"])
        #expect(script.turn() == ["notice: missing preferences recalls", "settled"])
        script.pass(.seconds(1))
        #expect(script.turn() == ["find"])
        script.find(0, missing: ["preferences", "recalls"])
        #expect(script.turn() == [])
        script.pass(.seconds(1))
        #expect(script.turn() == ["find"])
        script.find(1, missing: ["recalls"])
        #expect(script.turn() == ["notice: missing recalls", "read 1"])
        script.reachEnd()
        #expect(script.turn() == ["notice: complete"])
        script.pass(.seconds(1))
        #expect(script.turn() == ["find"])
        script.find(2)
        #expect(script.turn() == ["notice: missing", "read 2 again"])
        script.reachEnd()
        #expect(script.turn() == ["notice: complete", "current as of 4000"])
    }

    @Test("A broker that has forgotten a topic for a moment forgets nobody's word")
    func doubt() {
        var script = WordsScript.following()
        script.pass(WordsMachine.countInterval)
        #expect(script.turn() == ["find"])
        script.find(0, missing: ["preferences", "recalls"])
        #expect(script.turn() == ["ends"])
        script.reachEnd()
        _ = script.turn()
        script.pass(.seconds(1))
        #expect(script.turn() == ["find"])
        script.find(2)
        #expect(script.turn() == ["ends"])
    }

    @Test("A topic that was made anew is read again, and the words of the former one stay until then")
    func anew() {
        var script = WordsScript.following()
        script.fail(KafkaError.Code.unknownTopicOrPartition)
        #expect(script.turn() == [])
        script.pass(.seconds(1))
        #expect(script.turn() == ["find"])
        script.find(2)
        #expect(script.turn() == ["read 2 again"])
        script.fail(KafkaError.Code.timedOut)
        #expect(script.turn() == ["notice: unreadable"])
        script.pass(.seconds(1))
        _ = script.turn()
        script.find(2)
        // What the broken reading has is of the new topic.
        #expect(script.turn() == ["read 2"])
        script.reachEnd()
        #expect(script.turn().contains("notice: complete"))
    }

    @Test("A forbidden topic keeps no start waiting, and is never current")
    func forbidden() {
        var script = WordsScript()
        _ = script.turn()
        script.notFind(KafkaError.Code.topicAuthorizationFailed)
        #expect(script.turn() == ["notice: unreadable", "settled"])
        script.pass(.seconds(1))
        #expect(script.turn() == ["find"])
        script.notFind(KafkaError.Code.topicAuthorizationFailed)
        #expect(script.turn() == [])
    }

    @Test("A start waits while brokers are away, which is logged once")
    func start() {
        var script = WordsScript()
        _ = script.turn()
        script.notFind(KafkaError.Code.timedOut)
        #expect(script.turn() == ["notice: unreadable"])
        script.pass(.seconds(1))
        #expect(script.turn() == ["find"])
        script.notFind(KafkaError.Code.timedOut)
        #expect(script.turn() == [])
    }

    @Test("More partitions are found within a minute, and everything is read again")
    func growth() {
        var script = WordsScript.following()
        script.pass(WordsMachine.countInterval)
        #expect(script.turn() == ["find"])
        script.find(3)
        #expect(script.turn() == ["read 3 again"])
    }

    @Test("It ends with its worker")
    func end() {
        var script = WordsScript.following()
        script.machine.stop()
        #expect(script.machine.isOver)
    }
}

/// A machine with its time, and its wanted actions as words.
private struct WordsScript {
    var machine = WordsMachine()
    private var elapsed = Milliseconds.zero

    private var moment: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: elapsed.nanoseconds),
            wall: WallTime(milliseconds: 1_795_250_426_000 + elapsed.count))
    }

    /// A script whose machine has read both topics at its time zero.
    static func following() -> Self {
        var script = Self()
        _ = script.turn()
        script.find(2)
        _ = script.turn()
        script.reachEnd()
        _ = script.turn()
        return script
    }

    mutating func pass(_ span: Milliseconds) { elapsed += span }

    mutating func find(_ count: Int32, missing: [String] = []) {
        machine.found(
            (0..<count).map { TopicPartition(topic: "preferences", partition: $0) }, missing: missing, now: moment)
    }

    mutating func notFind(_ code: Int32) { machine.notFound(KafkaError(code: code), now: moment) }

    mutating func notKnowEnds(_ code: Int32) { machine.endsUnknown(KafkaError(code: code), now: moment) }

    mutating func fail(_ code: Int32) { machine.readingFailed(KafkaError(code: code), now: moment) }

    mutating func reachEnd() { machine.reachedEnd(now: moment) }

    mutating func turn() -> [String] {
        machine.advance(now: moment)
        return machine.takeActions().map { action in
            switch action {
            case .findPartitions: "find"
            case .read(let partitions, let isAgain): "read \(partitions.count)\(isAgain ? " again" : "")"
            case .askEnds: "ends"
            case .current(let moment): "current as of \(moment.nanoseconds / 1_000_000)"
            case .settled: "settled"
            case .notice(.unreadable): "notice: unreadable"
            case .notice(.missing(let topics)): (["notice: missing"] + topics).joined(separator: " ")
            case .notice(.complete): "notice: complete"
            }
        }
    }
}
