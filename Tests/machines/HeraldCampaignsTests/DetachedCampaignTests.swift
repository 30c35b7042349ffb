import Foundation
import HeraldBytes
import HeraldEvents
import HeraldTime
import HeraldTools
import Testing

@testable import HeraldCampaigns

@Suite("A detached campaign")
struct DetachedCampaignTests {
    private typealias Bench = CampaignBench

    private static func start(in seconds: Int64) -> CampaignStart {
        CampaignStart(at: WallTime(milliseconds: Samples.start).advanced(by: .seconds(seconds)), offset: 0)
    }

    /// A bench whose campaign was detached.
    private func detached(_ count: Int = 3, startsIn seconds: Int64 = 600) throws -> Bench {
        let bench = try Bench(count) {
            $0.start = .at(Self.start(in: seconds))
            $0.detaches = true
        }
        bench.order.stored = stored(bench, "first")
        try #require(bench.run(bench.start()) == .detached)
        return bench
    }

    private func stored(_ bench: Bench, _ id: String) -> StoredAudience {
        var mark = AudienceMark()
        for user in bench.audience { mark.add(bench.id(user)) }
        return StoredAudience(
            id: id, chunks: 1, bytes: 10, recipients: bench.audience.count, mark: mark.text, offsets: ["0": 0])
    }

