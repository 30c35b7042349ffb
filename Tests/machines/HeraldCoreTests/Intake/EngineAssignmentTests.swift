import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("Assignments and drains")
struct EngineAssignmentTests {
    @Test("revoked: calls in flight end, the last commit is made, and then the partitions are given back")
    func revoked() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("a")
        harness.revoke()
        #expect(harness.takeOthers().isEmpty)
        harness.answer(200)
        #expect(harness.calls.isEmpty, "the second event was given back")
        harness.acknowledgeAll()
        #expect(harness.others == [.commit(sequence: 1)])
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("revoked with nothing under way: answered at once")
    func idle() {
        let harness = EngineHarness()
        harness.revoke()
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("revoked while a call hangs: given up after the time-out")
    func revokedWhileHanging() {
        let harness = EngineHarness { $0.revokeTimeout = .seconds(3) }
        harness.event("a")
        harness.revoke()
        harness.pass(.milliseconds(2_999))
        #expect(harness.takeOthers().isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.takeOthers() == [.notice(.gaveUp(events: 1)), .unassign])
    }

    @Test("the last commit has its own time, even after the time-out")
    func lateCommit() {
        let harness = EngineHarness { $0.revokeTimeout = .seconds(3) }
        harness.event("a")
        harness.event("b")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.revoke()
        harness.pass(.seconds(3))
        harness.pass(.milliseconds(1))
        #expect(harness.others == [.notice(.gaveUp(events: 1)), .commit(sequence: 1)])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("events done beyond the committed offset are not done again by the next owner")
    func completions() {
        let harness = EngineHarness()
        let published = harness.time
        harness.event("slow", stamped: published)
        harness.event("quick", stamped: published)
        let slow = harness.takeCall()
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        let positions = harness.engine.commitPositions
        #expect(positions.map(\.offset) == [0])
        harness.lose()
        harness.engine.unassigned(now: harness.now)
        harness.assign(metadata: positions[0].metadata)
        harness.event("slow", stamped: published)
        harness.event("quick", stamped: published)
        #expect(harness.usersInFlight == ["slow"])
        harness.answer(slow, CallResult(status: 200))
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.engine.commitPositions.map(\.offset) == [2])
    }

    @Test("foreign metadata is reported and ignored")
    func foreign() {
        let harness = EngineHarness()
        harness.engine.unassigned(now: harness.now)
        harness.assign(metadata: "somebody@else")
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.notice(.foreignMetadata(topic: "notifications", partition: 0))])
        harness.event("a")
        #expect(harness.calls.count == 1)
    }

    @Test("offsets that a mirror copied from another cluster skip nothing; a commit is bound to its cluster")
    func mirrored() {
        let harness = EngineHarness()
        harness.engine.unassigned(now: harness.now)
        var map = CompletionMap()
        map.add(1..<2)
        harness.assign(metadata: map.text(committing: 0, of: .first), cluster: "the other region")
        harness.pass(.zero)
        #expect(harness.takeOthers() == [.notice(.foreignMetadata(topic: "notifications", partition: 0))])
        harness.event("a")
        harness.event("b")
        #expect(harness.calls.count == 2)
        let slow = harness.takeCall()
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        let position = harness.engine.commitPositions
        #expect(position.map(\.offset) == [0])
        let own = PartitionIdentity(cluster: "the other region", topic: "notifications", partition: 0)
        #expect(CompletionMap(text: position[0].metadata, committed: 0, of: own)?.done == [1..<2])
        harness.answer(slow, CallResult(status: 200))
    }

    @Test("lost: all events are dropped and nothing is committed")
    func lost() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("b")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.lose()
        #expect(harness.takeOthers() == [.unassign])
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("answers and acknowledgements for an older assignment are dropped")
    func stale() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("b")
        let late = harness.takeCall()
        harness.answer(200)
        let lateRecord = harness.produced[0].id
        harness.lose()
        harness.engine.unassigned(now: harness.now)
        harness.assign()
        harness.event("c")
        harness.answer(late, CallResult(status: 200))
        harness.engine.delivered(lateRecord, now: harness.now)
        #expect(harness.engine.counters.stale == 2)
        #expect(harness.engine.load == (1, 1, 0))
    }

    @Test("a commit's outcome for an older assignment is dropped")
    func staleCommit() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.takeOthers() == [.commit(sequence: 1)])
        harness.lose()
        harness.engine.unassigned(now: harness.now)
        harness.assign()
        harness.engine.committed(sequence: 1, .acknowledged, now: harness.now)
        harness.event("a")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.takeOthers().last == .commit(sequence: 2))
    }

    @Test("drain: takes no more events, finishes, commits, leaves")
    func drain() {
        let harness = EngineHarness()
        harness.event("a")
        harness.drain()
        let source = harness.engine.nextSource()
        #expect(source == nil)
        harness.answer(200)
        harness.acknowledgeAll()
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.leave(complete: true)])
    }

    @Test("drain: events done meanwhile are committed meanwhile, in case the end never comes")
    func commitsDuringDrain() {
        let harness = EngineHarness()
        harness.event("slow")
        harness.event("quick")
        harness.drain()
        let slow = harness.takeCall()
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.others == [.commit(sequence: 1)])
        harness.commitEnds(.acknowledged)
        harness.answer(slow, CallResult(status: 200))
        harness.acknowledgeAll()
        #expect(harness.others == [.commit(sequence: 2)])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.leave(complete: true)])
    }

    @Test("drain: a retry from memory goes to a delay instead, so that it is not called too soon")
    func drainWithRetry() {
        let harness = EngineHarness()
        harness.event("a", "apns,gcm")
        harness.answer(200)
        harness.answer(503)
        harness.drain()
        #expect(harness.summaries == ["result apns delivered", "retry 1s gcm blocked 1"])
        harness.acknowledgeAll()
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.leave(complete: true)])
    }

    @Test("drain during an outage: waiting events are given back unharmed")
    func drainInOutage() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(CallResult(failure: .tls))
        _ = harness.takeOthers()
        harness.drain()
        #expect(harness.summaries.isEmpty)
        #expect(harness.takeOthers() == [.leave(complete: true)])
    }

    @Test("drain with a hanging backend: ends at its deadline")
    func drainDeadline() {
        let harness = EngineHarness { $0.drainTimeout = .seconds(5) }
        harness.event("a")
        harness.drain()
        harness.pass(.seconds(5))
        #expect(harness.takeOthers() == [.notice(.gaveUp(events: 1)), .leave(complete: false)])
    }

    @Test("a commit that failed temporarily is made again, a refused one is not")
    func commitFailures() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        harness.commitEnds(.failedForNow)
        harness.pass(.milliseconds(100))
        #expect(harness.others == [.commit(sequence: 2)])
        harness.revoke()
        harness.commitEnds(.refused)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("the engine never asks to be woken in the past, so that no loop spins", arguments: [true, false])
    func wakes(draining: Bool) {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("b")
        harness.answer(200)
        harness.acknowledgeAll()
        if draining { harness.drain() } else { harness.revoke() }
        harness.pass(.milliseconds(500))
        let wake = harness.engine.nextWake
        #expect(wake.map { $0 > harness.now.monotonic } ?? true)
    }
}

