import Foundation
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldTools
import TestSupport
import Testing

@testable import HeraldCampaigns

@Suite("A campaign's publisher, from its claim to its end")
struct CampaignMachineTests {
    private typealias Bench = CampaignBench

    private static let unreachable = ToolFailure("no broker answers", kind: .unreachable)
    private static let forbidden = ToolFailure("not allowed")

    /// A publisher whose first batch is to be committed, and is not.
    private func committing(
        _ count: Int = 3, _ change: (inout CampaignOrder) -> Void = { _ in }
    ) throws -> (Bench, Bench.Publisher) {
        let bench = try Bench(count, change)
        bench.commits = [.made, .held]
        let publisher = bench.start()
        bench.pass(100, publisher)
        #expect(publisher.done.last == "commit" && bench.published.isEmpty)
        return (bench, publisher)
    }

    // MARK: From the beginning to the end

    @Test("A new campaign is defined, published, waited for and ended, each step in a transaction of its own")
    func new() throws {
        let bench = try Bench(3) { $0.pauseIfFailures = 0.05 }
        let publisher = bench.start()
        #expect(bench.run(publisher) == .complete)
        #expect(
            publisher.done == [
                "claim", "campaigns", "ends", "outcomes", "produce 4", "commit", "audience", "recipients",
                "produce 4", "commit", "notice all", "last outcomes", "produce 2", "commit",
            ])
        #expect(bench.published == bench.audience && bench.audits == ["started", "ended complete"])
        let campaign = try #require(bench.campaign)
        #expect(campaign.definition?.startedAt == Samples.start && campaign.control?.pauseIfFailures == 0.05)
        #expect(campaign.progress?.isComplete == true && campaign.progress?.end == "complete")
        #expect(campaign.progress?.outcomes == ["delivered": 3] && campaign.progress?.resultOffsets == ["0": 3])
        #expect(campaign.progress?.by == "ann@web1 pid 7" && campaign.progress?.finishedAt != nil)
        #expect(publisher.progress.publishedNow == 3)
    }

    @Test("A campaign that is declared finished ends with open outcomes, and people can be added to it")
    func declaredFinished() throws {
        let bench = try Bench(3)
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect(bench.published == bench.audience && publisher.end == nil)
        bench.control(.running, cause: .finished)
        #expect(bench.run(publisher) == .complete && publisher.progress.open == 3)
        #expect(bench.campaign?.progress?.finishedAt != nil)
        bench.audience.append("late")
        let second = bench.start()
        bench.pass(1_000, second)
        #expect(bench.published == bench.audience && second.end == nil && bench.campaign?.control?.cause == nil)
    }

    @Test("A campaign that was begun before continues with the remaining users, and reports the published count")
    func continues() throws {
        let bench = try Bench(10) { $0.ramp = [4, 4] }
        bench.delivers = false
        let first = bench.start()
        bench.pass(1_000, first)
        bench.stop(first, by: "ben")
        #expect(bench.run(first) == .interrupted && bench.published.count == 4)
        #expect(bench.campaign?.progress?.endedBy == "ben")
        bench.delivers = true
        bench.outcomes = ["delivered": 4]
        let second = bench.start()
        #expect(bench.run(second) == .complete && bench.campaign?.progress?.endedBy == nil)
        #expect(bench.published == bench.audience && bench.batches == [4, 4, 2])
        #expect(second.news == ["continues 4", "step 2", "all"])
        #expect(bench.audits == ["started", "ended interrupted", "continued", "ended complete"])
        #expect(second.progress.publishedNow == 6 && second.progress.published == 10)
    }

    @Test("A start that takes over from a publisher names it in the audit; a dropped ramp stays dropped")
    func takesOver() throws {
        let bench = try Bench(10) { $0.ramp = [4, 4] }
        bench.delivers = false
        let first = bench.start()
        bench.pass(1_000, first)
        let by = try #require(bench.campaign?.progress?.by)
        bench.order.ramp = []
        let second = bench.start()
        bench.pass(1_000, second)
        #expect(bench.audits == ["started", "continued over \(by)"])
        #expect(bench.published == bench.audience && bench.campaign?.progress?.ramp?.isEmpty == true)
        bench.audience += ["late", "later"]
        bench.order.ramp = nil
        bench.pass(1_000, bench.start())
        #expect(bench.published == bench.audience && bench.campaign?.progress?.ramp?.isEmpty == true)
    }

    @Test("Rate and ramp of the last start stay, and not those of the first")
    func lastTerms() throws {
        let bench = try Bench(10) { ($0.rate, $0.ramp) = (1_000, [4, 4]) }
        bench.delivers = false
        let first = bench.start()
        bench.pass(1_000, first)
        bench.stop(first)
        bench.run(first)
        #expect(bench.published.count == 4 && bench.campaign?.progress?.ramp == nil)
        (bench.order.rate, bench.order.ramp) = (500, [5, 4])
        let second = bench.start()
        bench.pass(1_000, second)
        bench.stop(second)
        bench.run(second)
        #expect(bench.published.count == 5)
        (bench.order.rate, bench.order.ramp) = (nil, nil)
        bench.pass(1_000, bench.start())
        let progress = try #require(bench.campaign?.progress)
        #expect(bench.published.count == 5 && progress.rate == 500 && progress.ramp == [5, 4])
    }

    @Test("A campaign that an older program began continues: its records need no marks of the audience")
    func older() throws {
        let bench = try Bench(4) { $0.ramp = [2] }
        bench.delivers = false
        let first = bench.start()
        bench.pass(1_000, first)
        var progress = try #require(bench.campaign?.progress)
        (progress.audience, progress.rampWait, progress.end) = (nil, nil, nil)
        bench.write("spring/progress", Samples.json(progress))
        bench.delivers = true
        bench.outcomes = ["delivered": 2]
        #expect(bench.run(bench.start()) == .complete)
        #expect(bench.published == bench.audience && bench.campaign?.progress?.replacements == nil)
    }

    @Test("A start of a finished campaign publishes nothing, and keeps the time at which it finished")
    func finished() throws {
        let bench = try Bench(2)
        #expect(bench.run(bench.start()) == .complete)
        let finished = bench.campaign?.progress?.finishedAt
        bench.now = bench.now.advanced(by: .minutes(1))
        #expect(bench.run(bench.start()) == .complete)
        #expect(bench.published.count == 2 && bench.campaign?.progress?.finishedAt == finished)
    }

    @Test("Lines without a recipient and repeats are skipped, and a batch never exceeds its limit")
    func batches() throws {
        let bench = try Bench(6_000)
        bench.audience.insert("", at: 1)
        bench.audience.insert("user0", at: 2)
        #expect(bench.run(bench.start()) == .complete)
        #expect(bench.published.count == 6_000 && bench.batches == [2_500, 2_500, 1_000])
    }

    @Test("Many published users are skipped in turns, without a record")
    func passes() throws {
        let bench = try Bench(21_000)
        bench.run(bench.start())
        bench.audience.append("late")
        let before = bench.signs
        let publisher = bench.start()
        #expect(bench.run(publisher) == .complete)
        #expect(publisher.done.filter { $0 == "recipients" }.count == 2 && bench.published.last == "late")
        #expect(bench.signs == before + 3)
    }

    // MARK: Pace

    @Test("A rate is kept: the next events go when it allows them")
    func rate() throws {
        let bench = try Bench(40) { $0.rate = 10 }
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect((9...12).contains(bench.published.count))
        bench.pass(1_000, publisher)
        #expect((19...22).contains(bench.published.count))
        #expect(bench.run(publisher) == .complete)
    }

    @Test("The number of open outcomes is limited")
    func distance() throws {
        let bench = try Bench(12_000)
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect(bench.published.count == 10_000 && bench.waits(publisher) == .openOutcomes)
        bench.outcomes = ["delivered": 3_000]
        bench.pass(100, publisher)
        #expect(bench.published.count == 12_000)
    }

    @Test("A step of the ramp waits for the outcomes of the previous one, and its progress says so")
    func ramp() throws {
        let bench = try Bench(9) { $0.ramp = [1, 3] }
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(20_000, publisher)
        #expect(bench.published.count == 1 && publisher.phase == .publishing)
        let wait = try #require(bench.campaign?.progress?.rampWait)
        #expect(publisher.machine.waiting(now: bench.moment)?.phrase.hasPrefix(CampaignWords.sentence(wait)) == true)
        bench.outcomes = ["delivered": 1]
        bench.pass(100, publisher)
        #expect(bench.published.count == 4 && publisher.news == ["step 1", "step 2"])
        bench.outcomes = ["delivered": 4]
        bench.pass(100, publisher)
        #expect(bench.published.count == 9)
    }

    @Test("One recipient that keeps failing holds a step for ten minutes")
    func patience() throws {
        let bench = try Bench(9) { ($0.ramp, $0.pauseIfFailures) = ([4, 1], 0.05) }
        bench.delivers = false
        bench.retries = RetryBacklog.Count(retrying: 1, retryingLong: 1)
        let publisher = bench.start()
        bench.pass(100, publisher)
        bench.outcomes = ["delivered": 3]
        bench.pass(599_000, publisher)
        #expect(bench.published.count == 4)
        let until = try #require(bench.campaign?.progress?.rampWait?.goesOnAt)
        #expect(abs(until - Samples.start - 600_000) < 1_000)
        bench.pass(1_000, publisher)
        #expect(bench.published.count == 5 && publisher.news == ["step 1", "step 1 without 1", "step 2"])
    }

    // MARK: Orders

    @Test("A pause stops publishing at once, even of a batch that was read; a resume begins with this batch")
    func pauseInBatch() throws {
        for actions in 0..<60 {
            let bench = try Bench(5) { $0.ramp = [2, 1] }
            let publisher = bench.start()
            for _ in 0..<actions { bench.step(publisher) }
            guard bench.campaign?.definition != nil, !publisher.machine.isOver else { continue }
            bench.control(.paused)
            bench.pass(60_000, publisher)
            let count = bench.published.count
            if publisher.machine.isOver { continue }
            #expect(publisher.machine.work.isHeld && bench.waits(publisher) == .campaignPaused)
            bench.pass(60_000, publisher)
            #expect(bench.published.count == count)
            bench.control(.running)
            #expect(bench.run(publisher) == .complete)
            #expect(bench.published == bench.audience && publisher.news.contains("resumed"))
        }
    }

    @Test("A batch that a broker refused temporarily is not retried during a pause, and goes first after it")
    func pauseInRetry() throws {
        let bench = try Bench(5)
        bench.commits = [.made, .refused(KafkaError(code: KafkaError.Code.messageTimedOut))]
        let publisher = bench.start()
        bench.settle(publisher)
        bench.control(.paused)
        bench.pass(60_000, publisher)
        #expect(bench.published.isEmpty && publisher.machine.work.isHeld)
        bench.control(.running)
        #expect(bench.run(publisher) == .complete)
        #expect(bench.published == bench.audience)
    }

    @Test("A batch that a broker refused temporarily is not retried when the campaign is cancelled")
    func cancelInRetry() throws {
        let bench = try Bench(5)
        bench.commits = [.made, .refused(KafkaError(code: KafkaError.Code.messageTimedOut))]
        let publisher = bench.start()
        bench.settle(publisher)
        bench.control(.cancelled)
        #expect(bench.run(publisher) == .cancelled)
        #expect(bench.published.isEmpty)
    }

    @Test("It publishes nothing before it has read its own start, in front of which a pause may lie")
    func unreadStart() throws {
        let bench = try Bench(3)
        bench.readable = bench.index
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect(bench.published.isEmpty && publisher.phase == .publishing && bench.waits(publisher) == .reading)
        bench.readable = nil
        bench.pass(100, publisher)
        #expect(bench.published.count == 3)
    }

    @Test("A pause written while the campaign begins holds: the publisher's own record does not end it")
    func pauseInBeginning() throws {
        for actions in 0..<20 {
            let bench = try Bench(3) { $0.pauseIfFailures = 0.05 }
            let publisher = bench.start()
            for _ in 0..<actions { bench.step(publisher) }
            guard bench.campaign?.definition == nil else { continue }
            bench.control(.paused)
            bench.pass(60_000, publisher)
            #expect(bench.published.isEmpty && bench.campaign?.state == .paused)
            #expect(publisher.machine.work.isHeld || publisher.end?.failure?.description.contains("is paused") == true)
            bench.control(.running)
            #expect(bench.run(publisher.end == nil ? publisher : bench.start()) == .complete)
            #expect(bench.published == bench.audience)
        }
    }

    @Test("A cancelled campaign publishes nothing, and ends when no worker can still write an outcome")
    func cancel() throws {
        for actions in 0..<60 {
            let bench = try Bench(5) { $0.ramp = [2, 1] }
            let publisher = bench.start()
            for _ in 0..<actions { bench.step(publisher) }
            guard bench.campaign?.definition != nil, !publisher.machine.isOver else { continue }
            bench.control(.cancelled)
            let end = bench.run(publisher)
            if bench.published.count < 5 { #expect(end == .cancelled && bench.audits.last == "ended cancelled") }
        }
    }

    @Test("A cancelled campaign waits for its last outcomes while some arrive, at most for three seconds")
    func lastOutcomes() throws {
        for (pause, length) in [(1_000, 700...701), (500, 3_000...3_001)] as [(Int64, ClosedRange<Int64>)] {
            let bench = try Bench(5) { $0.ramp = [4] }
            bench.delivers = false
            let publisher = bench.start()
            bench.pass(100, publisher)
            bench.control(.cancelled)
            bench.pass(0, publisher)
            let start = bench.now
            for known in 1...8 where !publisher.machine.isOver {
                bench.outcomes = ["delivered": known]
                for _ in 0..<pause where !publisher.machine.isOver { bench.pass(1, publisher) }
            }
            #expect(publisher.end == .cancelled && length.contains(bench.now.time(since: start).count))
        }
    }

    @Test("Too many failures pause it, once; after a resume, failures that an operator saw do not count again")
    func failures() throws {
        let bench = try Bench(11_000) { $0.pauseIfFailures = 0.05 }
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(100, publisher)
        bench.outcomes = ["delivered": 189, "dead-lettered": 11]
        bench.pass(100, publisher)
        #expect(publisher.machine.work.isHeld && publisher.news == ["paused by failures"])
        #expect(bench.campaign?.control?.reason == "11 of 200 outcomes failed, more than 5%")
        #expect(bench.campaign?.control?.pauseIfFailures == 0.05)
        #expect(bench.campaign?.control?.by == "publisher 7 of ann@web1" && bench.audits.last == "done")
        bench.control(.running)
        bench.outcomes = ["delivered": 9_989, "dead-lettered": 11]
        bench.delivers = true
        #expect(bench.run(publisher) == .complete)
        #expect(bench.published.count == 11_000 && publisher.news == ["paused by failures", "resumed", "all"])
    }

    @Test("Without an operator who could resume it, a pause because of failures is the end")
    func endsPaused() throws {
        let bench = try Bench(3) {
            ($0.pauseIfFailures, $0.ramp, $0.endsWhenPausedByFailures) = (0.05, [2], true)
        }
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(100, publisher)
        bench.outcomes = ["dead-lettered": 1]
        #expect(bench.run(publisher) == .failing)
        #expect(bench.published.count == 2 && bench.audits.last == "ended paused")
    }

    @Test("A start with another share of failures replaces the campaign's share")
    func otherShare() throws {
        let bench = try Bench(3) { ($0.pauseIfFailures, $0.ramp) = (0.05, [1]) }
        bench.delivers = false
        let first = bench.start()
        bench.pass(100, first)
        bench.stop(first)
        bench.run(first)
        bench.order.pauseIfFailures = 0.5
        bench.pass(100, bench.start())
        #expect(bench.campaign?.control?.pauseIfFailures == 0.5)
    }

    @Test("When its events expire it ends, whatever remains")
    func expires() throws {
        let bench = try Bench(3) { ($0.ramp, $0.expiresIn) = ([1], .minutes(1)) }
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(59_000, publisher)
        #expect(publisher.phase == .publishing)
        bench.pass(5_000, publisher)
        #expect(publisher.end == .expired && bench.published.count == 1)
    }

    @Test("A paused or cancelled campaign does not begin", arguments: [CampaignControl.State.paused, .cancelled])
    func refused(state: CampaignControl.State) throws {
        let bench = try Bench(3) { $0.ramp = [1] }
        bench.delivers = false
        let first = bench.start()
        bench.pass(100, first)
        bench.control(state)
        let second = bench.start()
        let failure = try #require(bench.run(second)?.failure)
        #expect(failure.description.contains(state == .paused ? "is paused" : "was cancelled"))
        #expect(bench.published.count == 1)
    }

    // MARK: Signs of life

    @Test("It writes its progress every five seconds, even while it is paused")
    func signs() throws {
        let bench = try Bench(3) { $0.ramp = [1] }
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        let before = bench.signs
        bench.pass(20_000, publisher)
        #expect(bench.signs == before + 4)
        bench.control(.paused)
        bench.pass(20_000, publisher)
        #expect(bench.signs == before + 8)
    }

    @Test("A silence is investigated: retries after two seconds, the workers' deliveries after thirty")
    func silence() throws {
        let bench = try Bench(3)
        bench.context.workerTrouble = { _ in nil }
        bench.delivers = false
        (bench.retries, bench.trouble) = (RetryBacklog.Count(retrying: 2), "No worker runs.")
        let publisher = bench.start()
        bench.pass(1_900, publisher)
        #expect(!publisher.done.contains("retries"))
        bench.pass(100, publisher)
        #expect(publisher.done.last == "retries" && publisher.machine.work.pace?.silenceFacts?.retries?.retrying == 2)
        bench.pass(28_500, publisher)
        #expect(publisher.done.filter { $0 == "retries" }.count == 6)
        #expect(publisher.done.filter { $0 == "workers" }.count == 1)
        #expect(
            publisher.machine.waiting(now: bench.moment)?.phrase.hasSuffix("2 of 3 open are retrying; no worker runs.")
                == true)
        bench.outcomes = ["delivered": 1]
        bench.pass(0, publisher)
        #expect(publisher.machine.work.pace?.silenceFacts == OutcomeSilence.Facts(length: .zero))
    }

    // MARK: Trouble

    @Test("Another publisher's claim ends it: in a batch, and in a sign of life")
    func takenOver() throws {
        let (bench, publisher) = try committing()
        bench.claimByAnother()
        bench.answer(publisher)
        #expect(bench.run(publisher) == .takenOver && bench.published.isEmpty)
        let waiting = try Bench(3) { $0.ramp = [1] }
        waiting.delivers = false
        let idle = waiting.start()
        waiting.pass(100, idle)
        waiting.claimByAnother()
        #expect(waiting.run(idle) == .takenOver)
    }

    @Test("A transaction that the broker has ended because of its age is begun anew")
    func old() throws {
        let (bench, publisher) = try committing()
        bench.now = bench.now.advanced(by: .minutes(1))
        bench.claimByAnother()
        bench.answer(publisher)
        #expect(bench.run(publisher) == .complete)
        #expect(bench.published == bench.audience && publisher.news == ["unreachable", "all"])
    }

    @Test("Claiming the name again shows whether a batch in doubt was written", arguments: [true, false])
    func doubt(isMade: Bool) throws {
        for transaction in 0..<4 {
            let bench = try Bench(5) { $0.ramp = [2] }
            bench.commits =
                [Bench.Commit](repeating: .made, count: transaction) + [isMade ? .madeInDoubt : .lostInDoubt]
            let publisher = bench.start()
            #expect(bench.run(publisher) == .complete)
            #expect(bench.published == bench.audience && publisher.progress.published == 5)
            let claims = publisher.done.filter { $0 == "claim" }.count
            // The command has done its work; only its last records are in doubt.
            #expect(claims == (transaction == 3 ? 1 : 2))
            #expect(publisher.phase == .ended)
        }
    }

    @Test("When a topic has grown, the transaction under way ends, and everything is read again")
    func grownTopic() throws {
        for actions in 0..<60 {
            let bench = try Bench(5) { $0.ramp = [2, 1] }
            let publisher = bench.start()
            for _ in 0..<actions { bench.step(publisher) }
            bench.grow(publisher)
            let isPublishing = publisher.phase == .opening || publisher.phase == .publishing
            #expect(bench.run(publisher) == .complete)
            #expect(bench.published == bench.audience)
            #expect(publisher.done.count { $0 == "campaigns" } == (isPublishing ? 2 : 1))
        }
    }

    @Test("A permanent refusal by the broker ends it, with a message that names the missing right")
    func refusedForGood() throws {
        let bench = try Bench(3)
        bench.commits = [.made, .refused(KafkaError(code: KafkaError.Code.topicAuthorizationFailed))]
        let publisher = bench.start()
        let failure = try #require(bench.run(publisher)?.failure)
        #expect(failure.description.contains("the broker takes no events") && failure.description.contains("Write"))
        #expect(bench.published.isEmpty)
    }

    @Test("A batch that stays in doubt is tried ten times")
    func refusals() throws {
        let bench = try Bench(3)
        bench.commits = [.made] + [Bench.Commit](repeating: .lostInDoubt, count: 20)
        let publisher = bench.start()
        let failure = try #require(bench.run(publisher)?.failure)
        #expect(publisher.done.filter { $0 == "claim" }.count == AudiencePublication.refusalLimit)
        #expect(failure.description.hasPrefix("10 transactions in a row ended in doubt"))
    }

    @Test("Doubts that do not follow each other end nothing, however many there are")
    func doubtsApart() throws {
        let bench = try Bench(3)
        bench.delivers = false
        let publisher = bench.start()
        for _ in 0..<2 * AudiencePublication.refusalLimit {
            bench.pass(12_000, publisher)
            bench.commits = [.lostInDoubt]
        }
        #expect(publisher.end == nil && publisher.phase == .publishing)
    }

    @Test("It waits for brokers that are away, and each reading begins anew")
    func unreachable() throws {
        for action in ["campaigns", "ends", "outcomes"] {
            let bench = try Bench(3)
            bench.failures = [action: Self.unreachable]
            let publisher = bench.start()
            #expect(bench.run(publisher) == .complete)
            #expect(publisher.news == ["unreachable", "all"] && bench.published == bench.audience)
            bench.failures = ["published": Self.unreachable]
            #expect(bench.run(bench.start()) == .complete)
        }
        let bench = try Bench(3)
        bench.failures = ["audience": Self.unreachable, "last outcomes": Self.unreachable]
        #expect(bench.run(bench.start()) == .complete)
        #expect(bench.published == bench.audience && bench.audits == ["started", "ended complete"])
    }

    @Test("Any other failure of reading ends it", arguments: ["campaigns", "ends", "outcomes", "audience"])
    func failed(action: String) throws {
        let bench = try Bench(3)
        bench.failures = [action: Self.forbidden]
        #expect(bench.run(bench.start()) == .failed(Self.forbidden))
    }

    @Test("After a failure of reading, it waits for the transaction under way")
    func failedInBatch() throws {
        let (bench, publisher) = try committing()
        bench.fail(Self.forbidden, publisher)
        bench.settle(publisher)
        #expect(publisher.phase == .publishing)
        bench.answer(publisher)
        #expect(bench.run(publisher) == .failed(Self.forbidden))
        #expect(bench.published.count == 3)
    }

    @Test("A transaction that no broker answers is begun anew after two minutes")
    func noAnswer() throws {
        let (bench, publisher) = try committing()
        bench.commits = [.unanswered]
        bench.answer(publisher)
        bench.pass(119_000, publisher)
        #expect(publisher.phase == .publishing)
        bench.pass(2_000, publisher)
        bench.commits = []
        #expect(bench.run(publisher) == .complete)
        #expect(bench.published == bench.audience)
    }

    // MARK: A stop

    @Test("A stop at any moment interrupts it, and the next publisher continues")
    func stops() throws {
        for actions in 0..<40 {
            let bench = try Bench(5) { $0.ramp = [2, 1] }
            let first = bench.start()
            for _ in 0..<actions { bench.step(first) }
            bench.stop(first)
            let end = bench.run(first)
            #expect(end == .interrupted || end == .complete)
            #expect(bench.run(bench.start()) == .complete)
            #expect(bench.published == bench.audience)
        }
    }

    @Test("A stop while no broker answers leaves its transaction to the next publisher")
    func stopsInOutage() throws {
        let (bench, publisher) = try committing()
        bench.commits = [.unanswered]
        bench.answer(publisher)
        bench.settle(publisher)
        bench.stop(publisher)
        bench.pass(1_000, publisher)
        #expect(publisher.end == .interrupted && bench.published.isEmpty)
    }

    // MARK: The audience

    /// Stops a publisher behind the two recipients of its first step, whose events are delivered then.
    private func stopAtRamp(_ publisher: Bench.Publisher, _ bench: Bench) {
        bench.pass(100, publisher)
        bench.stop(publisher)
        bench.run(publisher)
        bench.delivers = true
        bench.outcomes = ["delivered": 2]
    }

    @Test("An audience that was read before another start was recorded has to be read again")
    func audienceOfBefore() throws {
        let bench = try Bench(4) { $0.ramp = [2] }
        bench.delivers = false
        let first = bench.start()
        bench.audience.append("added")
        let late = bench.start()
        stopAtRamp(first, bench)
        let failure = try #require(bench.run(late)?.failure)
        #expect(failure.description.contains("since this audience was read"))
        #expect(bench.run(bench.start()) == .complete)
        #expect(bench.campaign?.progress?.replacements?.map(\.added) == [1])
    }

    @Test("Another audience is refused, or replaces the former one, which the records keep")
    func otherAudience() throws {
        let bench = try Bench(4) { $0.ramp = [2] }
        bench.delivers = false
        let first = bench.start()
        stopAtRamp(first, bench)
        bench.audience = ["user0", "other"]
        let failure = try #require(bench.run(bench.start())?.failure)
        #expect(failure.description.contains("it has another audience by now"))
        bench.order.replacesAudience = true
        #expect(bench.run(bench.start()) == .complete)
        let progress = try #require(bench.campaign?.progress)
        #expect(progress.replacements?.map(\.unpublished) == [2] && progress.strangers == 1)
        #expect(bench.published == ["user0", "user1", "other"] && progress.published == 3)
    }

    @Test("People at the end of the audience are added")
    func grown() throws {
        let bench = try Bench(2)
        bench.run(bench.start())
        bench.audience += ["late"]
        #expect(bench.run(bench.start()) == .complete)
        #expect(bench.published.last == "late" && bench.campaign?.progress?.replacements?.first?.added == 1)
    }

    @Test("Once all are published, people are added in a file of their own, and a kill within it loses nobody")
    func addedAlone() throws {
        let bench = try Bench(4) { $0.ramp = [2] }
        bench.order.addsPeople = true
        #expect(
            bench.run(bench.start())?.failure?.description
                == "there is no campaign spring that people could be added to")
        bench.order.addsPeople = false
        bench.delivers = false
        stopAtRamp(bench.start(), bench)
        bench.order.addsPeople = true
        let former = bench.audience
        bench.audience = ["late", "later"]
        let failure = try #require(bench.run(bench.start())?.failure)
        #expect(failure.description.contains("2 recipients that it has are not published"), "\(failure)")
        bench.audience = former
        #expect(bench.run(bench.start()) == .complete && bench.published == former)
        bench.audience = ["late", "user1", "later"]
        let killed = bench.start()
        for _ in 0..<9 { bench.step(killed) }
        #expect(bench.run(bench.start()) == .complete)
        #expect(bench.published == former + ["late", "later"])
        let progress = try #require(bench.campaign?.progress)
        #expect(progress.everybody == 6 && progress.published == 6 && progress.isComplete)
        #expect(progress.replacements?.map(\.added) == [2] && progress.replacements?.map(\.recipients) == [4])
        // Seven lines of both files: six people, and one that the campaign had.
        #expect(progress.lines == AudienceLines(repeats: 1, invalid: 0, empty: 0))
        // The same file again adds nobody.
        #expect(bench.run(bench.start()) == .complete && bench.published.count == 6)
        #expect(bench.campaign?.progress?.replacements?.count == 1)
        #expect(bench.campaign?.progress?.lines == progress.lines)
    }

    @Test("Published events that were deleted are not published again")
    func deleted() throws {
        let bench = try Bench(3)
        bench.run(bench.start())
        bench.forgetPublished(1)
        let failure = try #require(bench.run(bench.start())?.failure)
        #expect(failure.description.contains("(2 of 3 events)") && bench.published.count == 2)
    }

    @Test("An audience that changes while it is read ends it: with one person more, or one less", arguments: [1, -1])
    func changed(by difference: Int) throws {
        let bench = try Bench(3)
        let publisher = bench.start()
        if difference > 0 { bench.audience.insert("stranger", at: 0) } else { bench.audience.removeLast() }
        #expect(bench.run(publisher) == .failed(AudiencePreview.changed))
        #expect(bench.published.isEmpty)
    }

    // MARK: Kills and rivals

    @Test("After a kill between any two actions another publisher continues, and each user is notified once")
    func kills() throws {
        for first in 0..<45 {
            for second in stride(from: first % 9, to: 45, by: 9) {
                let bench = try Bench(5) { $0.ramp = [1, 2] }
                for count in [first, second] {
                    let publisher = bench.start()
                    for _ in 0..<count { bench.step(publisher) }
                }
                #expect(bench.run(bench.start()) == .complete)
                #expect(bench.published == bench.audience)
            }
        }
    }

    @Test("Beside a rival that takes over at any moment, each recipient is notified once")
    func rivals() throws {
        for count in 0..<45 {
            let bench = try Bench(5) { $0.ramp = [1, 2] }
            let (first, second) = (bench.start(), bench.start())
            for _ in 0..<count { bench.step(first) }
            for turn in 0..<10_000 where !first.machine.isOver || !second.machine.isOver {
                if turn % 20 == 0 { bench.now = bench.now.advanced(by: .milliseconds(100)) }
                bench.step(turn % 3 == 0 ? first : second)
            }
            let ends = [first.end, second.end]
            #expect(ends.contains(.complete), "\(ends)")
            #expect(bench.published == bench.audience)
        }
    }

    @Test("Under any faults of commits, with kills and rivals, each recipient is notified once", arguments: 0..<60)
    func anything(seed: Int) throws {
        var generator = SplitMix(state: UInt64(seed))
        let bench = try Bench(7) { $0.ramp = [1, 2] }
        var publishers: [Bench.Publisher] = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0...1 where !publishers.isEmpty: publishers.removeLast()
            case 2...5 where publishers.count < 2: publishers.append(bench.start())
            case 6...7: bench.commits = [[.madeInDoubt, .lostInDoubt].randomElement(using: &generator) ?? .made]
            case 8: bench.control(bench.campaign?.state == .paused ? .running : .paused)
            case 9...30: bench.now = bench.now.advanced(by: .milliseconds(50))
            default: if let publisher = publishers.randomElement(using: &generator) { bench.step(publisher) }
            }
            publishers.removeAll { !bench.isAlive($0) }
        }
        bench.commits = []
        if bench.campaign?.state == .paused { bench.control(.running) }
        #expect(bench.run(bench.start()) == .complete)
        #expect(Set(bench.published) == Set(bench.audience))
    }

    // MARK: The batch

    @Test("A batch is limited by its recipients, its bytes, and the lines that were examined")
    func full() {
        func count(_ bytes: Int, lines: Int, limit: Int) -> (count: Int, lines: Int) {
            var (batch, seen) = (RecipientBatch(), 0)
            batch.begin(atMost: limit)
            while batch.state == .gathering, seen < lines {
                seen += 1
                guard bytes > 0 else {
                    batch.passLine()
                    continue
                }
                let user = Array("\(seen)".utf8)
                let record = OutgoingRecord(topic: "t", key: nil, value: [UInt8](repeating: 0, count: bytes))
                batch.add(record, of: RecipientIDs(campaign: "spring").id(of: user.span.bytes))
            }
            return (batch.count, seen)
        }
        #expect(count(10, lines: 100, limit: 7) == (7, 7))
        #expect(count(1 << 20, lines: 100, limit: 50) == (4, 4))
        #expect(count(0, lines: 30_000, limit: 50) == (0, RecipientBatch.linesPerTurn))
    }
}

extension PublicationEnd {
    fileprivate var failure: ToolFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

/// A generator whose numbers depend on the seed alone.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
