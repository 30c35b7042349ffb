import Foundation
import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldHub
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldTools
import TestSupport
import Testing

@testable import HeraldFeedback

@Suite("A follower, from its claim to its end")
struct FeedbackMachineTests {
    private typealias Script = FeedbackScript

    @Test("It claims the name, finds its place, asks, and writes feedback and offset in one transaction")
    func follows() throws {
        var script = Script()
        script.pass(.zero)
        #expect(script.take() == ["claim"])
        script.transaction(.ready(lateClaims: 0))
        #expect(script.take() == ["find"])
        script.start(at: 4)
        #expect(script.take() == ["following"])
        try script.deliver("NH-1", offset: 4)
        script.pass(.seconds(5))
        #expect(script.take() == ["ask NH-1"])
        script.answer(token: 1)
        script.pass(.seconds(1))
        #expect(script.take() == ["produce 1"])
        script.report(.produced)
        #expect(script.take() == ["commit 5"])
        script.transaction(.committed(sequence: 1, nil, .acknowledged))
        #expect(script.machine.counts.recorded == [.final: 1])
    }

    @Test("After a failure it claims the name again, and ignores answers to its former questions")
    func beginsAnew() throws {
        var script = Script.following()
        try script.deliver("NH-1", offset: 0)
        script.pass(.seconds(5))
        script.machine.readingFailed(.timeOut)
        #expect(script.take() == ["ask NH-1", "again"])
        script.pass(.zero)
        #expect(script.take() == [] && script.machine.phase.name == .resting)
        script.pass(FeedbackMachine.restTime)
        #expect(script.take() == ["claim"])
        script.transaction(.ready(lateClaims: 0))
        script.start(at: 0)
        _ = script.take()
        try script.deliver("NH-1", offset: 0)
        script.pass(.seconds(5))
        #expect(script.take() == ["ask NH-1"])
        script.answer(token: 1)
        #expect(script.machine.counts.waiting == 1)
        script.answer(token: 2)
        #expect(script.machine.counts.waiting == 0)
    }

    @Test("Another follower's claim ends it; a transaction that the broker has ended for its age does not")
    func fenced() throws {
        for (age, end) in [(0, PublicationEnd.takenOver), (60_000, nil)] as [(Int64, PublicationEnd?)] {
            var script = try Script.committing()
            script.wait(.milliseconds(age))
            script.transaction(.committed(sequence: 1, .fence, .fatal(isFenced: true)))
            #expect(script.machine.end == end && script.machine.isOver == (end != nil))
        }
    }

    @Test("Claiming the name again shows whether a commit in doubt was made")
    func doubt() throws {
        var script = try Script.committing()
        script.transaction(.committed(sequence: 1, .timeOut, .abortable))
        #expect(script.take() == ["again"] && script.machine.counts.recorded.isEmpty)
        script.pass(FeedbackMachine.restTime)
        #expect(script.take() == ["claim"])
    }

    @Test("A stop makes the known feedback durable, and then ends it")
    func stops() throws {
        var script = Script.following()
        try script.deliver("NH-1", offset: 0)
        try script.deliver("NH-2", offset: 1)
        script.pass(.seconds(5))
        #expect(script.take() == ["ask NH-1", "ask NH-2"])
        script.answer(token: 2)
        script.machine.stop(now: script.moment)
        script.pass(.zero)
        #expect(script.take() == ["produce 1"])
        script.report(.produced)
        #expect(script.take() == ["commit 0"] && !script.machine.isOver)
        script.transaction(.committed(sequence: 1, nil, .acknowledged))
        script.pass(.zero)
        #expect(script.machine.end == .interrupted)
    }

    @Test("A stop before it follows ends it at once")
    func stopsEarly() {
        var script = Script()
        script.pass(.zero)
        script.machine.stop(now: script.moment)
        #expect(script.machine.end == .interrupted)
    }

    @Test("A stop while no broker answers leaves its batch to the next follower")
    func stopsInOutage() throws {
        var script = try Script.committing()
        script.machine.stop(now: script.moment)
        script.transaction(.committed(sequence: 1, .timeOut, .failedForNow))
        #expect(script.machine.end == .interrupted)
    }

    @Test("A missing right ends it at its start, and is waited for later")
    func forbidden() {
        let error = KafkaError(code: KafkaError.Code.topicAuthorizationFailed)
        var script = Script()
        script.pass(.zero)
        script.transaction(.ready(lateClaims: 0))
        script.machine.notStarted(error, now: script.moment)
        #expect(script.machine.isOver)
        script = .following()
        script.machine.beginAgain()
        script.pass(.zero)
        script.pass(FeedbackMachine.restTime)
        script.transaction(.ready(lateClaims: 0))
        script.machine.notStarted(error, now: script.moment)
        #expect(script.machine.phase.name == .resting)
    }

