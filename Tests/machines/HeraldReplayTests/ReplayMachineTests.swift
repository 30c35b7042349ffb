import Foundation
import HeraldBytes
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldTools
import TestSupport
import Testing

@testable import HeraldReplay

@Suite("A job on dead letters, from its look at the lease to its end")
struct ReplayMachineTests {
    private typealias Script = ReplayScript

    @Test("It looks, claims the name, reads the marks, takes the lease, publishes with marks, and returns it")
    func wholeWay() throws {
        var script = Script(0..<3)
        script.pass(0)
        #expect(script.take() == ["look"])
        script.read(.ended)
        #expect(script.take() == ["claim"])
        script.ready()
        #expect(script.take() == ["read"])
        script.read(.ended)
        #expect(script.take() == ["lease started"])
        script.commit()
        script.pass(0)
        #expect(script.take() == ["commit", "start", "gather"] && script.machine.progress.batch == 1)
        #expect(script.hand(0, 1, 2) == [1, 2], "the canary goes alone")
        script.pass(0)
        #expect(script.take() == ["e0 0:0 lease"])
        script.commit()
        script.pass(0)
        #expect(script.take() == ["commit"] && script.waits == .rampStep)
        try script.outcome(0)
        script.pass(0)
        #expect(script.take() == ["gather"] && script.hand(1, 2) == [])
        script.machine.lettersEnded()
        script.pass(0)
        #expect(script.take() == ["e1 e2 1:1-2 lease"])
        script.commit()
        try script.outcome(1)
        try script.outcome(2, "duplicate")
        script.pass(0)
        #expect(script.take() == ["commit", "free complete"])
        script.commit()
        #expect(script.machine.end == .complete)
        let progress = script.machine.progress
        #expect(progress.replayed == 3 && progress.delivered == 3 && progress.batch == 2 && progress.failed == 0)
    }

    @Test("A canary whose user sleeps is no failure: others take its place, and the end says until when")
    func quietHours() throws {
        let morning = SampleEntry.moment.advanced(by: .hours(6))
        var script = Script.working(0..<5)
        #expect(script.hand(0, 1, 2, 3, 4) == [1, 2, 3, 4], "the canary goes alone")
        script.pass(0)
        // Its retry record may be seen before its transaction is known to be committed.
        script.sleeps(0, until: morning)
        script.commit()
        script.pass(0)
        _ = script.take()
        #expect(script.hand(1, 2, 3, 4) == [2, 3, 4], "another canary")
        script.pass(0)
        script.commit()
        script.sleeps(1, until: morning)
        script.pass(0)
        #expect(script.hand(2, 3, 4) == [4], "as many as sleep")
        script.pass(0)
        script.commit()
        try script.outcome(2)
        script.pass(0)
        #expect(script.waits == .rampStep, "one of both has no outcome")
        script.sleeps(3, until: morning.advanced(by: .minutes(1)))
        script.pass(0)
        #expect(script.hand(4) == [])
        script.machine.lettersEnded()
        script.pass(0)
        script.commit()
        try script.outcome(4)
        script.pass(0)
        script.commit()
        #expect(script.machine.end == .complete)
        let progress = script.machine.progress
        #expect(progress.delivered == 2 && progress.open == 3 && progress.asleep == 3)
        let report = ReplayReport(job: "j", end: .complete, progress: progress)
        let text = report.sentence(again: "again", watchedTopic: nil)
        #expect(text.contains("3 open (3 of them in quiet hours, the first until \(RFC3339.text(morning)))"), "\(text)")
    }

    @Test("What has slept and is called in the end counts as others, and what only retries is awaited")
    func awake() throws {
        var script = Script.working(0..<2)
        script.hand(0, 1)
        script.pass(0)
        script.commit()
        script.sleeps(0, until: nil)
        script.pass(0)
        #expect(script.waits == .rampStep)
        script.sleeps(0, until: SampleEntry.moment)
        try script.outcome(0, "dead-lettered")
        script.pass(0)
        #expect(script.machine.progress.asleep == 0 && script.machine.progress.failed == 1)
        script.commit()
        #expect(script.machine.end == .failing)
    }

