import HeraldBytes
import HeraldEvents
import HeraldKernel
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("An unreadable batch")
struct EngineUnreadableTests {
    /// An engine that has taken three events, the second of which is not done, in front of a batch of seven.
    private func harness() -> EngineHarness {
        let harness = EngineHarness.atomic()
        for user in ["a", "b", "c"] { harness.event(user) }
        harness.answer(200)
        _ = harness.takeCall()
        harness.answer(200)
        return harness
    }

    /// Begins and ends a transaction with all produced records.
    private func commit(_ harness: EngineHarness) -> CommittedPosition? {
        harness.pass(.milliseconds(100))
        let position = harness.engine.commitPositions.first
        harness.commitEnds(.acknowledged)
        return position
    }

    @Test("is asked about once, the partition continues at its start, and no later record is taken meanwhile")
    func question() {
        let harness = harness()
        let wanted = harness.batchFails(at: 3)
        #expect(wanted == 3)
        let again = harness.batchFails(at: 3)
        #expect(again == nil)
        harness.skip(to: 10)
        #expect(harness.event("d") == .done)
        harness.engine.endReached(of: 0, at: 11)
        let next = harness.engine.nextOffset(of: 0)
        #expect(next == 3 && harness.engine.counters.accepted == 3)
        harness.event("bulk", on: EngineHarness.bulk)
        #expect(harness.engine.counters.accepted == 4, "other partitions do not notice")
    }

    @Test("skips nothing when another client can read it: the partition is read again")
    func fluke() {
        let harness = harness()
        _ = harness.batchFails(at: 3)
        harness.batchIsReadable()
        let offset = harness.engine.readOffset(of: 0)
        #expect(offset == 3)
        harness.event("d")
        #expect(harness.engine.counters.accepted == 4 && harness.engine.counters.unreadable == 0)
    }

    @Test("gets one result and one dead letter without a value, which names its offsets")
    func letter() {
        let harness = harness()
        _ = harness.batchFails(at: 3)
        harness.batchIsUnreadable(3..<10)
        let offset = harness.engine.readOffset(of: 0)
        #expect(offset == 10)
        harness.pass(.milliseconds(100))
        #expect(harness.summaries.suffix(2) == ["dead - unreadable 0", "result - dead-lettered"])
        let headers = harness.headers(at: harness.produced.count - 2)
        #expect(headers["herald-reason"] == "unreadable" && headers["herald-omitted"] == "value")
        #expect(headers["herald-origin"] == "notifications/0/3")
        #expect(headers["herald-detail"] == "offsets 3 to 9 can't be read: broken")
        #expect(harness.result(at: harness.produced.count - 1).contains(#""reason":"unreadable""#))
        #expect(harness.engine.counters.unreadable == 7)
        #expect(harness.engine.counters.deadLetters(.unreadable) == 1)
    }

    @Test("is as old as its failure: what was written while another client looked may be of another log")
    func evidence() throws {
        let harness = harness()
        _ = harness.batchFails(at: 3)
        let now = harness.now.wall
        harness.pass(.seconds(3))
        harness.batchIsUnreadable(3..<10, failedAt: now)
        let identity = PartitionIdentity(cluster: "", topic: "notifications", partition: 0)
        let position = try #require(commit(harness))
        let map = try #require(CompletionMap(text: position.metadata, committed: position.offset, of: identity))
        #expect(map.evidence == LogEvidence(newest: now.milliseconds, begin: 0))
    }

    @Test("is no news of the log when an earlier owner has settled it: what was written since is younger")
    func settledBefore() throws {
        let harness = harness()
        let failedAt = harness.now.wall
        _ = harness.batchFails(at: 3)
        harness.batchIsUnreadable(3..<10, failedAt: failedAt)
        let former = try #require(commit(harness))
        harness.engine.unassigned(now: harness.now)
        harness.assign(startingAt: former.offset, metadata: former.metadata)
        harness.pass(.seconds(5))
        harness.event("b", stamped: 0)
        harness.event("c", stamped: 0)
        _ = harness.batchFails(at: 3)
        harness.batchIsUnreadable(3..<10)
        harness.answer(200)
        let position = try #require(commit(harness))
        let identity = PartitionIdentity(cluster: "", topic: "notifications", partition: 0)
        let map = try #require(CompletionMap(text: position.metadata, committed: position.offset, of: identity))
        #expect(map.evidence == LogEvidence(newest: failedAt.milliseconds, begin: 0))
    }

