import HeraldEvents
import HeraldReplay
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("Plans of the console")
struct PlanBookTests {
    private static func ready(_ count: Int) -> ReadyPlan {
        var plan = ResolvePlan()
        for number in 0..<count { plan.add(LetterSample.make(0, Int64(number)), nil) }
        return ReadyPlan(
            work: .resolve(plan), request: PlanRequest(filter: LetterFilter()), selection: "all", object: [])
    }

    private func book(_ count: Int) -> (PlanCache, String) {
        let book = PlanCache()
        let id = book.begin()
        book.note(.ready(Self.ready(count), until: .now + PlanCache.lifetime), of: id)
        return (book, id)
    }

    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test("Only one of several viewers can start a plan, and the others learn who did")
    func one() async throws {
        let (book, id) = book(3)
        let taken = Guarded<[String]>([])
        let refused = Guarded<[String]>([])
        let threads = (0..<8).map { number in
            Blocking.begin {
                do {
                    _ = try book.take(id, by: "tab \(number)", count: nil)
                    taken.withLock { $0.append("tab \(number)") }
                } catch { refused.withLock { $0.append("\(error)") } }
            }
        }
        for thread in threads { try await thread.value }
        let winner = try #require(taken.withLock { $0 }.first)
        #expect(taken.withLock { $0.count } == 1 && refused.withLock { $0.count } == 7)
        #expect(refused.withLock { $0 }.allSatisfy { $0.contains(winner) })
    }

    @Test("An outdated plan is not started")
    func aged() {
        let (book, id) = book(3)
        let later = ContinuousClock.now + PlanCache.lifetime + .seconds(1)
        #expect(refusal { _ = try book.take(id, by: "ann", count: nil, at: later) }.contains("make another one"))
    }

    @Test("Counts over a hundred must be typed, others need not")
    func typed() throws {
        let (book, id) = book(101)
        #expect(refusal { _ = try book.take(id, by: "ann", count: nil) }.contains("101"))
        #expect(refusal { _ = try book.take(id, by: "ann", count: 100) }.contains("101"))
        #expect(try book.take(id, by: "ann", count: 101).count == 101)
        let (other, small) = self.book(100)
        #expect(try other.take(small, by: "ann", count: nil).count == 100)
    }

    @Test("An unfinished, failed, empty or dropped plan is refused with a sentence")
    func others() {
        let book = PlanCache()
        let id = book.begin()
        #expect(refusal { _ = try book.take(id, by: "ann", count: nil) }.contains("being made"))
        book.note(.failed("no broker answers"), of: id)
        #expect(refusal { _ = try book.take(id, by: "ann", count: nil) } == "no broker answers")
        book.note(.ready(Self.ready(0), until: .now + .seconds(9)), of: id)
        #expect(refusal { _ = try book.take(id, by: "ann", count: nil) }.contains("nothing"))
        for _ in 0..<PlanCache.limit { _ = book.begin() }
        #expect(refusal { _ = try book.take(id, by: "ann", count: nil) }.contains("no such plan"))
        #expect(!book.note(.failed(""), of: id))
    }
}

@Suite("The request for a plan")
struct PlanRequestTests {
    private static func request(_ text: String) throws -> PlanRequest {
        let request = ConsoleRequest(
            path: [], viewer: Viewer(name: "ann", role: .operator, allowsChanges: true), body: Array(text.utf8))
        return try request.decoded(PlanRequest.self)
    }

