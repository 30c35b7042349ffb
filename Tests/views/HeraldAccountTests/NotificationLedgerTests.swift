import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTime
import Testing

@testable import HeraldAccount

@Suite("The ledger of notifications")
struct NotificationLedgerTests {
    private static let now = WallTime(milliseconds: 1_800_000_000_000)

    private func origin(_ offset: Int64, partition: Int32 = 0) -> Origin {
        Origin(topic: "notifications", partition: partition, offset: offset)
    }

    private func result(
        _ offset: Int64, _ service: String?, _ outcome: Outcome = .delivered, replays: Int = 0
    ) throws -> NotificationResult {
        var result = try NotificationResult(
            decoding: Array(
                """
                {"outcome":"\(outcome.rawValue)","completedAt":"2026-11-28T22:00:00Z",\
                "origin":{"topic":"notifications","partition":0,"offset":\(offset)}}
                """.utf8))
        (result.pushService, result.replays) = (service, replays)
        return result
    }

    /// A ledger of apns (0) and gcm (1).
    private func ledger(committed: Int64? = 100) -> NotificationLedger {
        var ledger = NotificationLedger(services: ["apns", "gcm"])
        ledger.open(topic: "notifications", partition: 0, committed: committed)
        return ledger
    }

    private func account(_ ledger: NotificationLedger) -> Account {
        Account(ledger, since: nil, until: Self.now, naming: 10)
    }

    @Test("Each push service of an event is a notification, and its result settles it alone")
    func settled() throws {
        var ledger = ledger()
        ledger.addEvent(at: origin(7), services: [0, 1], source: "shop")
        try ledger.add(result(7, "apns"))
        let sums = account(ledger)
        #expect(sums.total.events == 1 && sums.total.notifications == 2)
        #expect(sums.total.settled == [.delivered: 1] && sums.total.missing == 1)
        #expect(sums.missing == [.init(record: origin(7), pushService: "gcm", source: "shop")])
        #expect(sums.topics["notifications"] == sums.total && sums.sources["shop"] == sums.total)
        #expect(sums.pushServices["apns"]?.settled == [.delivered: 1])
        #expect(sums.pushServices["gcm"]?.missing == 1 && !sums.isBalanced)
    }

    @Test("An event without a result is open while the group has not passed it", arguments: [nil, 0, 7, 8] as [Int64?])
    func untaken(committed: Int64?) {
        var ledger = ledger(committed: committed)
        ledger.addEvent(at: origin(7), services: [0], source: nil)
        let sums = account(ledger)
        let isPassed = committed == 8
        #expect(sums.total.open == (isPassed ? 0 : 1) && sums.total.missing == (isPassed ? 1 : 0))
        #expect(sums.untaken == sums.total.open && sums.isBalanced == !isPassed)
    }

    @Test("An event in a retry topic is open for the push services that it waits for, until its result comes")
    func delayed() throws {
        var ledger = ledger()
        ledger.addEvent(at: origin(7), services: [0, 1], source: nil)
        ledger.addWaiting(of: origin(7), replays: 0, services: [0], inDelay: 0)
        ledger.addWaiting(of: origin(7), replays: 0, services: [0], inDelay: 2)
        ledger.addWaiting(of: origin(8), replays: 0, services: [0], inDelay: 2)
        try ledger.add(result(7, "gcm", .deadLettered))
        #expect(account(ledger).delayed == [2: 1] && account(ledger).total.settled == [.deadLettered: 1])
        try ledger.add(result(7, "apns"))
        #expect(account(ledger).delayed.isEmpty && account(ledger).isBalanced)
    }

    @Test("A second result of a notification is counted")
    func repeated() throws {
        var ledger = ledger()
        ledger.addEvent(at: origin(7), services: [0], source: nil)
        for outcome in [Outcome.deadLettered, .delivered] { try ledger.add(result(7, "apns", outcome)) }
        let sums = account(ledger)
        #expect(sums.total.repeated == 1 && sums.total.settled == [.delivered: 1] && !sums.isBalanced)
        #expect(sums.repeated == [.init(record: origin(7), pushService: "apns", source: nil)])
        #expect(sums.sentences.first?.contains("notified again: \(origin(7)) (apns). ") == true, "\(sums.sentences)")
    }

    @Test("A replay is an event of its own, counted apart, which its own results settle")
    func replays() throws {
        var ledger = ledger()
        ledger.addEvent(at: origin(7), services: [0, 1], source: "shop")
        for (offset, services) in [(20, [0]), (21, [1])] as [(Int64, PushServiceSet)] {
            ledger.addEvent(at: origin(offset), services: services, source: "shop", replay: (origin(7), 1))
        }
        for service in ["apns", "gcm"] { try ledger.add(result(7, service, .deadLettered)) }
        try ledger.add(result(7, "gcm", replays: 1))
        let sums = account(ledger)
        #expect(sums.total.events == 1 && sums.total.settled == [.deadLettered: 2])
        #expect(sums.replays.events == 2 && sums.replays.settled == [.delivered: 1])
        #expect(sums.missing == [.init(record: origin(20), pushService: "apns", source: "shop")])
        // That of a replay before the span is of no event in it.
        try ledger.add(result(7, "apns", replays: 2))
        #expect(account(ledger).replays == sums.replays)
    }

