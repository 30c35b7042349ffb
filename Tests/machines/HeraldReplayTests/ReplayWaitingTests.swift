import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldReplay

/// Walks a job into each state, and compares the reason that it gives with what it does then.
@Suite("A job on dead letters says why it waits, and why each of its letters does")
struct ReplayWaitingTests {
    private typealias Script = ReplayScript
    private typealias Kind = JobWaitReason.Kind

    /// Until a reason says that something happens by itself, nothing does.
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

    @Test("Its beginning: it looks who works, claims the name, reads the marks, and writes its lease")
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

    @Test("Another job has the lease: which, whose, and until when it is watched")
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

    @Test("A broker that does not answer: since when, and when it is asked again")
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

    @Test("A step of the ramp waits for its outcomes; those that do not come end the replay at that moment")
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

    @Test("Its rate lets the next ones go at that moment")
    func rate() throws {
        var script = Script.working(0..<3) { options, _ in (options.rate, options.ramp) = (1, Ramp(steps: [])) }
        script.hand(0)
        script.pass(0)
        script.commit()
        script.pass(0)
        try Self.expect(&script, .rate, then: "gather")
    }

    @Test("Its last outcomes are waited for until its patience is over")
    func lastOutcomes() throws {
        var script = Script.working(0..<1) { options, _ in options.patience = .seconds(2) }
        script.hand(0)
        script.machine.lettersEnded()
        script.pass(0)
        script.commit()
        script.pass(0)
        try Self.expect(&script, .lastOutcomes, then: "free complete")
    }

    @Test("Of others it watches what comes back, until that moment")
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

    @Test("So many outcomes may be open, and no more")
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

    @Test("Who has paused it, and since when; resumed, it goes on")
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

    @Test("A letter waits behind those before it, then as its job does; one that is replayed does not")
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