    @Test("The command beside a plan means the same")
    func command() throws {
        let request = try Self.request(
            """
            {"filter":{"where":"user ~ 'a*'","since":"2h","partitions":[1,2]},"ramp":"1,10,all","stopIfFailures":0.05,
             "rate":0.5,"again":true,"set":{"user":"bob","pns":["apns","gcm"],"title":"The sale"}}
            """)
        #expect(
            request.command(configuration: "h.yaml") == [
                "herald", "dlq", "replay", "--where", "user ~ 'a*'", "--since", "2h", "--partition", "1,2", "--ramp",
                "1,10,all", "--stop-if-failures", "5%", "--rate", "30/m", "--again", "--set", "user=bob", "--set",
                "pns=apns,gcm", "--set", "title=TEXT", "--config", "h.yaml",
            ])
        let options = try request.options(try request.filter.selection(now: .init(milliseconds: 0)))
        #expect(options.ramp.text == "1,10,all" && options.stopShare == 0.05 && options.rate == 0.5 && options.isAgain)
    }

    @Test("It can correct each part of a notification, and an empty text takes one away")
    func content() throws {
        let request = try Self.request(
            #"{"filter":{},"set":{"title":"t","link":"","image":"i","data":"{}","badge":"7","sound":"s","category":"c"}}"#
        )
        let rules = try request.rules(ReplayRules(maximumReplays: 3, requestTopics: ["n"]), .standard)
        #expect(
            rules.correction
                == .members(
                    EventChange(content: [
                        .title: "t", .link: "", .image: "i", .data: "{}", .badge: "7", .sound: "s", .category: "c",
                    ])))
        #expect(request.object == .null)
    }

    @Test(
        "Its mistakes are described",
        arguments: [
            (#"{"filter":{"group":"x"}}"#, "no group"), (#"{"filter":{"where":"status = "}}"#, "column"),
            (#"{"filter":{"since":"yesterday"}}"#, "since"), (#"{"filter":{},"ramp":"0"}"#, "ramp"),
            (#"{"filter":{"where":"\#(String(repeating: "status = 1 or ", count: 400))status = 2"}}"#, "4096 bytes"),
            (#"{"filter":{"ids":[\#(String(repeating: #""a","#, count: 1_000))"a"]}}"#, "1000 ids"),
            (#"{"filter":{},"rate":-1}"#, "rate"), (#"{"filter":{},"rate":1e-300}"#, "rate"),
            (#"{"filter":{},"rate":1e300}"#, "rate"), (#"{"filter":{},"stopIfFailures":7}"#, "stopIfFailures"),
            (#"{"filter":{},"wait":"long"}"#, "wait"), (#"{"filter":{},"onlyPns":["x"]}"#, "none of"),
            (#"{"filter":{},"set":{}}"#, "nothing"), (#"{"filter":{},"set":{"pns":["x"]}}"#, "none of"),
            (#"{"filter":{},"set":{"user":"a"},"edit":{"place":"0:1","value":""}}"#, "together"),
        ])
    func wrong(text: String, part: String) throws {
        let request = try Self.request(text)
        do {
            let selection = try request.filter.selection(now: .init(milliseconds: 0))
            _ = try request.options(selection)
            _ = try request.rules(ReplayRules(maximumReplays: 3, requestTopics: ["n"]), .standard)
            Issue.record("nothing is wrong with \(text)")
        } catch let mistake as FormMistake {
            #expect(mistake.field == part || mistake.description.contains(part), "\(mistake)")
        } catch { #expect("\(error)".contains(part), "\(error)") }
    }

    @Test(
        "The filter of a dead job is read from its record",
        arguments: [
            #"{"group":"reason=rejected"}"#, #"{"where":"user = 'it''s' and detail ~ '\\*'"}"#,
            #"{"group":"campaign=a b","where":"status = 503","since":"2026-11-21T08:40:26.000Z"}"#,
            #"{"ids":["3:1742","e 1","--x"],"partitions":[0,3]}"#,
        ])
    func written(text: String) throws {
        let filter = try Self.request("{\"filter\":\(text)}").filter
        let selection = try filter.selection(now: .init(milliseconds: 0))
        // A text that begins like an option cannot be recognised as an id.
        let expected: LetterFilter? = filter.ids?.contains("--x") ?? false ? nil : filter
        #expect(LetterFilter(text: selection.text) == expected, "\(selection.text)")
        #expect(LetterFilter(text: "--where 'cut") == nil && LetterFilter(text: "") == nil)
        #expect(LetterFilter(text: "a b and 7 more") == nil)
    }
}

@Suite("Batches of a replay")
struct BatchLogTests {
    @Test("Each batch has its own outcomes")
    func batches() {
        var log = BatchLog()
        var progress = ReplayProgress()
        for (batch, replayed, delivered, failed) in [
            (1, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0), (2, 1, 1, 0), (2, 6, 3, 1), (2, 6, 4, 2), (3, 6, 4, 2),
            (3, 20, 4, 2),
        ] {
            (progress.batch, progress.replayed, progress.delivered, progress.failed) = (
                batch, replayed, delivered, failed
            )
            log.note(progress)
        }
        #expect(
            log.batches.map { [$0.number, $0.replayed, $0.delivered, $0.failed] } == [
                [1, 1, 1, 0], [2, 5, 3, 2], [3, 14, 0, 0],
            ])
    }

    @Test("The last fifty of a thousand batches are shown")
    func bounded() {
        var log = BatchLog()
        var progress = ReplayProgress()
        for number in 1...1_000 {
            progress.batch = number
            log.note(progress)
        }
        #expect(log.batches.count == 50 && log.batches.last?.number == 1_000)
    }
}

@Suite("The console's view of the lease")
struct LeaseWatchTests {
    @Test("An unrenewed lease belongs to a dead job; an expired one to none")
    func watch() throws {
        var watch = LeaseWatch()
        let start = ContinuousClock.now
        #expect(watch.holder(at: start) == nil && watch.abandoned(at: start) == nil)
        var lease = try #require(LeaseSample.elsewhere())
        watch.note(lease, at: start)
        #expect(watch.holder(at: start)?.job == lease.job && watch.abandoned(at: start) == nil)
        #expect(watch.abandoned(at: start + .seconds(16))?.job == lease.job)
        lease.beat += 1
        watch.note(lease, at: start + .seconds(10))
        #expect(watch.holder(at: start + .seconds(16))?.job == lease.job)
        lease.isOver = true
        watch.note(lease, at: start + .seconds(20))
        #expect(watch.holder(at: start + .seconds(60)) == nil && watch.abandoned(at: start + .seconds(60)) == nil)
    }
}