    private func status(_ bench: Bench) throws -> CampaignStatus {
        CampaignStatus(campaign: try #require(bench.campaign), count: OutcomeCount(), now: bench.moment.wall)
    }

    /// A process that has found it.
    private func takeUp(_ bench: Bench) throws -> Bench.Publisher {
        let definition = try #require(bench.campaign?.definition)
        var order = CampaignOrder(text: bench.order.text, topic: definition.topic)
        order.stored = definition.audience
        bench.order = order
        return bench.start()
    }

    // MARK: Who publishes it

    @Test("Its start ends, it is scheduled without a publisher, and is taken up two minutes before its moment")
    func takenUp() throws {
        let bench = try detached()
        #expect(bench.published.isEmpty && bench.campaign?.definition?.audience?.id == "first")
        var status = try status(bench)
        #expect(status.state == .scheduled && status.isDetached && !status.isToBeTakenUp)
        #expect(status.reason?.contains("a console or herald campaign run publishes it then") == true)
        bench.now = MonotonicTime(nanoseconds: 480_000_000_000)
        #expect(try self.status(bench).isToBeTakenUp)
        let runner = try takeUp(bench)
        bench.pass(119_000, runner)
        status = try self.status(bench)
        #expect(bench.published.isEmpty && status.state == .scheduled && !status.isToBeTakenUp)
        bench.pass(2_000, runner)
        #expect(bench.published == bench.audience)
        #expect(bench.run(runner) == .complete)
        #expect(try !self.status(bench).isToBeTakenUp)
        #expect(bench.audits == ["started", "ended detached", "continued", "ended complete"])
    }

    @Test("That nobody has taken it up is said a while after its moment")
    func late() throws {
        let bench = try detached(startsIn: 10)
        bench.now = bench.now.advanced(by: .seconds(15))
        #expect(try status(bench).state == .scheduled)
        bench.now = bench.now.advanced(by: .seconds(20))
        let status = try status(bench)
        #expect(status.state == .stopped && status.isToBeTakenUp)
        #expect(status.reason?.contains("has taken it up: start one of them") == true)
    }

    @Test("A process that ends hands it over; one that somebody stops leaves it to nobody", arguments: [true, false])
    func stopped(handsOver: Bool) throws {
        let bench = try detached(startsIn: 60)
        let runner = try takeUp(bench)
        bench.pass(1_000, runner)
        bench.stop(runner, handsOver: handsOver)
        #expect(bench.run(runner) == (handsOver ? .detached : .interrupted))
        #expect(try status(bench).isToBeTakenUp == handsOver)
    }

    @Test("While it is paused nobody takes it up; resumed, somebody does")
    func paused() throws {
        let bench = try detached(startsIn: 60)
        bench.control(.paused)
        #expect(try !status(bench).isToBeTakenUp)
        bench.control(.running)
        #expect(try status(bench).isToBeTakenUp)
        bench.control(.cancelled)
        #expect(try !status(bench).isToBeTakenUp)
    }

    @Test("A publisher that is not heard of for 20 s is replaced, and nobody is published twice")
    func killed() throws {
        let bench = try detached(startsIn: 1)
        bench.commits = [.made, .held]
        let first = try takeUp(bench)
        bench.pass(2_000, first)
        #expect(try !status(bench).isToBeTakenUp)
        bench.now = bench.now.advanced(by: .seconds(21))
        #expect(try status(bench).isToBeTakenUp)
        #expect(bench.run(try takeUp(bench)) == .complete)
        #expect(bench.published == bench.audience)
    }

    @Test("Another start replaces its audience; a process that has read the former one publishes nobody")
    func replaced() throws {
        let bench = try detached(startsIn: 60)
        let former = try takeUp(bench)
        bench.audience = ["user7", "user8"]
        bench.order = try Bench(0) { $0.detaches = true }.order
        bench.order.replaces = bench.campaign?.definition
        bench.order.stored = stored(bench, "second")
        #expect(bench.run(bench.start()) == .detached)
        #expect(bench.campaign?.definition?.audience?.id == "second")
        #expect(bench.campaign?.definition?.start == Self.start(in: 60))
        guard case .failed? = bench.run(former) else {
            Issue.record("it ends: \(String(describing: former.machine.end))")
            return
        }
        #expect(bench.published.isEmpty)
        #expect(try status(bench).isToBeTakenUp)
        #expect(bench.run(try takeUp(bench)) == .complete)
        #expect(bench.published == ["user7", "user8"])
    }

    @Test("A start that does not detach takes it back, and no other process publishes it")
    func takenBack() throws {
        let bench = try detached(startsIn: 60)
        bench.order = try Bench(0).order
        bench.order.replaces = bench.campaign?.definition
        let publisher = bench.start()
        bench.pass(1_000, publisher)
        #expect(bench.campaign?.definition?.audience == nil && bench.waits(publisher) == .scheduled)
        #expect(try !status(bench).isDetached)
    }

    @Test("One that does not begin later, or has begun, is not detached")
    func refused() throws {
        let bench = try Bench(3) { $0.detaches = true }
        #expect(throws: ToolFailure.self) { try bench.order.checkDetached(nil, at: bench.moment.wall) }
        bench.order.start = .at(Self.start(in: 5))
        try bench.order.checkDetached(nil, at: bench.moment.wall)
        bench.order.detaches = false
        bench.delivers = false
        let publisher = bench.start()
        bench.pass(6_000, publisher)
        bench.order.detaches = true
        #expect(throws: ToolFailure.self) { try bench.order.checkDetached(bench.campaign, at: bench.moment.wall) }
    }

    // MARK: Its chunks

    private let twoChunks = StoredAudience(
        id: "a", chunks: 2, bytes: 6, recipients: 2, mark: "", offsets: [:])

    /// The records of ``twoChunks``.
    private var records: [(key: [UInt8], value: [UInt8])] {
        [(0, "ab\n"), (1, "cd\n")].map { number, text in
            let chunk = AudienceChunk(number, at: Int64(number * 3), lines: Array(text.utf8))
            return (Array(twoChunks.key(of: number, in: "spring").utf8), chunk.value)
        }
    }

    private func assembled(_ records: [(key: [UInt8], value: [UInt8])]) throws -> String {
        var assembly = AudienceAssembly(twoChunks, of: "spring", in: "notifications.audiences")
        var bytes = [UInt8](repeating: 0, count: 6)
        for record in records {
            guard let (lines, position) = try assembly.take(key: record.key, value: record.value) else { continue }
            bytes.replaceSubrange(position..<position + lines.count, with: lines)
        }
        try assembly.finish()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Its chunks come in any order, repeated, and beside those of others")
    func order() throws {
        let others = [(Array("spring/b/0".utf8), records[0].value), (Array("autumn/a/0".utf8), records[0].value)]
        #expect(try assembled(others + records.reversed() + records) == "ab\ncd\n")
    }

    @Test("A chunk that is missing, cut, or another one is said by its number, with what to do")
    func damaged() throws {
        func words(_ records: [(key: [UInt8], value: [UInt8])]) throws -> String {
            try #require(#expect(throws: ToolFailure.self) { try assembled(records) }).description
        }
        for (records, part) in [
            ([records[0]], "chunk 2 of 2 is missing"), ([], "2 chunks, the first 1 of 2 are missing"),
            (
                [records[0], (records[1].key, Array(records[1].value.dropLast()))],
                "chunk 2 of 2 is not as it was written"
            ),
            ([(records[0].key, records[1].value)], "chunk 1 of 2 is not as it was written"),
        ] {
            let words = try words(records)
            #expect(words.contains(part), "\(words)")
            #expect(words.contains("herald campaign start --name spring --audience FILE"), "\(words)")
        }
    }

    @Test("What is stored is read back as the same people with the same texts")
    func compiled() throws {
        let file = try AudienceFile(
            "E-Mail;first_name;rest\n\"ann\";\"Ann \"\"A\"\"\";x\n bob ;;y\nbob;again;\n;nobody;\ncid;Jörg\t\\;z\n")
        defer { file.remove() }
        let text = try AudienceFile.text("Hi {{first_name|friend}} of {{E-Mail}}")
        func events(_ audience: Audience) throws -> (events: [String], lines: [UInt8]) {
            let reader = try RecipientReader(audience, text, expiresAt: nil)
            var (events, lines): ([String], [UInt8]) = ([], [])
            while true {
                switch try reader.next() {
                case .end: return (events, lines)
                case .invalid: continue
                case .recipient:
                    events.append(String(decoding: reader.event, as: UTF8.self))
                    reader.appendLine(to: &lines)
                }
            }
        }
        let (written, lines) = try events(try file.open(AudienceForm(userColumn: "E-Mail")))
        #expect(written.count == 4 && !String(decoding: lines, as: UTF8.self).contains("rest"))
        let copy = try AudienceFile(lines, name: "spring.jsonl")
        defer { copy.remove() }
        #expect(try events(try copy.open(AudienceForm(format: .jsonl, userColumn: "E-Mail"))).events == written)
    }

    @Test("Chunks of a campaign that is over are deleted, and a start's that came to nothing after a day")
    func useless() throws {
        let bench = try detached(startsIn: 60)
        func isUseless(_ key: String, after hours: Int64 = 0) -> Bool {
            let now = bench.moment.wall
            return StoredAudienceRule.isUseless(
                key: Array(key.utf8), writtenAt: now.advanced(by: .hours(-hours)), in: bench.index, at: now)
        }
        #expect(!isUseless("spring/first/0", after: 100) && !isUseless("spring/other/0") && !isUseless("autumn/x/0"))
        #expect(isUseless("spring/other/0", after: 25) && isUseless("autumn/x/0", after: 25))
        #expect(!isUseless("something else", after: 25))
        bench.write("autumn/definition", Array("{".utf8))
        #expect(!isUseless("autumn/x/0", after: 25))
        bench.run(try takeUp(bench))
        #expect(isUseless("spring/first/0"))
    }
}