    @Test("An absence of brokers is reported once, and again after they were back")
    func waits() {
        var script = Script()
        script.pass(.zero)
        _ = script.take()
        script.transaction(.waiting(.timeOut))
        script.transaction(.waiting(.timeOut))
        #expect(script.take() == ["again"])
        script.transaction(.ready(lateClaims: 0))
        script.start(at: 0)
        #expect(script.take() == ["find", "following"])
    }

    @Test("New partitions are taken up when the batch under way is durable")
    func partitions() throws {
        var script = try Script.committing()
        script.machine.beginAgain()
        script.pass(.seconds(1))
        #expect(script.take() == [])
        script.transaction(.committed(sequence: 1, nil, .acknowledged))
        script.pass(.zero)
        script.pass(FeedbackMachine.restTime)
        #expect(script.take() == ["claim"])
    }

    @Test("Expired devices have a transaction of their own, before the next feedback")
    func devices() {
        var script = Script.following()
        script.machine.takeDevices([OutgoingRecord(topic: "f", key: nil, value: [1])])
        script.pass(.zero)
        #expect(script.take() == ["produce 1"])
        script.report(.produced)
        #expect(script.take() == ["commit"])
        script.transaction(.committed(sequence: 1, nil, .acknowledged))
        #expect(script.take() == ["devices"])
    }
}

/// A machine with its time, and its wanted actions as words.
private struct FeedbackScript {
    private static let wall = WallTime(milliseconds: 1_795_250_426_000)

    var machine: FeedbackMachine
    private(set) var now = MonotonicTime(nanoseconds: 0)

    init() {
        var engine = FeedbackEngine.Configuration()
        engine.offsetsInterval = .hours(1)
        engine.refreshInterval = .hours(1)
        machine = FeedbackMachine(
            FeedbackPublication(engine, topics: Topics(), now: now),
            writer: BatchWriter.Configuration(transactionTimeout: .minutes(1), patience: .minutes(1)))
    }

    /// A script whose machine follows, from the first offset on.
    static func following() -> Self {
        var script = Self()
        script.pass(.zero)
        script.transaction(.ready(lateClaims: 0))
        script.start(at: 0)
        _ = script.take()
        return script
    }

    /// A script whose first commit is under way.
    static func committing() throws -> Self {
        var script = following()
        try script.deliver("NH-1", offset: 0)
        script.pass(.seconds(5))
        script.answer(token: 1)
        script.pass(.seconds(1))
        script.report(.produced)
        _ = script.take()
        return script
    }

    var moment: Moment {
        Moment(monotonic: now, wall: Self.wall.advanced(by: .milliseconds(now.nanoseconds / 1_000_000)))
    }

    mutating func wait(_ span: Milliseconds) { now = now.advanced(by: span) }

    mutating func pass(_ span: Milliseconds) {
        wait(span)
        machine.advance(now: moment)
    }

    mutating func report(_ report: BatchWriter.Report) { machine.receive(report, now: moment) }

    mutating func transaction(_ report: TransactionReport) { self.report(.transaction(report)) }

    mutating func start(at offset: Int64) {
        machine.started(
            [
                FeedbackPublication.Start(
                    partition: 0, committed: offset, metadata: "", offset: offset,
                    identity: PartitionIdentity(cluster: "c", topic: "notifications.results", partition: 0))
            ], now: moment)
    }

    mutating func deliver(_ backendID: String, offset: Int64) throws {
        var result = try NotificationResult(
            decoding: Array(
                """
                {"id":"e","pns":"apns","user":"ann","outcome":"delivered","backendId":"\(backendID)",\
                "completedAt":"2026-11-21T08:40:26Z","origin":{"topic":"notifications","partition":0,"offset":7}}
                """.utf8))
        result.completedAt = moment.wall
        machine.take(result, byteCount: 300, partition: 0, offset: offset, now: moment)
    }

    mutating func answer(token: UInt64) {
        let details = MessageDetails(state: MessageDetails.State("Completed"), outcomes: ["Success": 1])
        machine.answered(token, .details(details), now: moment)
    }

    mutating func take() -> [String] {
        machine.takeActions().map { action in
            switch action {
            case .write(.claim): "claim"
            case .write(.produce(let records)): "produce \(records.count)"
            case .write(.commit(_, let positions)):
                (["commit"] + positions.map { "\($0.offset)" }).joined(separator: " ")
            case .write(.abort): "abort"
            case .findStarts: "find"
            case .ask(let ask): "ask \(ask.backendID)"
            case .devicesWritten: "devices"
            case .notice(.following): "following"
            case .notice(.retries): "again"
            case .notice(.foreignNote): "foreign note"
            }
        }
    }
}

extension KafkaError {
    fileprivate static let timeOut = KafkaError(code: Code.timedOut)
    fileprivate static let fence = KafkaError(code: Code.fenced, isFatal: true)
}
