import Foundation
import HeraldDriver
import HeraldKafka
import HeraldKernel
import HeraldTime
import TestSupport
import Testing

@Suite("A batch written in one transaction")
struct BatchWriterTests {
    private typealias Script = BatchWriterScript

    @Test("It is opened, offered and committed, and the next one follows")
    func written() {
        var script = Script()
        script.claim()
        for number: UInt64 in 1...2 {
            script.write()
            #expect(script.take() == ["produce 1"])
            script.report(.produced)
            #expect(script.take() == ["commit \(number)"])
            script.report(.transaction(.committed(sequence: number, nil, .acknowledged)))
            #expect(script.events == ["written"])
        }
        #expect(script.writer.nextWake == nil)
    }

    @Test("A commit that failed temporarily is requested again, as the same commit")
    func askedAgain() {
        var script = Script.committing()
        script.committed(.timeOut)
        #expect(script.take() == [] && script.events == ["waiting"])
        script.pass(100)
        #expect(script.take() == ["commit 1"])
        script.report(.transaction(.committed(sequence: 1, nil, .acknowledged)))
        #expect(script.events == ["written"])
    }

    @Test("After the patience, a commit that no broker answers is lost: its outcome shows later")
    func unreachable() {
        var script = Script.committing()
        script.pass(120_000)
        script.committed(.timeOut)
        #expect(script.events == ["lost: unreachable"] && script.writer.state.name == .lost)
    }

    @Test("A publisher that gives up waits for no further attempt")
    func givesUp() {
        var script = Script.committing()
        script.committed(.timeOut)
        _ = script.events
        script.writer.giveUp(now: script.now)
        #expect(script.events == ["lost: unreachable"])
    }

    @Test("A commit that failed only according to the client is in doubt")
    func doubt() {
        var script = Script.committing()
        script.committed(KafkaError(code: 59, isAbortable: true))
        #expect(script.take() == ["abort"] && script.events == [])
        script.report(.transaction(.aborted(nil, .acknowledged)))
        #expect(script.events == ["lost: in doubt"], "an abort that succeeds is no proof")
    }

    @Test("A commit in doubt because another process has the name is lost to it: the name is not claimed back")
    func hiddenFence() {
        let unknown = KafkaError(code: -1, isAbortable: true)
        let fence = KafkaError(code: KafkaError.Code.fenced, isFatal: true)
        var script = Script.committing()
        script.committed(unknown)
        #expect(script.take() == ["abort"])
        script.report(.transaction(.aborted(unknown, .abortable)))
        #expect(script.take() == [] && script.events == [], "the broker is still fencing it")
        script.pass(100)
        #expect(script.take() == ["abort"])
        script.report(.transaction(.aborted(fence, fence.outcome)))
        #expect(script.events == ["lost: fenced"])
    }

    @Test("A commit in doubt stays that when no broker says whose the name is")
    func doubtRemains() {
        let unknown = KafkaError(code: -1, isAbortable: true)
        var script = Script.committing()
        script.committed(unknown)
        for pause: Int64 in [100, 200, 400, 800, 1_600] {
            #expect(script.take() == ["abort"])
            script.report(.transaction(.aborted(unknown, .abortable)))
            script.pass(pause)
        }
        #expect(script.take() == ["abort"] && script.events == [])
        script.report(.transaction(.aborted(unknown, .abortable)))
        #expect(script.events == ["lost: in doubt"])
        script = .committing()
        script.committed(unknown)
        script.report(.transaction(.aborted(.timeOut, .failedForNow)))
        #expect(script.events == ["lost: in doubt"])
    }

    @Test("An undelivered record aborts the transaction, and the same batch is written again")
    func undelivered() {
        var script = Script.committing()
        script.report(.undelivered(KafkaError(code: KafkaError.Code.messageTimedOut)))
        script.committed(KafkaError(code: KafkaError.Code.messageTimedOut, isAbortable: true))
        #expect(script.take() == ["abort"])
        script.report(.transaction(.aborted(nil, .acknowledged)))
        #expect(script.events == ["waiting"] && script.take() == [])
        script.pass(100)
        #expect(script.take() == ["produce 1"])
    }

    @Test("The pauses between attempts grow, to two seconds")
    func pauses() {
        var script = Script()
        script.claim()
        script.write()
        for pause: Int64 in [100, 200, 400, 800, 1_600, 2_000, 2_000] {
            _ = script.take()
            script.report(.notProduced(KafkaError(code: KafkaError.Code.state, isAbortable: true)))
            script.report(.transaction(.aborted(nil, .acknowledged)))
            #expect(script.writer.nextWake?.time(since: script.now).count == pause)
            script.pass(pause)
        }
    }

    @Test("A record that is too large is refused for certain, and the writer continues")
    func tooLarge() {
        var script = Script()
        script.claim()
        script.write()
        _ = script.take()
        script.report(.notProduced(KafkaError(code: KafkaError.Code.messageSizeTooLarge)))
        #expect(script.take() == ["abort"])
        script.report(.transaction(.aborted(nil, .acknowledged)))
        #expect(script.events == ["refused"] && script.writer.isReady)
    }

    @Test("A forbidden topic is refused, even when the coordinator has nothing to abort")
    func forbidden() {
        let forbidden = KafkaError(code: KafkaError.Code.topicAuthorizationFailed, isAbortable: true)
        let nothing = KafkaError(code: KafkaError.Code.invalidTransactionState, isAbortable: true)
        for answer in [nil, nothing] {
            var script = Script.committing()
            script.committed(forbidden)
            #expect(script.take() == ["abort"])
            script.report(.transaction(.aborted(answer, answer?.outcome ?? .acknowledged)))
            #expect(script.events == ["refused"])
        }
    }