    @Test("One result without a push service settles an event that does not decode")
    func undecoded() throws {
        var ledger = ledger()
        ledger.addEvent(at: origin(7), services: [], source: nil)
        ledger.addEvent(at: origin(8), services: [0, 1], source: nil)
        #expect(account(ledger).total.missing == 3 && account(ledger).pushServices[nil]?.missing == 1)
        try ledger.add(result(7, nil, .deadLettered))
        // To workers with other settings the second one did not decode either.
        try ledger.add(result(8, nil, .deadLettered))
        #expect(account(ledger).isBalanced && account(ledger).total.settled == [.deadLettered: 3])
    }

    @Test("Lost requests are in no number; a lost retry's notifications are missing ones")
    func lost() {
        var sums = account(ledger())
        sums.lost = LostRecords([.init(partition: TopicPartition(topic: "notifications", partition: 0), count: 3)])
        (sums.skipped, sums.lostRetries) = (628, 295)
        let text = sums.sentences.joined(separator: " ")
        #expect(text.contains("628 records were deleted before they were read, and skipped"), "\(text)")
        #expect(text.contains("336 of the lost records were requests: what they asked for is not in these numbers."))
        #expect(text.contains("295 of the lost records were retries: their notifications are among the missing"))
        sums.lostRetries = 631
        #expect(!sums.sentences.joined().contains("were requests") && !sums.isBalanced)
    }

    @Test("As many of the missing are acknowledged as retries were skipped after they were published")
    func acknowledged() {
        var ledger = ledger()
        ledger.addEvent(at: origin(3), services: [0, 1], source: nil)
        ledger.addEvent(at: origin(4), services: [0], source: nil)
        ledger.addEvent(at: origin(5), services: [0], source: nil)
        func account(retries: Int, end: Int64) -> Account {
            Account(
                ledger, since: nil, until: WallTime(milliseconds: 0), naming: 10,
                acknowledgement: .init(
                    retries: retries, by: "ann@host", at: WallTime(milliseconds: 0),
                    ends: [TopicPartition(topic: "notifications", partition: 0): end]))
        }
        let all = account(retries: 3, end: 6)
        #expect(all.missingCount == 4 && all.acknowledged == 4 && !all.hasLoss && !all.isBalanced)
        let text = all.sentences.joined(separator: " ")
        #expect(
            text.contains("Acknowledged: all of the missing, as they were published before ann@host skipped 3 lost"))
        let fewer = account(retries: 1, end: 6)
        #expect(fewer.acknowledged == 2 && fewer.hasLoss)
        let earlier = account(retries: 3, end: 5)
        #expect(earlier.acknowledged == 3 && earlier.hasLoss)
        var more = all
        more.lost = LostRecords([.init(partition: TopicPartition(topic: "notifications", partition: 0), count: 1)])
        #expect(more.hasLoss)
    }

    @Test("What a worker may have read before it was deleted is no loss yet")
    func undecided() {
        var ledger = ledger()
        for offset in [3, 4] as [Int64] { ledger.addEvent(at: origin(offset), services: [0], source: nil) }
        var sums = account(ledger)
        sums.lost = LostRecords([
            .init(partition: TopicPartition(topic: "notifications.retry.1s", partition: 0), count: 5)
        ])
        sums.lost.isBound = true
        sums.lostRetries = 5
        #expect(sums.hasLoss)
        sums.doubtful = 5
        #expect(!sums.hasLoss && !sums.isBalanced)
        let text = sums.sentences.joined(separator: " ")
        #expect(text.contains("Up to 5 records of notifications.retry.1s/0 were deleted"), "\(text)")
        #expect(text.contains("Not decided yet: up to 5 of these a worker may have read"), "\(text)")
        sums.doubtful = 4
        #expect(sums.hasLoss)
    }

    @Test("Results of other events change nothing, wherever they lie")
    func others() throws {
        var ledger = ledger()
        ledger.addEvent(at: origin(7), services: [0], source: nil)
        for offset in [0, 6, 8, 1_000_000_000_000] as [Int64] { try ledger.add(result(offset, "apns")) }
        try ledger.add(result(7, "gcm"))
        #expect(account(ledger).total.missing == 1 && account(ledger).total.settled.isEmpty)
    }

    @Test("What has no result is unknown, not missing, where results were deleted or cannot be read")
    func forgotten() {
        var ledger = ledger()
        for offset in [7, 8, 200] as [Int64] { ledger.addEvent(at: origin(offset), services: [0], source: nil) }
        ledger.forgetResults(before: [TopicPartition(topic: "notifications", partition: 0): 8])
        #expect(account(ledger).total.unknown == 1 && account(ledger).total.missing == 1)
        ledger.forgetResults(before: nil)
        #expect(account(ledger).total.unknown == 2 && account(ledger).total.open == 1)
    }

    @Test("Places come back in order, over gaps in the offsets and several partitions")
    func order() {
        var ledger = ledger(committed: .max)
        ledger.open(topic: "notifications", partition: 1, committed: .max)
        let places = [
            origin(4_095), origin(4_096), origin(9_000_000_000), origin(3, partition: 1),
        ]
        for place in places.reversed() { ledger.addEvent(at: place, services: [1], source: nil) }
        #expect(account(ledger).missing.map(\.record) == places)
    }

    @Test("Of more sources than it can tell apart, the others count as none")
    func manySources() {
        var ledger = ledger()
        for number in 0..<40_000 {
            ledger.addEvent(at: origin(Int64(number)), services: [0], source: "source-\(number)")
        }
        let sums = account(ledger)
        #expect(sums.sources.count == 0x7FFF && sums.sources["source-0"]?.events == 1)
        #expect(sums.sources.values.reduce(0) { $0 + $1.events } == 40_000)
    }
}