    @Test("never gets a value, even when its dead letter was refused in every form and is retried")
    func triedAgain() throws {
        let harness = EngineHarness.atomic()
        _ = harness.batchFails(at: 0)
        harness.batchIsUnreadable(0..<7)
        harness.skip(to: 7)
        harness.pass(.milliseconds(100))
        let letter = { harness.produced.lastIndex { $0.production.kind == .deadLetter } }
        // Detail and history, headers, key; there is no value to leave out.
        for _ in 0..<4 { harness.fail(harness.produced[try #require(letter())].id, .doesNotFit) }
        #expect(harness.others.contains(.notice(.recordRefused(topic: "notifications.dead-letter"))))
        harness.commitEnds(.abortable)
        harness.abortEnds()
        _ = harness.takeSummaries()
        harness.settle()
        let end = harness.time + 100_000
        while letter() == nil, harness.time < end {
            harness.pass(.milliseconds(100))
            let isCommitting = harness.others.contains { if case .commit = $0 { true } else { false } }
            if isCommitting, letter() == nil { harness.commitEnds(.acknowledged) }
        }
        #expect(harness.headers(at: try #require(letter()))["herald-omitted"] == "value")
    }

    @Test("is done together with its dead letter, and not before")
    func together() throws {
        let harness = harness()
        let before = try #require(commit(harness))
        _ = harness.batchFails(at: 3)
        harness.batchIsUnreadable(3..<10)
        harness.skip(to: 10)
        harness.event("d")
        harness.answer(200)
        #expect(before.offset == 1)
        let identity = PartitionIdentity(cluster: "", topic: "notifications", partition: 0)
        let position = try #require(commit(harness))
        let map = try #require(CompletionMap(text: position.metadata, committed: position.offset, of: identity))
        #expect(position.offset == 1 && map.done == [2..<11])
    }

    @Test("without its dead letter gets one from the next owner, for all undone offsets")
    func nextOwner() {
        let harness = harness()
        _ = harness.batchFails(at: 3)
        harness.batchIsUnreadable(3..<10)
        harness.lose()
        harness.engine.unassigned(now: harness.now)
        _ = harness.takeOthers()
        var done = CompletionMap()
        done.add(6..<8)
        let identity = PartitionIdentity(cluster: "", topic: "notifications", partition: 0)
        harness.assign(startingAt: 5, metadata: done.text(committing: 5, of: identity))
        let wanted = harness.batchFails(at: 3)
        #expect(wanted == 5)
        harness.batchIsUnreadable(5..<10)
        harness.pass(.milliseconds(100))
        #expect(
            harness.headers(at: harness.produced.count - 2)["herald-detail"] == "offsets 5 to 9 can't be read: broken")
    }

    @Test("that was dealt with before is passed over without a dead letter")
    func known() {
        let harness = EngineHarness.atomic()
        harness.settle()
        harness.skip(to: 20)
        harness.settle()
        let count = harness.engine.counters.accepted
        _ = harness.batchFails(at: 3)
        #expect(harness.batchIsUnreadable(3..<10) == .done)
        let next = harness.engine.nextOffset(of: 0)
        #expect(next == 21 && harness.engine.counters.accepted == count)
    }

    @Test("and the next one get a dead letter each")
    func two() {
        let harness = harness()
        _ = harness.batchFails(at: 3)
        harness.batchIsUnreadable(3..<10)
        let wanted = harness.batchFails(at: 10)
        #expect(wanted == 10)
        harness.batchIsUnreadable(10..<12)
        harness.skip(to: 12)
        harness.event("d")
        #expect(harness.engine.counters.deadLetters(.unreadable) == 2)
        let next = harness.engine.nextOffset(of: 0)
        #expect(next == 13)
    }

    @Test("is ignored after its topic was recreated, or its partitions were lost")
    func outdated() {
        let harness = harness()
        _ = harness.batchFails(at: 3)
        harness.restart()
        #expect(harness.batchIsUnreadable(3..<10) == .done)
        _ = harness.batchFails(at: 0)
        harness.lose()
        #expect(harness.batchIsUnreadable(0..<10) == .done)
        #expect(harness.engine.counters.unreadable == 0)
    }
}