    // MARK: The lease

    @Test("A living job's lease is not taken, a dead one's is", arguments: [Lease.Life.living, .ended])
    func leases(holder: Lease.Life) {
        var script = Script()
        script.lease(of: "replay-9")
        script.pass(0)
        script.read(holder)
        if holder == .ended {
            #expect(script.take() == ["look", "claim"])
        } else {
            #expect(script.take() == ["look"])
            guard !script.machine.hasBegun, case .failed(let failure)? = script.machine.end else {
                Issue.record("it has begun")
                return
            }
            #expect(failure.description.contains("bob@far is at work"))
        }
    }

    @Test("An expired lease is free, whatever its process does")
    func leaseThatIsOver() {
        var script = Script()
        script.lease(of: "replay-9", isOver: true)
        script.pass(0)
        script.read(.living)
        #expect(script.take() == ["look", "claim"])
    }

    @Test("A lease that does not change for 15 s is taken over after one more look, and the audit says so")
    func takeOver() throws {
        var script = Script()
        script.lease(of: "replay-9")
        script.pass(0)
        script.read(.unknown)
        #expect(script.take() == ["look", "watch"])
        #expect(script.machine.nextWake == script.now.advanced(by: .seconds(15)))
        script.pass(14_999)
        #expect(script.take() == [])
        script.pass(1)
        #expect(script.take() == ["look"])
        script.read(.unknown)
        script.ready()
        script.read(.unknown)
        #expect(script.take() == ["claim", "read", "lease started"])
        let audit = try #require(script.offered.last?.value)
        #expect(String(decoding: audit, as: UTF8.self).contains(#""tookOverFrom":"replay-9""#))
    }

    @Test(
        "A lease that is renewed while it is watched, or at the last look, is not taken", arguments: [true, false])
    func renewed(isWatching: Bool) {
        var script = Script()
        script.lease(of: "replay-9")
        script.pass(0)
        script.read(.unknown)
        if !isWatching { script.pass(15_000) }
        script.lease(of: "replay-9", beat: 2)
        script.read(.unknown)
        #expect(script.machine.isOver)
    }

    @Test("A lease whose process ends while it is watched is free")
    func holderEnds() {
        var script = Script()
        script.lease(of: "replay-9")
        script.pass(0)
        script.read(.unknown)
        script.read(.ended)
        #expect(script.take() == ["look", "watch", "claim"])
    }

    @Test("It renews its lease every 3 s without another write, even while it is paused")
    func renewal() {
        var script = Script.working()
        script.machine.pause(ReplayScript.pause)
        script.pass(2_999)
        #expect(script.take() == [])
        #expect(script.machine.nextWake == script.now.advanced(by: .milliseconds(1)))
        script.pass(1)
        #expect(script.take() == ["lease"])
        script.commit()
        script.pass(2_999)
        #expect(script.take() == ["commit"])
    }

    // MARK: Failures to begin

    @Test("An unreadable state topic and a name that cannot be claimed leave nothing behind")
    func notBegun() {
        for fail: (inout Script) -> Void in [
            { $0.machine.stateNotRead(ToolFailure("no"), now: $0.moment) },
            {
                $0.read(.ended)
                $0.report(
                    .transaction(.notReady(KafkaError(code: KafkaError.Code.transactionalIDAuthorizationFailed))))
            },
            {
                $0.read(.ended)
                $0.pass(120_000)
            },
            {
                $0.read(.ended)
                $0.ready()
                $0.machine.stateNotRead(ToolFailure("no"), now: $0.moment)
            },
            {
                $0.read(.ended)
                $0.ready()
                $0.read(.ended)
                $0.refuse(KafkaError.Code.topicAuthorizationFailed)
            },
            {
                $0.read(.ended)
                $0.ready()
                $0.read(.ended)
                $0.commit(Script.fence, false)
            },
        ] {
            var script = Script()
            script.pass(0)
            fail(&script)
            guard !script.machine.hasBegun, case .failed? = script.machine.end else {
                Issue.record("\(script.machine.phase)")
                return
            }
            #expect(script.state.isEmpty)
        }
    }

