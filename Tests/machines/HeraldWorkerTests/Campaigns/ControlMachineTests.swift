import Foundation
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldText
import HeraldTime
import TestSupport
import Testing

@testable import HeraldCore
@testable import HeraldWorker

@Suite("A worker's reading of the campaigns topic")
struct ControlMachineTests {
    @Test("Lanes receive the last record of each campaign, once the topic has been read to its end")
    func beginning() throws {
        var script = ControlScript()
        #expect(script.turn() == ["find"])
        script.find(1)
        #expect(script.turn() == ["read 1"])
        try script.write(.paused, of: "spring")
        try script.write(.running, of: "spring")
        try script.write(.cancelled, of: "summer")
        #expect(script.turn() == [])
        script.reachEnd()
        #expect(script.turn() == ["spring running", "summer cancelled", "settled"])
    }

    @Test("After that they receive each change at once, and the log does too")
    func following() throws {
        var script = try ControlScript.following()
        try script.write(.paused, of: "spring")
        #expect(script.turn() == ["spring paused", "notice: spring paused"])
        try script.write(.paused, of: "spring")
        #expect(script.turn() == [])
    }

    @Test("A campaign whose record is deleted runs")
    func tombstone() throws {
        var script = try ControlScript.following(.cancelled)
        try script.takeBack("spring")
        #expect(script.turn() == ["spring running", "notice: spring running"])
    }

    @Test("A missing or forbidden topic delays nothing, and is looked for again")
    func missing() throws {
        for (code, words) in [
            (KafkaError.Code.unknownTopicOrPartition, ["settled"]),
            (KafkaError.Code.topicAuthorizationFailed, ["notice: unreadable", "settled"]),
        ] {
            var script = ControlScript()
            _ = script.turn()
            script.notFind(code)
            #expect(script.turn() == words)
            script.pass(ControlMachine.restTime - .milliseconds(1))
            #expect(script.turn() == [])
            script.pass(.milliseconds(1))
            #expect(script.turn() == ["find"])
        }
    }

    @Test("A start waits while brokers are away, which is logged once")
    func away() throws {
        var script = ControlScript()
        _ = script.turn()
        script.notFind(KafkaError.Code.timedOut)
        #expect(script.turn() == ["notice: unreadable"])
        script.pass(ControlMachine.restTime)
        #expect(script.turn() == ["find"])
        script.notFind(KafkaError.Code.timedOut)
        #expect(script.turn() == [])
    }

    @Test("A recreated topic is read anew, and states that it no longer contains are over")
    func anew() throws {
        var script = try ControlScript.following(.paused)
        script.fail(KafkaError.Code.unknownTopicOrPartition)
        #expect(script.turn() == [])
        script.pass(ControlMachine.restTime)
        #expect(script.turn() == ["find"])
        script.find(1)
        #expect(script.turn() == ["read 1"])
        try script.write(.paused, of: "summer")
        #expect(script.turn() == [])
        script.reachEnd()
        #expect(
            script.turn() == ["spring running", "notice: spring running", "summer paused", "notice: summer paused"])
    }

    @Test("Added partitions are found, and all of them are read")
    func partitions() throws {
        var script = try ControlScript.following()
        script.pass(ControlMachine.countInterval)
        #expect(script.turn() == ["find"])
        script.find(1)
        #expect(script.turn() == [])
        script.pass(ControlMachine.countInterval)
        #expect(script.turn() == ["find"])
        script.notFind(KafkaError.Code.timedOut)
        #expect(script.turn() == [], "brokers that are away are waited for")
        script.pass(ControlMachine.countInterval)
        #expect(script.turn() == ["find"])
        script.find(2)
        #expect(script.turn() == ["read 2"])
    }

    @Test("An invalid record is refused, and the known states stay")
    func invalid() throws {
        var script = try ControlScript.following(.paused)
        #expect(throws: InvalidArgument.self) { try script.write("{}", under: "spring") }
        #expect(script.turn() == [])
    }

    @Test("Its table leads from each phase to its end")
    func table() {
        typealias Name = ControlMachine.Phase.Name
        let table = ControlMachine.Phase.transitions
        for name in Name.allCases where name != .ended { #expect(table.allows(name, .ended), "\(name) does not end") }
        #expect(!Name.allCases.contains { table.allows(.ended, $0) })
    }
}

@Suite("A lane's request to pause a campaign")
struct ControlMachinePauseTests {
    @Test("is written as a pause, with its limit, in the worker's name")
    func pause() throws {
        var script = try ControlScript.following()
        script.machine.failing(script.failures())
        #expect(script.turn() == ["write spring paused by worker 1, bound 0.5"])
    }

    @Test("is written once, however many lanes make it before it is read")
    func once() throws {
        var script = try ControlScript.following()
        script.machine.failing(script.failures())
        script.machine.failing(script.failures())
        _ = script.turn()
        script.machine.written(nil, now: script.moment)
        script.machine.failing(script.failures())
        #expect(script.turn() == [])
    }

