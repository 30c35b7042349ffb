import HeraldBytes
import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import HeraldTools

@Suite("What caps and quiet hours would have done")
struct PreferenceTrialTests {
    private static let utc = ZoneRules(offset: 0)
    /// A midnight in UTC.
    private static let midnight = WallTime(milliseconds: 1_796_083_200_000)

    private static func delivery(
        _ hour: Double, user: String = "ann", event: Int64, source: String? = "shop",
        _ eventClass: EventClass = .promotional, zone: ZoneRules? = nil
    ) -> PreferenceTrial.Delivery {
        PreferenceTrial.Delivery(
            user: user, source: source, eventClass: eventClass, zone: zone,
            origin: Origin(topic: "t", partition: 0, offset: event),
            at: midnight.advanced(by: .milliseconds(Int64(hour * 3_600_000))))
    }

    private static func counts(
        _ caps: [CapRule] = [], quiet: String? = nil, _ deliveries: [PreferenceTrial.Delivery]
    ) throws -> PreferenceTrial.Counts {
        let hours = try quiet.map { text throws(InvalidArgument) in try QuietHours(text: text) }
        var trial = PreferenceTrial(.init(caps: caps, quiet: hours, zone: utc))
        for delivery in deliveries { trial.add(delivery) }
        trial.finish()
        return trial.total
    }

    @Test("A cap slides, counts an event once, and lets other users and transactional events alone")
    func caps() throws {
        let cap = [CapRule(limit: 2, per: .hours(24))]
        #expect(
            try Self.counts(
                cap,
                [
                    Self.delivery(1, event: 1), Self.delivery(1, event: 1), Self.delivery(2, event: 2),
                    Self.delivery(3, event: 3), Self.delivery(3, event: 3), Self.delivery(3, user: "bob", event: 4),
                    Self.delivery(4, event: 5, .transactional),
                    // The first one is out of the window exactly a day later.
                    Self.delivery(25, event: 6), Self.delivery(25.5, event: 7),
                ]) == .init(delivered: 9, held: 0, capped: 3))
        let ofSource = [CapRule(source: "web", limit: 1, per: .hours(1))]
        #expect(
            try Self.counts(
                ofSource,
                [
                    Self.delivery(1, event: 1), Self.delivery(1, event: 2), Self.delivery(1, event: 3, source: "web"),
                    Self.delivery(1, event: 4, source: "web"),
                ]
            ).capped == 1)
    }

    @Test("Quiet hours hold what is promotional, in the event's zone, and a cap counts it when it leaves")
    func quiet() throws {
        #expect(
            try Self.counts(
                quiet: "22:00-07:00",
                [
                    Self.delivery(6.9, event: 1), Self.delivery(7, event: 2), Self.delivery(22, event: 3),
                    Self.delivery(23, event: 4, .transactional),
                    Self.delivery(23, event: 5, zone: ZoneRules(offset: 10 * 3_600)),
                ]) == .init(delivered: 5, held: 2, capped: 0))
        // Both leave at seven; one of them is enough for an hour.
        #expect(
            try Self.counts(
                [CapRule(limit: 1, per: .hours(1))], quiet: "22:00-07:00",
                [Self.delivery(1, event: 1), Self.delivery(4, event: 2), Self.delivery(7.5, event: 3)])
                == .init(delivered: 3, held: 2, capped: 2))
        // What waits takes nothing before it leaves: the one of seven o'clock goes, and that of half past is too much.
        #expect(
            try Self.counts(
                [CapRule(limit: 1, per: .hours(1))], quiet: "22:00-07:00",
                [
                    Self.delivery(1, event: 1, zone: ZoneRules(offset: -1_800)), Self.delivery(7, event: 2),
                    Self.delivery(8, event: 3),
                ]) == .init(delivered: 3, held: 1, capped: 1))
    }

    @Test("It counts by source, class and hour of the day, and who is concerned")
    func groups() {
        var trial = PreferenceTrial(.init(caps: [CapRule(limit: 1, per: .hours(24))], zone: ZoneRules(offset: 3_600)))
        trial.add(Self.delivery(22.5, event: 1))
        trial.add(Self.delivery(23.5, event: 2, source: nil))
        trial.add(Self.delivery(23.5, user: "bob", event: 3, .transactional))
        trial.add(Self.delivery(23.5, user: "eve", event: 4))
        #expect(trial.bySource["shop"] == .init(delivered: 3) && trial.bySource[""] == .init(delivered: 1, capped: 1))
        #expect(trial.byClass[.transactional] == .init(delivered: 1))
        #expect(trial.byHour[23].delivered == 1 && trial.byHour[0] == .init(delivered: 3, capped: 1))
        #expect(trial.users.promotional == 2 && trial.users.affected == 1)
    }

    @Test("With more users than it remembers it counts a part of them, which stands for all")
    func bound() {
        var trial = PreferenceTrial(.init(caps: [CapRule(limit: 1, per: .hours(1))], zone: Self.utc), mostUsers: 500)
        for event in 0..<2 {
            for user in 0..<4_000 { trial.add(Self.delivery(1, user: "u\(user)", event: Int64(user * 2 + event))) }
        }
        #expect(trial.sample >= 8)
        #expect(abs(trial.total.delivered - 8_000) < 1_600, "\(trial.total)")
        #expect(abs(trial.users.promotional - 4_000) < 800 && trial.users.affected == trial.users.promotional)
    }

    @Test("It agrees with a slow count of its own on any deliveries")
    func slowCount() {
        var generator = SplitMix64(seed: 7)
        for _ in 0..<50 {
            let caps = [
                CapRule(
                    limit: Int.random(in: 1...3, using: &generator),
                    per: .hours(Int64.random(in: 1...6, using: &generator))),
                CapRule(source: "web", limit: 1, per: .hours(2)),
            ]
            var deliveries: [PreferenceTrial.Delivery] = []
            var hour = 0.0
            for event in 0..<60 {
                hour += Double.random(in: 0...1, using: &generator)
                for _ in 0...(event % 2) {
                    deliveries.append(
                        Self.delivery(
                            hour, user: "u\(event % 3)", event: Int64(event), source: event % 4 == 0 ? "web" : "shop"))
                }
            }
            var trial = PreferenceTrial(.init(caps: caps, zone: Self.utc))
            for delivery in deliveries { trial.add(delivery) }
            // Events one by one, each against all that were let go before it.
            var kept: [PreferenceTrial.Delivery] = []
            var ended: Set<Int64> = []
            for delivery in deliveries where !kept.contains(where: { $0.origin == delivery.origin }) {
                let isOver = caps.contains { cap in
                    guard cap.source == nil || cap.source == delivery.source else { return false }
                    return kept.count {
                        $0.user == delivery.user && (cap.source == nil || $0.source == cap.source)
                            && delivery.at.time(since: $0.at) < cap.per
                    } >= cap.limit
                }
                if isOver { ended.insert(delivery.origin.offset) } else { kept.append(delivery) }
            }
            #expect(trial.total.capped == deliveries.count { ended.contains($0.origin.offset) })
        }
    }

    @Test("A cap is read as people write it, and a mistake is told")
    func texts() throws {
        #expect(try CapRule(option: "3/24h") == CapRule(limit: 3, per: .hours(24)))
        #expect(
            try CapRule(option: "1/5m,class=promotional,source=a=b")
                == CapRule(source: "a=b", limit: 1, per: .minutes(5)))
        for wrong in ["", "3", "0/24h", "3/0s", "x/24h", "3/24h,class=transactional", "3/24h,user=ann"] {
            #expect(throws: InvalidArgument.self) { try CapRule(option: wrong) }
        }
    }
}