    @Test("Brokers without transactions are named as such")
    func unsupported() {
        var script = Script()
        script.pass(0)
        script.read(.ended)
        script.report(.transaction(.notReady(KafkaError(code: KafkaError.Code.unsupportedFeature))))
        guard !script.machine.hasBegun, case .failed(let failure)? = script.machine.end else {
            Issue.record("it has begun")
            return
        }
        #expect(failure.description.contains("delivery.guarantee: at-least-once"))
    }

    @Test("When letters cannot be read it gives the lease back, and has not begun")
    func lettersNotStarted() {
        var script = Script.working()
        script.machine.lettersNotStarted(ToolFailure("gone"))
        script.pass(0)
        #expect(script.take() == ["free failed"])
        script.commit()
        #expect(script.machine.end == .failed(ToolFailure("gone")) && !script.machine.hasBegun)
    }

    // MARK: Doubt

    @Test("A commit in doubt that was made is not written again; a lost one is", arguments: [true, false])
    func doubt(isMade: Bool) {
        var script = Script.writing()
        _ = script.take()
        script.recover(KafkaError(code: KafkaError.Code.state), isMade)
        script.pass(0)
        #expect(script.take() == ["commit", "claim", "read"] + (isMade ? [] : ["e0 1:0 lease"]))
        #expect(script.machine.progress.replayed == (isMade ? 1 : 0))
        if !isMade { script.commit() }
        #expect(script.machine.progress.replayed == 1)
    }

    @Test("A result that arrives before the outcome of its commit counts", arguments: [true, false])
    func earlyResult(isInDoubt: Bool) throws {
        var script = Script.writing()
        _ = script.take()
        try script.outcome(0)
        if isInDoubt {
            script.recover(KafkaError(code: KafkaError.Code.state), true)
        } else {
            script.commit()
        }
        script.pass(0)
        #expect(script.machine.progress.delivered == 1 && script.machine.progress.open == 0)
        #expect(script.take().last == "gather", "the next batch begins")
    }