@Suite("Edges of an assignment")
struct EngineAssignmentEdgeTests {
    @Test("a partition that begins anew forgets the events under way, and later ones are committed")
    func restartUnderWay() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("b")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
        harness.restart()
        harness.commitEnds(.acknowledged)
        harness.event("c")
        harness.answer(200)
        harness.acknowledgeAll()
        #expect(harness.engine.load == (1, 1, 0))
        harness.pass(.milliseconds(200))
        #expect(harness.others == [.commit(sequence: 2)])
        #expect(
            harness.engine.commitPositions.map(\.offset) == [0],
            "the old second event does not count for the new first one")
        harness.commitEnds(.acknowledged)
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.takeOthers() == [.commit(sequence: 3)])
        #expect(harness.engine.commitPositions.map(\.offset) == [1])
        #expect(harness.engine.load == (0, 0, 0))
    }

    @Test("The first offset of a recreated topic is committed at once, before an event of it is done")
    func restartCommitted() {
        let harness = EngineHarness()
        harness.event("a")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        harness.commitEnds(.acknowledged)
        _ = harness.takeOthers()
        harness.restart()
        harness.pass(.milliseconds(200))
        #expect(harness.others == [.commit(sequence: 2)])
        #expect(harness.engine.commitPositions.map(\.offset) == [0])
        harness.commitEnds(.acknowledged)
        harness.pass(.milliseconds(200))
        #expect(harness.takeOthers().isEmpty, "and once")
    }

    @Test("An answer to a question from before the partition began anew does not apply to its new offsets")
    func lateAnswer() {
        let harness = assigned(startingAt: 40, reading: 3)
        func answer(
            _ low: Int64, _ high: Int64, askedIn reading: Int, at wanted: Int64 = 40, reading present: Int
        ) -> OffsetReset {
            let question = RangeQuestion(reading: reading, wanted: wanted)
            return harness.engine.outOfRange(
                0, low: low, high: high, younger: low, answering: question, reading: present)
        }
        #expect(answer(0, 2, askedIn: 2, reading: 3) == .outdated, "of another assignment")
        #expect(answer(50, 60, askedIn: 3, reading: 3) == .lost(count: 10))
        #expect(answer(30, 60, askedIn: 3, reading: 3) == .there)
        #expect(answer(0, 2, askedIn: 3, reading: 5) == .recreated(wanted: 40))
        #expect(harness.engine.nextOffset(of: 0) == 0)
        for question in 3...5 { #expect(answer(7, 9, askedIn: question, at: 0, reading: 6) == .outdated) }
        #expect(answer(7, 9, askedIn: 6, at: 0, reading: 6) == .lost(count: 7))
    }

    @Test("Records deleted unread are lost until the group stands behind them; taking continues there")
    func lostAndSkipped() {
        let harness = assigned(startingAt: 40, reading: 3)
        let question = RangeQuestion(reading: 3, wanted: 40)
        func answer(committed: Int64?) -> OffsetReset {
            harness.engine.outOfRange(
                0, low: 50, high: 60, committed: committed, answering: question, reading: 3)
        }
        #expect(answer(committed: 49) == .lost(count: 10))
        #expect(answer(committed: nil) == .lost(count: 10))
        #expect(harness.engine.nextOffset(of: 0) == 40)
        #expect(answer(committed: 52) == .skipped(to: 52))
        #expect(harness.engine.nextOffset(of: 0) == 52)
    }

    @Test("Deleted records that an earlier owner had done are no loss, and of others only those count")
    func deletedAndDone() {
        func harness(_ done: Range<Int64>) -> EngineHarness {
            let harness = EngineHarness()
            var map = CompletionMap()
            map.add(done)
            let identity = PartitionIdentity(cluster: "", topic: "notifications", partition: 0)
            harness.lose()
            harness.engine.unassigned(now: harness.now)
            let metadata = map.text(committing: 40, of: identity)
            harness.engine.assigned(
                [AssignedPartition(topic: 0, number: 0, startOffset: 40, metadata: metadata)],
                topics: [ConsumedTopic(name: "notifications", role: .request(weight: 1))], reading: 3, now: harness.now)
            return harness
        }
        let question = RangeQuestion(reading: 3, wanted: 40)
        let some = harness(43..<60).engine.outOfRange(0, low: 50, high: 60, answering: question, reading: 3)
        #expect(some == .lost(count: 3))
        let all = harness(40..<50)
        #expect(all.engine.outOfRange(0, low: 50, high: 60, answering: question, reading: 3) == .skipped(to: 50))
        #expect(all.engine.nextOffset(of: 0) == 50)
    }

    @Test("What was taken before the lost records is recorded, and the commit moves behind them with it")
    func takenBeforeLost() {
        let harness = EngineHarness()
        harness.event("a")
        harness.event("b")
        harness.engine.offsetIsMissing(0)
        let question = RangeQuestion(reading: 0, wanted: 2)
        #expect(
            harness.engine.outOfRange(0, low: 9, high: 12, committed: 9, answering: question, reading: 0)
                == .skipped(to: 9))
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.engine.commitPositions.map(\.offset) == [1], "the second may still be called again")
        harness.commitEnds(.acknowledged)
        harness.skip(to: 9)
        harness.event("c")
        for _ in 0..<2 { harness.answer(200) }
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        #expect(harness.engine.commitPositions.map(\.offset) == [10])
    }

    @Test("A stop writes what is in memory anew when its record was deleted: no other owner has it")
    func stopAfterDeletion() {
        for isDeleted in [true, false] {
            let harness = EngineHarness.atomic {
                $0.retry = RetryPolicy(immediate: 0, delays: [.seconds(1), .seconds(10)])
            }
            let due = harness.time + 9_000
            harness.event(
                "waits", on: EngineHarness.tenSeconds,
                headers: [
                    ("herald-attempts", "1"), ("herald-not-before", "\(due)"), ("herald-reason", "transient"),
                    ("herald-pns", "apns"),
                ])
            let partition = Int32(EngineHarness.tenSeconds)
            harness.engine.offsetIsMissing(partition)
            let question = RangeQuestion(reading: 0, wanted: 1)
            if isDeleted {
                #expect(
                    harness.engine.outOfRange(partition, low: 4, high: 4, answering: question, reading: 0)
                        == .lost(count: 3))
            }
            harness.drain()
            #expect(harness.summaries == (isDeleted ? ["retry 10s apns kept 1"] : []))
            guard isDeleted else { continue }
            #expect(harness.headers(at: 0)["herald-not-before"] == "\(due)")
            harness.pass(.zero)
            let position = harness.engine.commitPositions.first { $0.partition == partition }
            #expect(position?.offset == 1)
        }
    }

    @Test("An answer to a question from before more of the partition was taken does not apply")
    func answerBehind() {
        let harness = assigned(startingAt: 40, reading: 3)
        harness.skip(to: 40)
        harness.event("a")
        let question = RangeQuestion(reading: 3, wanted: 40)
        #expect(harness.engine.outOfRange(0, low: 0, high: 39, answering: question, reading: 4) == .outdated)
        #expect(harness.engine.nextOffset(of: 0) == 41)
    }

    private func assigned(startingAt offset: Int64, reading: Int) -> EngineHarness {
        let harness = EngineHarness()
        harness.lose()
        harness.engine.unassigned(now: harness.now)
        harness.engine.assigned(
            [AssignedPartition(topic: 0, number: 0, startOffset: offset)],
            topics: [ConsumedTopic(name: "notifications", role: .request(weight: 1))], reading: reading,
            now: harness.now)
        return harness
    }

    @Test("the last commit has its own time, even if it had to wait for the previous one until the deadline")
    func lateLastCommit() {
        let harness = EngineHarness { $0.drainTimeout = .seconds(6) }
        harness.event("a")
        harness.answer(200)
        harness.acknowledgeAll()
        harness.pass(.milliseconds(200))
        harness.event("b")
        harness.drain()
        harness.answer(200)
        harness.acknowledgeAll()
        #expect(harness.others == [.commit(sequence: 1)])
        harness.time += 6_000
        harness.commitEnds(.acknowledged)
        harness.pass(.zero)
        #expect(harness.others == [.commit(sequence: 2)])
        harness.commitEnds(.acknowledged)
        #expect(harness.takeOthers() == [.leave(complete: true)])
    }

    @Test("without delays a stop gives back events that would be retried from memory")
    func stopWithoutDelays() {
        let harness = EngineHarness { configuration in
            configuration.retryDelays = []
            configuration.retry = RetryPolicy(immediate: 2, delays: [])
        }
        harness.event("a")
        harness.revoke()
        harness.answer(503)
        #expect(harness.summaries.isEmpty)
        #expect(harness.takeOthers() == [.unassign])
    }

    @Test("lost after the end of a drain: the group is answered, and no more events are taken")
    func lostAfterDrain() {
        let harness = EngineHarness()
        harness.drain()
        harness.lose()
        #expect(harness.takeOthers() == [.leave(complete: true), .unassign])
        harness.engine.unassigned(now: harness.now)
        harness.assign()
        let isConsuming = harness.engine.isConsuming
        #expect(!isConsuming)
    }
}