    @Test("is judged again after an operator has resumed the campaign")
    func again() throws {
        var script = try ControlScript.following()
        script.machine.failing(script.failures())
        _ = script.turn()
        script.machine.written(nil, now: script.moment)
        try script.write(.paused, of: "spring")
        script.pass(.milliseconds(1))
        try script.write(.running, of: "spring")
        _ = script.turn()
        script.machine.failing(script.failures())
        #expect(script.turn() == ["write spring paused by worker 1, bound 0.5"])
    }

    @Test("yields to an operator's later decision", arguments: CampaignControl.State.allCases)
    func operators(state: CampaignControl.State) throws {
        var script = try ControlScript.following()
        let failures = script.failures()
        script.pass(.milliseconds(1))
        try script.write(state, of: "spring")
        _ = script.turn()
        script.machine.failing(failures)
        #expect(script.turn() == [])
    }

    @Test("is retried after an interval, unless an operator has decided meanwhile")
    func retry() throws {
        for isDecided in [false, true] {
            var script = try ControlScript.following()
            script.machine.failing(script.failures())
            _ = script.turn()
            script.machine.written(KafkaError(code: KafkaError.Code.timedOut), now: script.moment)
            #expect(script.turn() == ["notice: spring unwritten"])
            #expect(script.machine.nextWake == script.moment.monotonic.advanced(by: .seconds(2)))
            if isDecided {
                try script.write(.cancelled, of: "spring")
                _ = script.turn()
            }
            script.pass(ControlMachine.restTime)
            #expect(script.turn() == (isDecided ? [] : ["write spring paused by worker 1, bound 0.5"]))
        }
    }

    @Test("waits until the topic's content is known")
    func unread() throws {
        var script = ControlScript()
        _ = script.turn()
        script.machine.failing(script.failures())
        script.find(1)
        #expect(script.turn() == ["read 1"])
        try script.write(.running, of: "spring")
        script.reachEnd()
        #expect(script.turn() == ["spring running", "settled", "write spring paused by worker 1, bound 0.5"])
    }
}

/// A machine with its time, and its wanted actions as words.
private struct ControlScript {
    private static let wall = WallTime(milliseconds: 1_795_250_426_000)

    var machine = ControlMachine(worker: "worker 1")
    private var elapsed = Milliseconds.zero
    private var last = control(.running, at: wall)

    var moment: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: elapsed.nanoseconds),
            wall: Self.wall.advanced(by: elapsed))
    }

    /// A script whose machine has reported a campaign, and follows.
    static func following(_ state: CampaignControl.State = .running) throws -> Self {
        var script = Self()
        _ = script.turn()
        script.find(1)
        _ = script.turn()
        try script.write(state, of: "spring")
        script.reachEnd()
        _ = script.turn()
        return script
    }

    private static func control(_ state: CampaignControl.State, at moment: WallTime) -> CampaignControl {
        CampaignControl(state: state, at: moment, by: "somebody", pauseIfFailures: 0.5)
    }

    /// A lane's report on a campaign, with the state that it received last.
    func failures() -> CampaignFailures {
        CampaignFailures(campaign: "spring", judged: last, failed: 150, of: 200)
    }

    mutating func pass(_ span: Milliseconds) { elapsed += span }

    mutating func find(_ count: Int32) {
        machine.found((0..<count).map { TopicPartition(topic: "campaigns", partition: $0) }, now: moment)
    }

    mutating func notFind(_ code: Int32) { machine.notFound(KafkaError(code: code), now: moment) }

    mutating func fail(_ code: Int32) { machine.readingFailed(KafkaError(code: code), now: moment) }

    mutating func reachEnd() { machine.reachedEnd(now: moment) }

    mutating func write(_ state: CampaignControl.State, of campaign: String) throws {
        last = Self.control(state, at: moment.wall)
        try machine.receive(
            key: CampaignControl.key(of: campaign).span.bytes, value: last.encoded().span.bytes)
    }

    mutating func write(_ value: String, under key: String) throws {
        try machine.receive(key: Array(key.utf8).span.bytes, value: Array(value.utf8).span.bytes)
    }

    mutating func takeBack(_ campaign: String) throws {
        try machine.receive(key: CampaignControl.key(of: campaign).span.bytes, value: nil)
    }

    mutating func turn() -> [String] {
        machine.advance(now: moment)
        return machine.takeActions().map { action in
            switch action {
            case .findPartitions: "find"
            case .read(let partitions): "read \(partitions.count)"
            case .tell(let name, let control): "\(name) \(control.state)"
            case .settled: "settled"
            case .write(let name, let control):
                "write \(name) \(control.state) by \(control.by), bound \(control.pauseIfFailures ?? 0)"
            case .notice(.unreadable): "notice: unreadable"
            case .notice(.changed(let name, let control)): "notice: \(name) \(control.state)"
            case .notice(.unwritten(let failures, _)): "notice: \(failures.campaign) unwritten"
            }
        }
    }
}