    @Test("Fenced by no other job it continues; fenced by another job's lease it ends, and writes nothing more")
    func fenced() {
        for isRival in [false, true] {
            var script = Script.writing()
            _ = script.take()
            if isRival { script.lease(of: "replay-9") }
            script.recover(Script.fence, false)
            #expect(
                script.take() == (isRival ? ["commit", "claim", "read"] : ["commit", "claim", "read", "e0 1:0 lease"]))
            #expect(script.machine.end == (isRival ? .takenOver : nil))
        }
    }

    @Test("Another job's marks from the time of the fence count for the letters that follow")
    func rivalsMarks() throws {
        var script = Script.working(0..<3) { options, _ in options.ramp = Ramp(steps: []) }
        script.hand(0)
        script.machine.lettersPaused()
        script.pass(0)
        _ = script.take()
        script.state.append(
            ("marks/x/0", Array(#"{"state":"replayed","job":"x","at":1,"partitions":{"2":"1"}}"#.utf8)))
        script.recover(Script.fence, false)
        script.commit()
        script.pass(0)
        #expect(script.hand(1, 2) == [])
        script.machine.lettersEnded()
        script.pass(0)
        #expect(script.take().last == "e2 2:2 lease" && script.machine.progress.skipped == 1)
    }

    @Test("It claims the name at most ten times in a row, and a write in between restarts the count")
    func claims() {
        var script = Script.writing()
        for _ in 0..<LetterPublication.claimLimit {
            script.recover(Script.fence, false)
        }
        #expect(!script.machine.isOver)
        script.commit(Script.fence, false)
        #expect(script.machine.end == .takenOver)
    }

    @Test("A renewed lease and the last records are written again after the name was lost")
    func harmless() {
        var script = Script.working()
        script.pass(3_000)
        script.recover(Script.fence, false)
        #expect(script.take() == ["lease", "commit", "claim", "read", "lease"])
        script.commit()
        script.stop()
        script.pass(0)
        script.recover(KafkaError(code: KafkaError.Code.state), true, .ended)
        #expect(script.take() == ["commit", "free paused", "commit", "claim", "read", "free paused"])
        script.commit()
        #expect(script.machine.end == .interrupted)
    }

    @Test("When no broker answers any more, marked letters are done, and another start continues")
    func unreachable() {
        var script = Script.writing()
        script.report(.produced)
        script.pass(121_000)
        script.report(.transaction(.committed(sequence: 2, Script.timeOut, .failedForNow)))
        guard case .failed(let failure)? = script.machine.end else {
            Issue.record("\(script.machine.phase)")
            return
        }
        #expect(failure.kind == .unreachable && failure.description.contains("the marks tell what was done"))
    }

    @Test("Unreadable marks after a claim end it without a record: the lease may be another job's")
    func marksNotRead() {
        var script = Script.writing()
        script.commit(Script.fence, false)
        script.pass(ReplayMachine.restTime.count)
        script.ready()
        _ = script.take()
        script.machine.stateNotRead(ToolFailure("no"), now: script.moment)
        #expect(script.machine.end == .failed(ToolFailure("no")) && script.take() == [])
    }

    // MARK: Refusals

    @Test("Letters too large together are written in halves, then without the history, then left as they are")
    func tooLarge() throws {
        var script = Script.working(0..<3) { options, _ in options.ramp = Ramp(steps: []) }
        script.hand(0, 1, 2)
        script.machine.lettersEnded()
        script.pass(0)
        #expect(script.take() == ["e0 e1 e2 0:0-2 lease"])
        script.refuse()
        script.pass(100_000)
        #expect(script.take() == ["commit", "abort", "e0 0:0 lease"], "a mark's number is free again")
        script.commit()
        script.pass(0)
        #expect(script.take() == ["commit", "e1 e2 1:1-2 lease"])
        script.refuse()
        script.pass(0)
        script.refuse()
        script.pass(0)
        #expect(script.take() == ["commit", "abort", "e1 1:1 lease", "commit", "abort", "e2 1:2 lease"])
        script.commit()
        let progress = script.machine.progress
        #expect(progress.replayed == 2 && progress.tooLarge == 1)
    }

    @Test("A letter that is too large goes without its history")
    func withoutHistory() {
        var script = Script.working(0..<1)
        var headers = HeaderList()
        let letter = Script.letter(0)
        for index in 0..<letter.headers.count {
            headers.append(name: letter.headers.name(at: index), value: letter.headers.value(at: index))
        }
        headers.append("herald-history", "[]")
        var entry = letter
        entry.fill(
            partition: 2, offset: 0, timestamp: letter.timestamp, key: letter.key, value: letter.value, headers: headers
        )
        script.machine.take(&entry, now: script.moment)
        script.pass(0)
        let name = HeaderName.history.literal
        #expect(script.offered[0].headers.lastIndex(named: name) != nil)
        script.refuse()
        script.pass(0)
        #expect(script.offered[0].headers.lastIndex(named: name) == nil)
        script.commit()
        #expect(script.machine.progress.replayed == 1 && script.machine.progress.tooLarge == 0)
    }

    @Test("A missing or forbidden topic ends it, with its last records", arguments: [true, false])
    func refused(isForbidden: Bool) {
        var script = Script.writing()
        _ = script.take()
        if isForbidden {
            script.refuse(KafkaError.Code.topicAuthorizationFailed)
        } else {
            script.report(.notProduced(KafkaError(code: KafkaError.Code.unknownTopic)))
            script.report(.transaction(.aborted(nil, .acknowledged)))
        }
        #expect(script.take().last == "free failed")
        script.commit()
        guard case .failed? = script.machine.end else {
            Issue.record("\(script.machine.phase)")
            return
        }
        #expect(script.machine.progress.replayed == 0)
    }

    @Test("A refusal of the last records leaves the earlier ones unchanged")
    func lastWordsRefused() {
        for (isStopped, end) in [(true, "paused"), (false, "failed")] {
            var script = Script.working(0..<1) { options, _ in options.patience = .zero }
            if isStopped {
                script.stop()
            } else {
                script.hand(0)
                script.machine.lettersEnded()
                script.pass(0)
                script.commit()
            }
            script.pass(0)
            script.refuse(KafkaError.Code.topicAuthorizationFailed)
            guard let name = script.machine.end else {
                Issue.record("\(script.machine.phase)")
                return
            }
            #expect(name.name(.letters) == end)
        }
    }

    // MARK: Stops, pauses, outcomes

    @Test("A stop during a transaction commits it, and writes nothing more")
    func stops() {
        var script = Script.writing()
        script.stop()
        script.pass(0)
        _ = script.take()
        script.commit()
        script.pass(0)
        #expect(script.take() == ["commit", "free paused"] && script.machine.progress.replayed == 1)
        script.commit()
        #expect(script.machine.end == .interrupted)
    }

    @Test("A stop leaves letters that are gathered and not written to a later replay")
    func stopsGathering() {
        var script = Script.working(0..<9) { options, _ in options.ramp = Ramp(steps: []) }
        script.hand(0, 1)
        script.stop()
        script.pass(0)
        #expect(script.take() == ["free paused"])
    }

    @Test("A stop before it has the lease leaves the lease unchanged")
    func stopsEarly() {
        var script = Script()
        script.pass(0)
        script.stop()
        #expect(script.machine.end == .interrupted && !script.machine.hasBegun && script.take() == ["look"])
    }

    @Test("A stop after the last letter makes it complete, whatever the outcomes")
    func stopsAtEnd() {
        var script = Script.working(0..<1)
        script.hand(0)
        script.machine.lettersEnded()
        script.pass(0)
        script.commit()
        script.pass(0)
        #expect(script.waits == .lastOutcomes && script.machine.progress.open == 1)
        script.stop()
        script.pass(0)
        #expect(script.take().last == "free complete")
    }

    @Test("A pause holds gathered letters, and its end releases them")
    func pauses() {
        var script = Script.working(0..<9) { options, _ in options.ramp = Ramp(steps: []) }
        script.hand(0, 1)
        script.machine.pause(ReplayScript.pause)
        script.machine.lettersPaused()
        script.pass(0)
        #expect(script.take() == [] && script.waits == .paused && !script.machine.mayTakeLetter)
        script.machine.pause(nil)
        script.pass(0)
        #expect(script.take() == ["e0 e1 0:0-1 lease"] && script.waits == .transaction)
    }

    @Test("A canary that fails again stops it, and no later letter is replayed")
    func canary() throws {
        var script = Script.writing()
        script.commit()
        try script.outcome(0, "dead-lettered")
        script.pass(0)
        #expect(script.take().last == "free stopped")
        script.commit()
        #expect(script.machine.end == .failing)
        #expect(script.machine.progress.replayed == 1 && script.machine.progress.failed == 1)
    }

    @Test("Missing outcomes end it after its patience, in which no pause counts")
    func patience() {
        var script = Script.writing()
        script.commit()
        script.pass(0)
        script.machine.pause(ReplayScript.pause)
        script.pass(700_000)
        script.commit()
        script.machine.pause(nil)
        script.pass(0)
        #expect(script.machine.phase.name == .publishing)
        _ = script.take()
        for _ in 0..<1_000 where script.machine.phase.name != .finishing {
            script.pass(2_999)
            if script.machine.writing == .sign { script.commit() }
            script.pass(1)
            if script.machine.writing == .sign { script.commit() }
        }
        #expect(script.take().last == "free outcome-timeout")
        #expect(script.now.nanoseconds / 1_000_000 - 700_000 - 600_000 < 4_000)
    }

    @Test("Its patience is a timer: after a batch, and at the end", arguments: [1, 3])
    func patienceTimer(count: Int64) throws {
        var script = Script.working(0..<count) { options, _ in options.patience = .seconds(1) }
        script.hand(0)
        if count == 1 { script.machine.lettersEnded() }
        script.pass(0)
        script.commit()
        script.pass(0)
        let wake = try #require(script.machine.nextWake)
        #expect(wake == script.now.advanced(by: .seconds(1)))
        script.pass(1_000)
        #expect(script.take().last == (count == 1 ? "free complete" : "free outcome-timeout"))
    }

    @Test("Letters and outcomes that become unreadable end it, after the transaction under way")
    func readingFails() {
        var script = Script.writing()
        script.machine.readingFailed(ToolFailure("no"))
        script.pass(0)
        _ = script.take()
        script.commit()
        script.pass(0)
        #expect(script.take() == ["commit", "free failed"])
        script.commit()
        #expect(script.machine.end == .failed(ToolFailure("no")))
    }

    @Test("Letters outside of the plan, and letters dealt with meanwhile, are not replayed")
    func leftAlone() {
        var script = Script(0..<3) { options, _ in options.ramp = Ramp(steps: []) }
        script.state = [("marks/x/0", Array(#"{"state":"resolved","job":"x","at":1,"partitions":{"2":"1"}}"#.utf8))]
        script.open()
        script.hand(0, 1, 2, 3, 4)
        script.machine.lettersEnded()
        script.pass(0)
        #expect(script.take() == ["e0 e2 0:0,2 lease"] && script.machine.progress.skipped == 1)
    }

    @Test("Foreign dead letters count when they return, and the wait after a batch ends by itself")
    func foreign() {
        let foreign = ForeignTopic(name: "orders.DLT", destination: "orders", own: Topics())
        for isBack in [false, true] {
            var script = Script.working(0..<2, foreign: foreign) { options, _ in
                options.patience = ReplayOptions.returnPatience
            }
            #expect(script.hand(0, 1, isForeign: true) == [1])
            script.pass(0)
            script.commit()
            script.pass(0)
            _ = script.take()
            if isBack { script.machine.cameBack(1) }
            script.pass(1_000)
            #expect(script.take() == (isBack ? ["free stopped"] : []))
            if isBack { continue }
            script.pass(2_000)
            script.commit()
            script.pass(0)
            #expect(script.machine.nextWake == MonotonicTime(nanoseconds: 6_000_000_000))
            script.pass(3_000)
            script.commit()
            script.pass(4_000)
            script.commit()
            script.pass(0)
            #expect(script.take().last == "gather" && script.machine.progress.batch == 2)
        }
    }

    @Test("A rate is kept by timers alone")
    func rate() {
        var script = Script.working(0..<100) { options, _ in
            (options.rate, options.ramp, options.patience) = (10, Ramp(steps: []), .zero)
        }
        var offset: Int64 = 0
        for _ in 0..<10_000 where offset < 20 {
            let before = offset
            while script.machine.mayTakeLetter, offset < 100 {
                script.hand(offset)
                offset += 1
            }
            script.pass(0)
            if script.machine.writing != nil { script.commit() }
            script.pass(0)
            guard script.machine.phase.name == .publishing, offset == before, let wake = script.machine.nextWake else {
                continue
            }
            script.pass(wake.time(since: script.now).count)
        }
        let seconds = Double(script.now.nanoseconds) / 1e9
        #expect(offset == 20 && seconds >= 1.8 && seconds < 2.5, "\(seconds)")
    }

    @Test("When there is room again for more letters than were handed over, letters are requested again")
    func roomAgain() {
        var script = Script.working(0..<9) { options, _ in
            (options.rate, options.ramp, options.patience) = (10, Ramp(steps: []), .zero)
        }
        script.pass(100)
        #expect(script.take() == ["gather"])
        #expect(script.hand(0, 1, 2, 3) == [2, 3], "the rate allows two, and there its client stops")
        // The next letter was allowed before these were written.
        script.pass(100)
        #expect(script.take() == ["gather"] && script.hand(2, 3) == [3])
    }

    // MARK: Resolving

    @Test("Letters dealt with in another way are marked in transactions of ten thousand")
    func resolves() {
        var plan = ResolvePlan()
        for offset in 0..<10_001 as Range<Int64> { plan.add(SampleEntry.make(offset: offset), nil) }
        var script = Script(.resolve(plan, selection: "offset >= 0", note: "called them"), job: "resolve-1")
        script.open()
        #expect(script.offered.map(\.topic) == [Topics().state, Topics().state])
        _ = script.take()
        script.commit()
        script.pass(0)
        #expect(script.take() == ["commit", "1:10000 lease"])
        script.commit()
        script.pass(0)
        #expect(script.take() == ["commit", "free complete"])
        #expect(script.machine.progress.replayed == 10_001)
        #expect(String(decoding: script.offered[1].value ?? [], as: UTF8.self).contains(#""resolved":10001"#))
    }

    // MARK: Its tables

    @Test("Each input in each phase does what the tables allow, or nothing")
    func everyInput() throws {
        let inputs: [(inout Script) throws -> Void] = [
            { $0.pass(0) }, { $0.pass(200_000) }, { $0.read(.ended) }, { $0.read(.unknown) }, { $0.ready() },
            { $0.machine.stateNotRead(ToolFailure("no"), now: $0.moment) }, { $0.stop() },
            { $0.machine.pause(ReplayScript.pause) }, { $0.machine.pause(nil) }, { $0.hand(0, 1, 2) },
            { $0.machine.lettersPaused() },
            { $0.machine.lettersEnded() }, { $0.machine.readingFailed(ToolFailure("no")) },
            { $0.machine.lettersNotStarted(ToolFailure("no")) }, { try $0.outcome(0) }, { $0.machine.cameBack(1) },
            { $0.report(.produced) }, { $0.commit() }, { $0.commit(Script.fence, true) },
            { $0.commit(Script.timeOut, false) },
            { $0.commit(KafkaError(code: KafkaError.Code.state), true) }, { $0.refuse() },
            { $0.refuse(KafkaError.Code.topicAuthorizationFailed) }, { $0.lease(of: "replay-9") },
            { $0.report(.notProduced(Script.fence)) }, { $0.report(.transaction(.aborted(nil, .acknowledged))) },
        ]
        var generator = SplitMix64(seed: 26)
        var seen: Set<PublicationPhase.Name> = []
        for _ in 0..<600 {
            var script = Bool.random(using: &generator) ? Script() : Script.working()
            for _ in 0..<40 {
                try inputs[Int.random(in: 0..<inputs.count, using: &generator)](&script)
                seen.insert(script.machine.phase.name)
                _ = script.take()
            }
        }
        // The others belong to a campaign.
        #expect(
            seen == Set(PublicationPhase.Name.allCases).subtracting([.learning, .placing, .counting, .closing]),
            "\(seen)")
    }

    @Test("Its tables lead from each state to an end")
    func tables() {
        typealias Name = PublicationPhase.Name
        let table = PublicationPhase.transitions
        var ending: Set<Name> = [.ended]
        for _ in Name.allCases {
            ending.formUnion(Name.allCases.filter { name in ending.contains { table.allows(name, $0) } })
        }
        #expect(ending == Set(Name.allCases))
        #expect(!Name.allCases.contains { table.allows(.ended, $0) })
        let ends: Set<LetterState> = [.replayed, .leftOut, .tooLarge]
        for state in LetterState.allCases {
            let isEnd = !LetterState.allCases.contains { LetterState.transitions.allows(state, $0) }
            #expect(isEnd == ends.contains(state))
        }
    }
}
