import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldReplay

/// Brings a job into each state, and compares the reason that it gives with its behaviour.
@Suite("The reasons for which a job on dead letters and its letters wait")
struct ReplayWaitingTests {
    private typealias Script = ReplayScript
    private typealias Kind = JobWaitReason.Kind

    /// Expects no change before the moment that a reason names.
    private static func expect(_ script: inout Script, _ kind: Kind, then action: String) throws {
        let reason = try #require(script.machine.waiting(now: script.moment))
        #expect(reason.kind == kind)
        let left = try #require(reason.until).time(since: script.moment.wall)
        _ = script.take()
        script.pass((left - .milliseconds(1)).count)
        #expect(script.take() == [], "before \(reason)")
        script.pass(1)
        #expect(script.take().last == action, "at \(reason)")
    }

    private static func letter(_ script: Script, _ offset: Int64) -> JobWaitReason? {
        script.machine.waiting(forPartition: 2, offset: offset, now: script.moment)
    }

    @Test("The beginning: the job looks for a lease, claims the name, reads the marks, and writes its lease")
    func beginning() {
        var script = Script()
        #expect(script.waits == .nextTurn)
        script.pass(0)
        #expect(script.machine.waiting(now: script.moment) == .reading(.lease))
        script.read(.ended)
        #expect(script.waits == .claiming)
        script.ready()
        #expect(script.machine.waiting(now: script.moment) == .reading(.marks))
        script.read(.ended)
        #expect(script.machine.waiting(now: script.moment) == .transaction(since: script.moment.wall))
        script.commit()
        script.pass(0)
        #expect(script.machine.waiting(now: script.moment) == .reading(.letters))
    }

    @Test("Another job has the lease: which one, whose, and until when it is watched")
    func otherJob() throws {
        var script = Script()
        script.lease(of: "replay-9")
        script.pass(0)
        script.read(.unknown)
        let until = script.moment.wall.advanced(by: .seconds(15))
        #expect(
            script.machine.waiting(now: script.moment) == .otherJob(name: "replay-9", owner: "bob@far", until: until))
        try Self.expect(&script, .otherJob, then: "look")
    }

    @Test("A silent broker: since when, and when it is asked again")
    func broker() throws {
        var script = Script()
        script.pass(0)
        script.read(.ended)
        script.report(.transaction(.waiting(Script.timeOut)))
        #expect(script.waits == .broker)
        var committing = Script.writing()
        let since = committing.moment.wall
        committing.pass(500)
        committing.commit(KafkaError(code: KafkaError.Code.timedOut, isRetriable: true), false)
        #expect(committing.machine.waiting(now: committing.moment)?.since == since)
        try Self.expect(&committing, .broker, then: "commit")
    }

    @Test("A step of the ramp waits for its outcomes; missing ones end the replay at the named moment")
    func ramp() throws {
        var script = Script.writing()
        script.commit()
        script.pass(0)
        guard case .rampStep(let step, let outcomes)? = script.machine.waiting(now: script.moment) else {
            Issue.record("\(String(describing: script.machine.waiting(now: script.moment)))")
            return
        }
        #expect(step.number == 1 && step.size == 1 && outcomes.open == 1)
        let left = try #require(script.machine.waiting(now: script.moment)?.until).time(since: script.moment.wall)
        script.pass(left.count)
        #expect(script.take().last == "free outcome-timeout")
    }

    @Test("A rate releases the next letters at the moment that its reason names")
    func rate() throws {
        var script = Script.working(0..<3) { options, _ in (options.rate, options.ramp) = (1, Ramp(steps: [])) }
        script.hand(0)
        script.pass(0)
        script.commit()
        script.pass(0)
        try Self.expect(&script, .rate, then: "gather")
    }

    @Test("The wait for the last outcomes ends with the job's patience")
    func lastOutcomes() throws {
        var script = Script.working(0..<1) { options, _ in options.patience = .seconds(2) }
        script.hand(0)
        script.machine.lettersEnded()
        script.pass(0)
        script.commit()
        script.pass(0)
        try Self.expect(&script, .lastOutcomes, then: "free complete")
    }

    @Test("Foreign letters are watched for their return, until the named moment")
    func returns() throws {
        let foreign = ForeignTopic(name: "orders.DLT", destination: "orders", own: Topics())
        var script = Script.working(0..<1, foreign: foreign) { options, _ in options.patience = .seconds(2) }
        script.hand(0, isForeign: true)
        script.machine.lettersEnded()
        script.pass(0)
        script.commit()
        script.pass(0)
        try Self.expect(&script, .returns, then: "free complete")
    }

    @Test("The number of open outcomes reaches its limit")
    func openOutcomes() throws {
        var script = Script.working(0..<11_000) { options, _ in options.ramp = Ramp(steps: []) }
        var next: Int64 = 0
        while script.waits == .reading {
            while script.machine.mayTakeLetter {
                script.hand(next)
                next += 1
            }
            script.pass(0)
            script.commit()
            script.pass(0)
        }
        #expect(
            script.machine.waiting(now: script.moment) == .openOutcomes(.init(open: Int(next)), limit: 10_000))
        #expect(next == 10_000)
    }

    @Test("A pause names its author and since when; after a resume, the job continues")
    func paused() {
        var script = Script.working()
        script.machine.pause(Script.pause)
        #expect(
            script.machine.waiting(now: script.moment)
                == .paused(by: Script.pause.by, since: Script.pause.since))
        #expect(Self.letter(script, 0)?.kind == .paused)
        script.machine.pause(nil)
        script.pass(0)
        #expect(script.waits == .reading)
    }

    @Test("A letter waits behind those before it, then as its job does; a replayed one does not")
    func letters() throws {
        var script = Script.working(0..<4)
        #expect(Self.letter(script, 0) == .reading(.letters))
        #expect(Self.letter(script, 3) == .turn(ahead: 3, doing: "reads the next dead letters"))
        #expect(Self.letter(script, 4) == nil, "it is not in the plan")
        script.hand(0)
        #expect(Self.letter(script, 0)?.kind == .nextTurn && Self.letter(script, 3)?.kind == .turn)
        script.pass(0)
        #expect(Self.letter(script, 0)?.kind == .transaction)
        script.commit()
        script.pass(0)
        #expect(Self.letter(script, 0) == nil, "it is replayed")
        #expect(Self.letter(script, 1)?.kind == .rampStep)
        guard case .turn(2, let doing)? = Self.letter(script, 3) else {
            Issue.record("\(String(describing: Self.letter(script, 3)))")
            return
        }
        #expect(doing.hasPrefix("waits for 1 outcome of step 1 of the ramp (1 dead letter)"))
        script.stop()
        script.pass(0)
        script.commit()
        #expect(script.machine.isOver && Self.letter(script, 3) == nil && script.waits == nil)
    }

    @Test("A letter that is to be marked waits with its job")
    func resolved() {
        var plan = ResolvePlan()
        var entry = Script.letter(7)
        plan.add(entry, MarkIndex())
        entry = Script.letter(9)
        plan.add(entry, MarkIndex())
        var script = Script(.resolve(plan, selection: "all", note: nil))
        script.open()
        #expect(Self.letter(script, 7)?.kind == .transaction && Self.letter(script, 8) == nil)
        script.commit()
        #expect(Self.letter(script, 7) == nil)
    }
}