    @Test("A fence is a rival's when the transaction is young and no claim of its own explains it")
    func fenced() {
        let fence = KafkaError(code: KafkaError.Code.fenced, isFatal: true)
        var script = Script.committing()
        script.committed(fence)
        #expect(script.events == ["lost: fenced"])
        script = .committing()
        script.pass(10_000)
        script.committed(fence)
        #expect(script.events == ["lost: fenced, long"])
        script = .committing(lateClaims: 1)
        script.committed(fence)
        #expect(script.events == ["lost: fenced, long"])
        script.claim()
        script.write()
        script.report(.notProduced(fence))
        #expect(script.events == ["lost: fenced"])
    }

    @Test("A claim whose answer came after it was given up explains a fence, too")
    func lateAnswer() {
        var script = Script()
        script.writer.claim(now: script.now)
        script.pass(120_000)
        #expect(script.events == ["lost: unreachable"])
        script.report(.transaction(.ready(lateClaims: 1)))
        script.claim()
        script.write()
        script.report(.notProduced(KafkaError(code: KafkaError.Code.fenced, isFatal: true)))
        #expect(script.events == ["lost: fenced, long"])
    }

    @Test("Records purged by an abort are no evidence about the broker, and a fatal error is")
    func purged() {
        var script = Script.committing()
        script.report(.undelivered(KafkaError(code: KafkaError.Code.purgedInFlight)))
        script.committed(KafkaError(code: KafkaError.Code.fatal, isFatal: true))
        #expect(script.events == ["lost: in doubt"])
    }

    @Test("A transaction that late records could enter is not begun: the name is claimed again")
    func inconsistent() {
        var script = Script()
        script.claim()
        script.write()
        script.report(.notProduced(KafkaError(code: KafkaError.Code.inconsistent, isFatal: true)))
        #expect(script.take() == [] && script.events == ["lost: in doubt"])
    }

    @Test("A claim waits for the brokers until its patience ends, and fails at once when it is impossible")
    func claims() {
        var script = Script()
        script.writer.claim(now: script.now)
        #expect(script.take() == ["claim"])
        script.report(.transaction(.waiting(.timeOut)))
        #expect(script.events == ["waiting"])
        script.pass(120_000)
        #expect(script.events == ["lost: unreachable"])
        script.writer.claim(now: script.now)
        script.report(.transaction(.notReady(KafkaError(code: KafkaError.Code.unsupportedFeature))))
        #expect(script.events == ["lost: unclaimable"])
    }

    @Test("Every state but the first can be left for another, and each is reached")
    func table() {
        let table = BatchWriter.State.transitions
        for name in BatchWriter.State.Name.allCases {
            #expect(BatchWriter.State.Name.allCases.contains { table.allows(name, $0) }, "\(name)")
            guard name != .unclaimed else { continue }
            #expect(BatchWriter.State.Name.allCases.contains { table.allows($0, name) && $0 != name }, "\(name)")
        }
        #expect(!table.allows(.lost, .ready) && !table.allows(.committing, .pausing))
    }
}

extension KafkaError {
    fileprivate static let timeOut = KafkaError(code: KafkaError.Code.timedOut)
}

/// A writer and its inputs.
private struct BatchWriterScript {
    var writer = BatchWriter(BatchWriter.Configuration(transactionTimeout: .seconds(10)))
    var now = MonotonicTime(nanoseconds: 0)

    /// A script whose first commit is under way.
    static func committing(lateClaims: Int = 0) -> Self {
        var script = Self()
        script.claim(lateClaims: lateClaims)
        script.write()
        script.report(.produced)
        _ = script.take()
        return script
    }

    mutating func claim(lateClaims: Int = 0) {
        writer.claim(now: now)
        report(.transaction(.ready(lateClaims: lateClaims)))
        _ = take()
        _ = events
    }

    mutating func write() {
        writer.write(
            BatchWriter.Batch(records: [OutgoingRecord(topic: "t", key: nil, value: [1])]), now: now)
    }

    mutating func report(_ report: BatchWriter.Report) { writer.receive(report, now: now) }

    mutating func committed(_ error: KafkaError) {
        report(.transaction(.committed(sequence: 1, error, error.outcome)))
    }

    mutating func pass(_ milliseconds: Int64) {
        now = now.advanced(by: .milliseconds(milliseconds))
        writer.advance(now: now)
    }

    /// The wanted actions, in words.
    mutating func take() -> [String] {
        writer.takeActions().map { action in
            switch action {
            case .claim: "claim"
            case .produce(let records): "produce \(records.count)"
            case .commit(let sequence, _): "commit \(sequence)"
            case .abort: "abort"
            }
        }
    }

    var events: [String] {
        mutating get {
            writer.takeEvents().map { event in
                switch event {
                case .claimed: "claimed"
                case .waiting: "waiting"
                case .written: "written"
                case .refused: "refused"
                case .lost(.fenced(let isLong)): isLong ? "lost: fenced, long" : "lost: fenced"
                case .lost(.inDoubt): "lost: in doubt"
                case .lost(.unreachable): "lost: unreachable"
                case .lost(.unclaimable): "lost: unclaimable"
                }
            }
        }
    }
}
